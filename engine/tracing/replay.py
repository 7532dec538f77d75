"""Run a recorded trace through cache policies, and through Belady's, which knows the future."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from engine.experts.keys import ExpertKey
from engine.experts.policies import Policy, make_policy
from engine.tracing.recorder import Trace

POLICIES = ("lru", "lru_layer", "belady")


@dataclass(frozen=True)
class Replay:
    """policy at a cache of `slots` experts: of `uses` layer visits to an expert, `misses` had to be read."""

    policy: str
    slots: int
    uses: int
    misses: int

    @property
    def hit_rate(self) -> float:
        """Share of uses that were in the cache."""
        return 1 - self.misses / self.uses if self.uses else 0.0


def visits_of(trace: Trace) -> list[list[ExpertKey]]:
    """The distinct experts of every visit of a layer, in the order of the router's choice."""
    return [
        [ExpertKey(layer, expert) for expert in dict.fromkeys(int(i) for i in ids.flatten())]
        for layer, ids, _ in trace.steps()
    ]


def replay(trace: Trace, policy: str, slots: int) -> Replay:
    """Simulate a cache of `slots` experts of equal size over the visits of a trace. policy: one of POLICIES."""
    visits = visits_of(trace)
    misses = (
        _belady(visits, slots) if policy == "belady" else _misses(visits, make_policy(policy, len(trace.layers)), slots)
    )
    return Replay(policy, slots, sum(map(len, visits)), misses)


def _misses(visits: Sequence[Sequence[ExpertKey]], policy: Policy, slots: int) -> int:
    """Misses of a policy, the cache filled as the runtime does it: hits first, then one expert at a time."""
    resident: set[ExpertKey] = set()
    misses = 0
    for visit in visits:
        missing = [key for key in visit if key not in resident]
        for key in visit:
            if key in resident:
                policy.used(key)
        for key in missing:
            misses += 1
            if len(resident) >= slots:
                victim = policy.victim(key, lambda k: True)
                assert victim is not None
                resident.remove(victim)
                policy.removed(victim)
            resident.add(key)
            policy.used(key)
    return misses


def _belady(visits: Sequence[Sequence[ExpertKey]], slots: int) -> int:
    """Misses when after every visit those are kept that are needed again first (Belady 1966): nobody can miss less.

    An expert that was just read need not be kept, and the order within a visit does not matter.
    """
    coming: dict[ExpertKey, list[int]] = defaultdict(list)
    for at in range(len(visits) - 1, -1, -1):
        for key in visits[at]:
            coming[key].append(at)
    resident: set[ExpertKey] = set()
    misses = 0
    for visit in visits:
        misses += sum(key not in resident for key in visit)
        for key in visit:
            coming[key].pop()
        useful = [key for key in resident.union(visit) if coming[key]]
        resident = set(sorted(useful, key=lambda key: coming[key][-1])[:slots])
    return misses


def compare(trace: Trace, fractions: Sequence[float] = (0.125, 0.25, 0.5, 0.75)) -> list[Replay]:
    """Every policy at every share of all experts (at least one expert)."""
    total = len(trace.layers) * trace.experts
    return [replay(trace, policy, max(1, round(total * f))) for f in fractions for policy in POLICIES]
