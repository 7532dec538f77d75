"""How an expert is named, and where its bytes come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from engine.store.layout import ExpertSpec


class ExpertKey(NamedTuple):
    """One expert of a model. layer: the model's own layer index."""

    layer: int
    expert: int


class ExpertSource(Protocol):
    """What the runtime needs of a store; engine.store's reader is one. Every method may be called from many threads."""

    @property
    def layers(self) -> tuple[int, ...]:
        """The MoE layers, ascending."""

    def experts(self, layer: int) -> int:
        """How many experts a layer has."""

    def spec(self, layer: int, expert: int = 0) -> ExpertSpec:
        """Shape, encoding and layout of an expert."""

    def read_planes(self, layer: int, expert: int, first_plane: int, buffers: Sequence[memoryview]) -> None:
        """Fill the buffers with consecutive planes, verified; raises UnderhillError."""


def keys_of(source: ExpertSource) -> list[ExpertKey]:
    """Every expert of a source, in the order of the disk."""
    return [ExpertKey(layer, expert) for layer in source.layers for expert in range(source.experts(layer))]


def largest_expert(source: ExpertSource) -> int:
    """Bytes of the largest expert at its finest: the least that a cache can be given."""
    return max(source.spec(key.layer, key.expert).layout.nbytes for key in keys_of(source))
