"""One cache, one policy, one trace: what is hit, what is read. The progressive cache without its bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field

from engine.errors import Kind, UnderhillError
from engine.experts.cache.expert_cache import NO_EXPERT
from engine.experts.execution.sweep import most_chosen, split_capacity
from engine.experts.keys import ExpertKey
from engine.experts.policies import ExpertGrid, Policy
from engine.experts.policies import LayerVisit as Visit
from engine.experts.precision import RequestedPrecision
from engine.tracing.visits import Sizes, TraceVisit
from engine.translatable import msg

LOOK = 64  # visits between questions whether to stop: some milliseconds


@dataclass
class Outcome:
    """uses: experts asked for, once per visit, skipped ones apart. misses of them had to be read, wholly or in part.

    coarse: misses that took a coarse expert. raised: misses of which only the rest was read. skipped: asked for, and
    neither there nor worth a read. bytes_read: of the misses. full_bytes: of one expert at full precision.
    """

    full_bytes: int
    uses: int = 0
    misses: int = 0
    _: KW_ONLY
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


@dataclass(kw_only=True)
class Simulation:
    """A cache of `capacity` bytes. held: the RequestedPrecision that each resident expert meets, LOW or HIGH.

    A prompt that visits more experts of a layer than may stay is swept, as the runtime does it (execution/sweep.py).
    chosen: how often this answer has chosen each expert, its prompt included.
    """

    shape: ExpertGrid
    sizes: Sizes
    capacity: int
    policy: Policy
    held: dict[ExpertKey, int] = field(default_factory=dict)
    used: int = 0
    chosen: Counter[ExpertKey] = field(default_factory=Counter)
    reading: bool = False  # whether the last pass was of a prompt

    def run(self, visits: Sequence[TraceVisit], cancelled: Callable[[], bool] = lambda: False) -> Outcome:
        """Go through the visits. Raises UnderhillError(CANCELLED), asked now and then."""
        outcome = Outcome(self.sizes.full)
        for number, visit in enumerate(visits):
            if number % LOOK == 0 and cancelled():
                raise UnderhillError(Kind.CANCELLED, msg("Stopped."))
            self._visit(visit, outcome)
        return outcome

    def _visit(self, visit: TraceVisit, outcome: Outcome) -> None:
        if visit.begins:
            self.policy.begin_sequence()
        held = self.held
        keys = [ExpertKey(visit.layer, expert) for expert in visit.experts]
        runs = [i for i, key in enumerate(keys) if visit.demands[i] or key in held]
        outcome.uses += len(runs)
        outcome.skipped += len(keys) - len(runs)
        self.policy.routed(
            Visit(
                visit.layer,
                [visit.experts[i] for i in runs],
                [visit.demands[i] == RequestedPrecision.HIGH for i in runs],
                [visit.counts[i] for i in runs],
                visit.tokens,
            )
        )
        misses = [i for i in runs if held.get(keys[i], 0) < visit.demands[i]]
        kept = self._kept(visit, keys)
        passing = set() if kept is None else set(keys) - kept
        if kept is not None:
            self._make_free(visit.row, kept, {keys[i] for i in runs if i not in misses})
        # One token's experts run together; of a prompt each is let go as soon as its tokens have been through it.
        together = set(keys) if visit.tokens == 1 else set()
        for i in misses:
            self._fetch(keys[i], visit.demands[i], together, outcome)
            if keys[i] in passing:
                self._drop(keys[i])
        for key in passing:
            self._drop(key)

    def _kept(self, visit: TraceVisit, keys: Sequence[ExpertKey]) -> frozenset[ExpertKey] | None:
        """Who of a layer may stay behind a prompt; None where nobody has to leave for it."""
        if visit.row == 0 and visit.tokens > 1 and not self.reading:
            self.chosen.clear()
        self.reading = visit.tokens > 1
        self.chosen.update(dict(zip(keys, visit.counts)))
        room = self._room(visit.row) if self.reading else None
        if room is None or len(keys) <= room[1]:
            return None
        chosen = {key.expert: self.chosen[key] for key in keys}
        stay = most_chosen(sorted(chosen), chosen.__getitem__, room[1])
        return frozenset(key for key in keys if key.expert in stay)

    def _room(self, row: int) -> tuple[int, int] | None:
        layers, experts = len(self.shape.layers), self.shape.experts
        return split_capacity(self.capacity, self.sizes.full, layers * experts, layers, row)

    def _make_free(self, row: int, kept: frozenset[ExpertKey], used: set[ExpertKey]) -> None:
        """As the runtime before it sweeps a layer: who of it is neither kept nor used leaves, then others for room."""
        for expert in range(self.shape.experts):
            if (key := ExpertKey(self.shape.layers[row], expert)) not in kept and key not in used:
                self._drop(key)
        room = self._room(row)
        while room is not None and self.capacity - self.used < room[0]:
            victim = self.policy.victim(NO_EXPERT, lambda key: key not in used)
            if victim is None:
                return
            self._drop(victim)

    def _drop(self, key: ExpertKey) -> None:
        if key in self.held:
            self.used -= self._size(self.held.pop(key))
            self.policy.removed(key)

    def _fetch(self, key: ExpertKey, demand: int, together: set[ExpertKey], outcome: Outcome) -> None:
        sizes, before = self.sizes, self.held.get(key, 0)
        nbytes = sizes.coarse if demand == RequestedPrecision.LOW else sizes.rest if before else sizes.full
        outcome.misses += 1
        outcome.coarse += demand == RequestedPrecision.LOW
        outcome.raised += bool(before)
        outcome.bytes_read += nbytes
        more = self._size(demand) - self._size(before)
        while self.used + more > self.capacity:
            victim = self.policy.victim(key, lambda k: k not in together and k != key)
            if victim is None:
                return  # used from a buffer, and let go
            self._drop(victim)
        self.used += more
        self.held[key] = demand
        self.policy.inserted(key)

    def _size(self, demand: int) -> int:
        return (0, self.sizes.coarse, self.sizes.full)[demand]
