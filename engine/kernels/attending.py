"""Attention of many tokens as another device is asked for it (NativeKernel.attends)."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from torch import Tensor


class KeptRows(Protocol):
    """What a layer keeps of a sequence (engine.models.layers.state.RowsState). number, unchanged: see there."""

    number: int
    unchanged: int

    @property
    def length(self) -> int:
        """Tokens whose rows are there."""
        ...

    def views(self, start: int = 0, stop: int | None = None) -> list[tuple[Tensor, ...]]:
        """Rows of these tokens, piece by piece: one view [heads, n_i, width] for each buffer."""
        ...


class Attending(NamedTuple):
    """The last T tokens of `rows`, each over all from `first` up to itself, or the last `window` of those (0: all).

    q: [T, heads, dim] float32, its heads lying together. sinks: [heads] float32. out: [T, heads * dim] float32,
    contiguous, to be written.
    """

    q: Tensor
    rows: KeptRows
    first: int
    window: int
    sinks: Tensor | None
    scale: float
    out: Tensor
