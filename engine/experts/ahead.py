"""Whoever reads experts ahead of the router, as the runtime sees him."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engine.experts.predictors.predictor import Floats


class Ahead(Protocol):
    """awake: whether it wants to be told of layers."""

    awake: bool

    def begin(self, tokens: Sequence[int], position: int, misses: int) -> None:
        """These tokens are about to run, the first at `position`. misses: experts that were missing so far."""

    def routed(self, layer: int, chosen: Sequence[int], gating: Floats) -> None:
        """One token's experts, best first, and what they are given [H]; what is missing has been asked for already."""

    def sleep(self) -> None:
        """Nothing read ahead may be under way any longer than what readers have in hand."""
