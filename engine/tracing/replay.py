"""Run a recorded trace through cache policies, and through Belady's, which knows the future."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.experts.keys import ExpertKey
from engine.experts.policies import Policy, make_policy
from engine.tracing.recorder import Trace

POLICIES = ("lru", "lru_layer", "belady")
NEVER = 1 << 62


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


class Belady:
    """Gives up the expert that is needed again last (Belady 1966): no policy can miss less."""

    def __init__(self, visits: Sequence[Sequence[ExpertKey]]) -> None:
        """visits: all that is to come, in order."""
        self._coming: dict[ExpertKey, list[int]] = defaultdict(list)
        for at in range(len(visits) - 1, -1, -1):
            for key in visits[at]:
                self._coming[key].append(at)
        self._resident: set[ExpertKey] = set()

    def used(self, key: ExpertKey) -> None:
        """See Policy.used."""
        self._resident.add(key)
        self._coming[key].pop()

    def removed(self, key: ExpertKey) -> None:
        """See Policy.removed."""
        self._resident.discard(key)

    def victim(self, incoming: ExpertKey, evictable: Callable[[ExpertKey], bool]) -> ExpertKey | None:
        """See Policy.victim."""
        able = [key for key in self._resident if evictable(key)]
        return max(able, key=self._next, default=None)

    def _next(self, key: ExpertKey) -> int:
        coming = self._coming[key]
        return coming[-1] if coming else NEVER


def visits_of(trace: Trace) -> list[list[ExpertKey]]:
    """The distinct experts of every visit of a layer, in the order of the router's choice."""
    return [
        [ExpertKey(layer, expert) for expert in dict.fromkeys(int(i) for i in ids.flatten())]
        for layer, ids, _ in trace.steps()
    ]


def replay(trace: Trace, policy: str, slots: int) -> Replay:
    """Simulate a cache of `slots` experts of equal size, as the runtime fills it: one expert at a time.

    The experts of one visit are not held all at once, so a visit that needs more than fits goes round in the cache.
    """
    visits = visits_of(trace)
    chooser: Policy = Belady(visits) if policy == "belady" else make_policy(policy, len(trace.layers))
    resident: set[ExpertKey] = set()
    uses = misses = 0
    for visit in visits:
        hits = [key for key in visit if key in resident]
        uses += len(visit)
        for key in hits:
            chooser.used(key)
        for key in visit:
            if key in hits:
                continue
            misses += 1
            if len(resident) >= slots:
                victim = chooser.victim(key, lambda k: True)
                assert victim is not None
                resident.remove(victim)
                chooser.removed(victim)
            resident.add(key)
            chooser.used(key)
    return Replay(policy, slots, uses, misses)


def compare(trace: Trace, fractions: Sequence[float] = (0.125, 0.25, 0.5, 0.75)) -> list[Replay]:
    """Every policy at every share of all experts (at least one expert)."""
    total = len(trace.layers) * trace.experts
    return [replay(trace, policy, max(1, round(total * f))) for f in fractions for policy in POLICIES]
