"""A trace as a cache sees it: visit by visit, which experts are wanted, at which precision, of how many bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.errors import Kind, UnderhillError
from engine.experts.precision import Thresholds, requested_precisions, tiers_of
from engine.record.layout import ExpertSpec
from engine.tracing.trace import NO_EXPERT, Trace
from engine.translatable import msg

LOOK = 1024  # visits between questions whether to stop: some milliseconds
UNKNOWN_SPEC = ExpertSpec(2048, 1024, 4)  # of traces that do not say: some expert of 4 bits; only ratios matter


@dataclass(frozen=True, kw_only=True)
class TraceVisit:
    """One layer's turn in one pass. experts: distinct, the most important first (many tokens: ascending).

    demands: a RequestedPrecision for each, of several tokens the highest. counts: tokens that chose each. begins:
    whether this is the first visit of a sequence.
    """

    row: int
    layer: int
    experts: list[int]
    demands: list[int]
    counts: list[int]
    tokens: int
    begins: bool


def visits_of(trace: Trace, thresholds: Thresholds, cancelled: Callable[[], bool] = lambda: False) -> list[TraceVisit]:
    """Every visit of a layer, in the order it happened. Raises UnderhillError(CANCELLED), asked now and then."""
    found: list[TraceVisit] = []
    for visit in _visits(trace, requested_precisions(trace.weights, thresholds)):
        if len(found) % LOOK == 0 and cancelled():
            raise UnderhillError(Kind.CANCELLED, msg("Stopped."))
        found.append(visit)
    return found


def _visits(trace: Trace, demands: NDArray[np.int64]) -> Iterator[TraceVisit]:
    at = 0
    for count, begun in zip(trace.passes.tolist(), trace.begins.tolist(), strict=True):
        for row, layer in enumerate(trace.layers):
            ids, wanted = trace.ids[row, at : at + count], demands[row, at : at + count]
            begins = row == 0 and begun
            if count == 1:
                there = ids[0] != NO_EXPERT
                experts = ids[0][there].tolist()
                yield TraceVisit(
                    row=row,
                    layer=layer,
                    experts=experts,
                    demands=wanted[0][there].tolist(),
                    counts=[1] * len(experts),
                    tokens=1,
                    begins=begins,
                )
                continue
            there = ids != NO_EXPERT
            flat = ids[there].astype(np.int64)
            strongest = np.full(trace.experts, -1)
            np.maximum.at(strongest, flat, wanted[there])
            met = np.flatnonzero(strongest >= 0)
            counts = np.bincount(flat, minlength=trace.experts)[met]
            yield TraceVisit(
                row=row,
                layer=layer,
                experts=met.tolist(),
                demands=strongest[met].tolist(),
                counts=counts.tolist(),
                tokens=count,
                begins=begins,
            )
        at += count


@dataclass(frozen=True)
class Sizes:
    """Bytes of one expert. coarse, full: read and kept at either. rest: read to raise a coarse one to full."""

    coarse: int
    full: int
    rest: int


def sizes_of(spec: ExpertSpec | None, tier: int | None, low: int | None = None) -> Sizes:
    """Of an expert of this shape. tier: bits of full precision (None: the finest stored); low: of a coarse one (None:
    the coarsest stored).
    """
    spec = spec or UNKNOWN_SPEC
    _, coarse, full = tiers_of(spec, tier, low)
    layout = spec.layout
    return Sizes(layout.bytes_for(coarse), layout.bytes_for(full), layout.bytes_for(full, layout.parts_for(coarse)))
