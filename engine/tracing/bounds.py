"""What no policy can beat: Belady's bound where all experts weigh the same, and the least bytes where they do not."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

import numpy as np

from engine.experts.policies import ExpertGrid
from engine.experts.policies import LayerVisit as Visit
from engine.experts.policies.scored import Array, ScoredPolicy
from engine.experts.precision import RequestedPrecision
from engine.tracing.visits import Sizes, TraceVisit

NEVER = 1 << 40  # beyond the visits of any trace, and exact in float64


def belady_misses(visits: Sequence[TraceVisit], slots: int) -> int:
    """Misses of a cache of `slots` equal experts that after every visit keeps those needed again first (Belady 1966).

    Nobody can miss less: an expert that was just read need not be kept, and the order within a visit does not matter.
    """
    coming = next_uses(visits, lambda demand: True)
    resident: dict[tuple[int, int], int] = {}  # and when it is used next
    farthest: list[tuple[int, tuple[int, int]]] = []  # old entries stay until they come up
    misses = 0
    for at, visit in enumerate(visits):
        for expert, then in zip(visit.experts, coming[at], strict=True):
            key = (visit.row, expert)
            misses += key not in resident
            resident[key] = then
            heapq.heappush(farthest, (-then, key))
        while len(resident) > slots:
            then, key = heapq.heappop(farthest)
            if resident.get(key) == -then:
                del resident[key]
    return misses


def next_uses(visits: Sequence[TraceVisit], counts: Callable[[int], bool]) -> list[list[int]]:
    """For every visit and expert in it, the next that asks for the expert with a precision that `counts`, or NEVER."""
    last: dict[tuple[int, int], int] = {}
    found: list[list[int]] = [[] for _ in visits]
    for at in range(len(visits) - 1, -1, -1):
        visit = visits[at]
        found[at] = [last.get((visit.row, expert), NEVER) for expert in visit.experts]
        for expert, demand in zip(visit.experts, visit.demands, strict=True):
            if counts(demand):
                last[visit.row, expert] = at
    return found


def least_bytes(visits: Sequence[TraceVisit], sizes: Sizes, capacity: int) -> float:
    """Bytes that any cache of `capacity` bytes must read, whatever it knows; seldom reachable.

    Every expert is taken as two things that come and go on their own: what a coarse one reads of a full one, needed by
    every use, and the rest, needed by those at high precision. To keep one of them from one use to the next saves its
    bytes and costs its bytes times the visits in between; all that is kept cannot cost more than capacity times visits.
    The cheapest savings come first, until that is used up (the bound PFOO-L of Berger, Beckmann and Harchol-Balter,
    2018). Parameters that a coarse expert needs for itself are left out, which only lowers the bound.
    """
    shared = sizes.full - sizes.rest
    needed, gaps, savings = 0.0, [], []
    for nbytes, least in ((shared, RequestedPrecision.LOW), (sizes.rest, RequestedPrecision.HIGH)):
        last: dict[tuple[int, int], int] = {}
        for at, visit in enumerate(visits):
            for expert, demand in zip(visit.experts, visit.demands, strict=True):
                if demand < least:
                    continue
                key = (visit.row, expert)
                needed += nbytes
                if key in last:
                    gaps.append(at - last[key])
                    savings.append(nbytes)
                last[key] = at
    if not gaps:
        return needed
    order = np.argsort(np.array(gaps), kind="stable")
    saved = np.array(savings, np.float64)[order]
    cost = (saved * np.array(gaps)[order]).cumsum()
    budget = float(capacity) * len(visits)
    whole = int(np.searchsorted(cost, budget, side="right"))
    least_read = needed - float(saved[:whole].sum())
    if whole < len(saved):
        room = budget - (float(cost[whole - 1]) if whole else 0.0)
        least_read -= float(saved[whole]) * room / float(cost[whole] - (cost[whole - 1] if whole else 0.0))
    return least_read


class BeladyPolicy(ScoredPolicy):
    """Belady's choice: evicts the expert whose next use is farthest away. Where precisions mix it is no bound.

    It knows what these visits, replayed from the first, will ask for.
    """

    def __init__(self, shape: ExpertGrid, visits: Sequence[TraceVisit]) -> None:
        super().__init__(shape)
        self._coming = next_uses(visits, lambda demand: demand > RequestedPrecision.SKIP)
        self._visits = visits
        self._visit = -1
        self._then: Array = np.full(len(self._keys), float(NEVER))

    def routed(self, visit: Visit) -> None:
        """See Policy.routed: what is told was known before."""
        self._weighed = False
        self._visit += 1
        told = self._visits[self._visit]
        base = told.row * self._shape.experts
        for expert, then in zip(told.experts, self._coming[self._visit], strict=True):
            self._then[base + expert] = then

    def _note(self, base: int, visit: Visit) -> None:
        raise AssertionError("visits are not noted")

    def _weigh(self, order: Array) -> None:
        np.negative(self._then, out=order)

    def _forget(self) -> None:
        """Sequences make no difference to what comes."""

    def _noted(self) -> Sequence[Array]:
        return (self._then,)
