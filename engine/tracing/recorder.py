"""Record which experts every token chose while a chat goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.tracing.trace import NO_EXPERT, UNKNOWN, Trace, TraceConditions
from engine.translatable import msg

Choice = tuple[NDArray[np.uint16], NDArray[np.float16]]


class Recorder:
    """Listens to the expert runtime: the beginning of every pass, then one visit of every MoE layer.

    A pass that broke off in the middle (a failed read) is left out. A pass of which no beginning was told counts as the
    next tokens, whatever they are, of the sequence that goes on.
    """

    def __init__(
        self,
        layers: tuple[int, ...],
        experts: int,
        conditions: TraceConditions | None = None,
        most: int | None = None,
    ) -> None:
        """most: passes after which nothing more is recorded; each takes some 350 bytes a layer."""
        self._most = most
        self._layers = layers
        self._experts = experts
        self._conditions = conditions or TraceConditions()
        self._pass: list[Choice] = []
        self._begun: tuple[list[int], int] | None = None
        self._next = 0
        self._done: list[list[Choice]] = []
        self._tokens: list[list[int]] = []
        self._positions: list[int] = []
        self._new = True  # whether a sequence has begun since the last whole pass
        self._begins: list[bool] = []

    @property
    def passes(self) -> int:
        """Whole passes so far."""
        return len(self._done)

    @property
    def tokens(self) -> int:
        """Tokens of whole passes so far."""
        return sum(map(len, self._tokens))

    @property
    def full(self) -> bool:
        """Whether nothing more is recorded."""
        return self._most is not None and self.passes >= self._most

    def keep(self, passes: int) -> None:
        """Forget all but the first so many passes: of a text that broke off."""
        self._new |= any(self._begins[passes:])
        for own in (self._done, self._tokens, self._positions, self._begins):
            del own[passes:]
        self._pass, self._begun = [], None

    def begin_pass(self, token_ids: Sequence[int], position: int, begins: bool = False) -> None:
        """These tokens are about to go through the layers, the first of them at `position` of its sequence. begins:
        whether that sequence begins with them.
        """
        self._pass = []
        self._new |= begins
        self._begun = (list(token_ids), position)

    def __call__(self, layer: int, ids: Tensor, weights: Tensor) -> None:
        """Note a layer's choice. ids: [T, K] int64. weights: [T, K] float32."""
        if self.full:
            return
        if layer == self._layers[0]:
            self._pass = []
        if len(self._pass) >= len(self._layers) or layer != self._layers[len(self._pass)]:
            self._pass = []
            return
        self._pass.append((ids.numpy().astype(np.uint16), weights.numpy().astype(np.float16)))
        if len(self._pass) == len(self._layers):
            self._end_pass(len(self._pass[0][0]))

    def _end_pass(self, count: int) -> None:
        tokens, position = self._begun or ([], self._next)
        self._done.append(self._pass)
        self._tokens.append(tokens if len(tokens) == count else [UNKNOWN] * count)
        self._positions.append(position)
        self._begins.append(self._new)
        self._new = False
        self._next = position + count
        self._pass, self._begun = [], None

    def trace(self) -> Trace:
        """What was recorded so far. Raises UnderhillError(BAD_REQUEST) when nothing was."""
        if not self._done:
            raise UnderhillError(
                Kind.BAD_REQUEST, msg("Nothing was recorded."), msg("Record a chat with at least one answer.")
            )
        rows = range(len(self._layers))
        return Trace(
            layers=self._layers,
            experts=self._experts,
            ids=_same_width([np.concatenate([p[row][0] for p in self._done]) for row in rows], NO_EXPERT),
            weights=_same_width([np.concatenate([p[row][1] for p in self._done]) for row in rows], 0),
            passes=np.array([len(p[0][0]) for p in self._done], np.int32),
            token_ids=np.concatenate([np.array(tokens, np.int32) for tokens in self._tokens]),
            positions=np.array(self._positions, np.int32),
            begins=np.array(self._begins, np.bool_),
            conditions=self._conditions,
        )


def _same_width(rows: list[NDArray[Any]], filler: int) -> NDArray[Any]:
    """[rows, T, K] from [T, K of the row]; what a row has less is the filler."""
    k = max(row.shape[1] for row in rows)
    return np.stack([np.pad(row, ((0, 0), (0, k - row.shape[1])), constant_values=filler) for row in rows])
