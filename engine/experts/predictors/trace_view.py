"""A recorded run as predictors see it, and how it is walked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.experts.predictors.predictor import Floats, Predictor, RoutingContext, RoutingShape

NONE = -1  # in the place of an expert, where a row chooses fewer than another


def same_width(rows: Sequence[NDArray[np.integer]]) -> NDArray[np.integer]:
    """[rows, ..., K] from arrays [..., K_row]: those with fewer columns than the widest are filled up with NONE."""
    widest = max(row.shape[-1] for row in rows)
    return np.stack([_wide(row, widest) for row in rows])


def _wide(row: NDArray[np.integer], width: int) -> NDArray[np.integer]:
    padding = [(0, 0)] * (row.ndim - 1) + [(0, width - row.shape[-1])]
    return row if row.shape[-1] == width else np.pad(row, padding, constant_values=NONE)


@dataclass(frozen=True, eq=False)
class TraceView:
    """What the routers of a run chose and what they saw.

    tokens: [N] ids. starts: where sequences begin. ids: [rows, N, K], best first; rows that choose fewer than K end in
    NONE. gating: [rows, N, H] of any float type, see RoutingContext; None where it was not recorded. experts: of the
    row that has most.
    """

    tokens: NDArray[np.integer]
    starts: frozenset[int]
    ids: NDArray[np.integer]
    experts: int
    gating: NDArray[np.floating] | None = None

    @property
    def shape(self) -> RoutingShape:
        """Of the model that ran."""
        return RoutingShape(self.ids.shape[0], self.experts, self.ids.shape[2])

    def part(self, first: int, end: int) -> TraceView:
        """Some of the tokens, in order. A sequence that is cut begins anew."""
        kept = {start - first for start in self.starts if first <= start < end}
        return TraceView(
            self.tokens[first:end],
            frozenset(kept | {0}),
            self.ids[:, first:end],
            self.experts,
            None if self.gating is None else self.gating[:, first:end],
        )


def walk(run: TraceView, predictors: Sequence[Predictor], learn: bool = True) -> Iterator[RoutingContext]:
    """Every moment at which a prediction can be made, in order: before the first row, and when a row has been routed.

    learn: tell the predictors what was chosen, before each moment is shown.
    """
    context = RoutingContext()
    rows = run.ids.shape[0]
    for at in range(run.ids.shape[1]):
        if at in run.starts:
            for predictor in predictors:
                predictor.begin_sequence()
        context.begin(int(run.tokens[at]))
        yield context
        chosen = [[expert for expert in row if expert != NONE] for row in run.ids[:, at].tolist()]
        for row in range(rows):
            context.routed(chosen[row], _vector(run.gating, row, at))
            if learn:
                for predictor in predictors:
                    predictor.learn(context)
            yield context


def _vector(recorded: NDArray[np.floating] | None, row: int, at: int) -> Floats | None:
    return None if recorded is None else np.ascontiguousarray(recorded[row, at], dtype=np.float32)
