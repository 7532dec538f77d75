"""A trace as a cache sees it: visit by visit, which experts are wanted, and at which precision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.errors import Kind, UnderhillError
from engine.experts.precision import Demand, Thresholds
from engine.tracing.trace import NOBODY, Trace
from engine.translatable import msg

LOOK = 1024  # visits between questions whether to stop: some milliseconds


@dataclass(frozen=True)
class Visit:
    """One layer's turn in one pass. experts: distinct, the most important first (many tokens: ascending).

    demands: a Demand for each, of several tokens the strongest. counts: tokens that chose each. begins: whether this is
    the first visit of a sequence.
    """

    row: int
    layer: int
    experts: list[int]
    demands: list[int]
    counts: list[int]
    tokens: int
    begins: bool


def scores_of(weights: NDArray[np.floating]) -> NDArray[np.float64]:
    """Unimportance [..., k] of gate weights [..., k]: engine.experts.precision.unimportance, without torch."""
    size = np.abs(weights.astype(np.float64))
    order = np.argsort(-size, axis=-1, kind="stable")
    ranked = np.take_along_axis(size, order, -1)
    total = np.maximum(ranked.sum(-1, keepdims=True), np.finfo(np.float64).tiny)
    scores: NDArray[np.float64] = np.empty_like(size)
    np.put_along_axis(scores, order, np.minimum((ranked.cumsum(-1) - ranked) / total, 1.0), -1)
    return scores


def demands_of(weights: NDArray[np.floating], thresholds: Thresholds) -> NDArray[np.int64]:
    """[..., k] of Demand, for gate weights [..., k]."""
    scores = scores_of(weights)
    found = np.full(scores.shape, int(Demand.HIGH))
    found[scores > thresholds.t1] = int(Demand.LOW)
    found[scores > thresholds.t2] = int(Demand.SKIP)
    return found


def visits_of(trace: Trace, thresholds: Thresholds, cancelled: Callable[[], bool] = lambda: False) -> list[Visit]:
    """Every visit of a layer, in the order it happened. Raises UnderhillError(CANCELLED), asked now and then."""
    found: list[Visit] = []
    for visit in _visits(trace, demands_of(trace.weights, thresholds)):
        if len(found) % LOOK == 0 and cancelled():
            raise UnderhillError(Kind.CANCELLED, msg("Stopped."))
        found.append(visit)
    return found


def _visits(trace: Trace, demands: NDArray[np.int64]) -> Iterator[Visit]:
    at = 0
    for count, begun in zip(trace.passes.tolist(), trace.begins.tolist(), strict=True):
        for row, layer in enumerate(trace.layers):
            ids, wanted = trace.ids[row, at : at + count], demands[row, at : at + count]
            begins = row == 0 and begun
            if count == 1:
                there = ids[0] != NOBODY
                experts = ids[0][there].tolist()
                yield Visit(row, layer, experts, wanted[0][there].tolist(), [1] * len(experts), 1, begins)
                continue
            there = ids != NOBODY
            flat = ids[there].astype(np.int64)
            strongest = np.full(trace.experts, -1)
            np.maximum.at(strongest, flat, wanted[there])
            met = np.flatnonzero(strongest >= 0)
            counts = np.bincount(flat, minlength=trace.experts)[met]
            yield Visit(row, layer, met.tolist(), strongest[met].tolist(), counts.tolist(), count, begins)
        at += count
