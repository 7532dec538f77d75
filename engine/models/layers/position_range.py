"""The tokens of one forward pass: their positions, and what all layers share because it depends on positions alone."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from engine.models.layers.rope import RopeTable, rope_table, rope_table_of
from engine.models.spec import RopeSpec, TemperatureSpec


class PositionRange:
    """Positions start to stop of a sequence.

    horizon: length that the sequence is known to reach (a prompt fed in chunks), at least `stop`; rotary variants that
    depend on the length of the sequence use it, so that feeding in chunks changes nothing.
    """

    def __init__(self, start: int, stop: int, horizon: int = 0) -> None:
        self.start, self.stop = start, stop
        self.horizon = max(horizon, stop)
        self._tables: dict[RopeSpec, RopeTable] = {}
        self._by_id: dict[int, tuple[RopeSpec, RopeTable]] = {}  # hashing a spec takes longer than rotating a token
        self.seen: Tensor | None = None  # what the last indexer chose: see Indexer.seen
        self.tokens: Tensor | None = None  # their ids [T]
        self.shortcut: Tensor | None = None  # the answer of experts that is added further on: see LayerSpec
        self.pictures: tuple[tuple[int, int], ...] = ()  # first position and the one behind the last, of each
        self.turned: Tensor | None = None  # what tokens are turned by [3, T], where a picture is or was before them
        self._masks: dict[tuple[int, torch.dtype], Tensor] = {}

    @property
    def length(self) -> int:
        """Tokens in this span."""
        return self.stop - self.start

    def rope(self, spec: RopeSpec) -> RopeTable:
        """Cosines and sines of these positions, computed once for all layers of the same kind."""
        known = self._by_id.get(id(spec))
        if known is not None:
            return known[1]
        table = self._tables.get(spec)
        if table is None:
            if self.turned is None:
                table = rope_table(spec, self.start, self.stop, self.horizon)
            else:
                table = rope_table_of(spec, self.turned, self.horizon)
            self._tables[spec] = table
        self._by_id[id(spec)] = (spec, table)  # keeps the spec, so that its id is not given to another
        return table

    def temperature(self, spec: TemperatureSpec | None) -> Tensor | None:
        """Factors [T, 1, 1] of the queries; None where all are 1."""
        if spec is None or (self.stop - 1 + spec.offset) < spec.every:
            return None
        steps = torch.arange(self.start + spec.offset, self.stop + spec.offset).div(spec.every, rounding_mode="floor")
        return (1 + spec.beta * steps.float().log1p())[:, None, None]

    def chunks(self, size: int | None) -> list[PositionRange]:
        """This span cut where chunks of `size` positions begin; None leaves it whole."""
        if size is None:
            return [self]
        bounds = [self.start, *range(self.start // size * size + size, self.stop, size), self.stop]
        return [PositionRange(start, stop, self.horizon) for start, stop in itertools.pairwise(bounds)]

    def visible_from(self, window: int | None) -> int:
        """The first position that any token of this span sees."""
        return 0 if window is None else max(0, self.start - window + 1)

    def window_mask(self, window: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Additive mask [T, stop - visible_from(window)]: 0 where seen, -inf where not.

        Within a picture tokens see those behind them, too.
        """
        mask = self._masks.get((window, dtype))
        if mask is None:
            queries = torch.arange(self.start, self.stop)[:, None]
            keys = torch.arange(self.visible_from(window), self.stop)[None, :]
            seen = keys <= queries
            for start, stop in self.pictures:
                seen |= (queries >= start) & (queries < stop) & (keys >= start) & (keys < stop)
            seen &= keys > queries - window
            mask = torch.zeros(seen.shape, dtype=dtype).masked_fill_(~seen, float("-inf"))
            self._masks[window, dtype] = mask
        return mask
