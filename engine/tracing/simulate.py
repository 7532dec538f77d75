"""One cache, one policy, one trace: what is hit, what is read. The progressive cache without its bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.experts.keys import ExpertKey
from engine.experts.policies import Policy, Shape
from engine.experts.policies import Visit as Told
from engine.experts.precision import Demand
from engine.tracing.sizes import Sizes
from engine.tracing.visits import Visit


@dataclass
class Outcome:
    """uses: experts asked for, once per visit, skipped ones apart. misses of them had to be read, wholly or in part.

    coarse: misses that took a coarse expert. raised: misses of which only the rest was read. skipped: asked for, and
    neither there nor worth a read. bytes_read: of the misses. full_bytes: of one expert at full precision.
    """

    full_bytes: int
    uses: int = 0
    misses: int = 0
    coarse: int = 0
    raised: int = 0
    skipped: int = 0
    bytes_read: int = 0

    @property
    def hit_rate(self) -> float:
        """Share of uses that were in the cache, finely enough."""
        return 1 - self.misses / self.uses if self.uses else 0.0

    @property
    def penalty(self) -> float:
        """Misses weighted by their bytes, one at full precision counting 1 (hobbit 3.4: a low one B_low/B_high)."""
        return self.bytes_read / self.full_bytes


@dataclass
class Simulation:
    """A cache of `capacity` bytes. held: the Demand that each resident expert meets, LOW or HIGH."""

    shape: Shape
    sizes: Sizes
    capacity: int
    policy: Policy
    held: dict[ExpertKey, int] = field(default_factory=dict)
    used: int = 0

    def run(self, visits: Sequence[Visit]) -> Outcome:
        """Go through the visits."""
        outcome = Outcome(self.sizes.full)
        for visit in visits:
            self._visit(visit, outcome)
        return outcome

    def _visit(self, visit: Visit, outcome: Outcome) -> None:
        if visit.begins:
            self.policy.begin_sequence()
        held = self.held
        keys = [ExpertKey(visit.layer, expert) for expert in visit.experts]
        runs = [i for i, key in enumerate(keys) if visit.demands[i] or key in held]
        outcome.uses += len(runs)
        outcome.skipped += len(keys) - len(runs)
        self.policy.routed(
            Told(
                visit.layer,
                [visit.experts[i] for i in runs],
                [visit.demands[i] == Demand.HIGH for i in runs],
                [visit.counts[i] for i in runs],
                visit.tokens,
            )
        )
        misses = [i for i in runs if held.get(keys[i], 0) < visit.demands[i]]
        # One token's experts run together; of a prompt each is let go as soon as its tokens have been through it.
        together = set(keys) if visit.tokens == 1 else set()
        for i in misses:
            self._fetch(keys[i], visit.demands[i], together, outcome)

    def _fetch(self, key: ExpertKey, demand: int, together: set[ExpertKey], outcome: Outcome) -> None:
        sizes, before = self.sizes, self.held.get(key, 0)
        nbytes = sizes.coarse if demand == Demand.LOW else sizes.rest if before else sizes.full
        outcome.misses += 1
        outcome.coarse += demand == Demand.LOW
        outcome.raised += bool(before)
        outcome.bytes_read += nbytes
        more = self._size(demand) - self._size(before)
        while self.used + more > self.capacity:
            victim = self.policy.victim(key, lambda k: k not in together and k != key)
            if victim is None:
                return  # used from a buffer, and let go
            self.used -= self._size(self.held.pop(victim))
            self.policy.removed(victim)
        self.used += more
        self.held[key] = demand
        self.policy.inserted(key)

    def _size(self, demand: int) -> int:
        return (0, self.sizes.coarse, self.sizes.full)[demand]
