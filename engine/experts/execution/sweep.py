"""A long prompt visits nearly every expert of every layer: what is read ahead for it, and what of it stays."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from engine.experts.cache.expert_cache import ExpertCache, Lease
from engine.experts.execution.requests import ExpertRequest
from engine.experts.keys import ExpertKey
from engine.experts.loading.pending import PendingLoads
from engine.experts.telemetry import ExpertTelemetry
from engine.planning.speed import window
from engine.record.layout import ExpertSpec

COVERAGE = 0.8  # of a layer's experts, from which on the next layer will need nearly all of its own, too


def split_capacity(capacity: int, largest: int, experts: int, layers: int, row: int) -> tuple[int, int] | None:
    """Bytes of a cache that a prompt reads through, and how many experts of the layer in this row may stay beside
    them; None where all experts fit. largest: bytes of one. experts, layers: of the model.
    """
    if capacity >= experts * largest:
        return None
    through = window(capacity, largest)
    all_layers, over = divmod((capacity - through) // largest, layers)
    return through, all_layers + (row < over)


def most_chosen(experts: Sequence[int], chosen: Callable[[int], int], stay: int) -> frozenset[int]:
    """Which of these may stay: those that this answer has chosen most often, among equals the first."""
    return frozenset(sorted(experts, key=lambda expert: -chosen(expert))[:stay])


class Sweep:
    """One call of many tokens, which asks for more experts than its layer may keep.

    Every expert that is missing is read once, in disk order, into memory that is used again and again: of all
    that this layer computes with, those stay that this answer has chosen most often. keep: these. ahead: experts of the
    next layer, and at which tier; at most `window` bytes of them are asked for, and `brought` were.
    """

    def __init__(
        self,
        cache: ExpertCache,
        pending: PendingLoads,
        window: int,
        keep: frozenset[int],
        ahead: Sequence[tuple[ExpertKey, int]],
    ) -> None:
        self.brought = 0
        self._cache, self._pending, self._window, self._keep = cache, pending, window, keep
        self._ahead = deque(ahead)

    def has_room(self, key: ExpertKey, tier: int) -> bool:
        """Whether it can be asked for without evicting."""
        return self._cache.missing_bytes(key, tier) <= self._cache.free

    def keeps(self, found: tuple[ExpertRequest, Lease]) -> bool:
        """Whether this expert stays."""
        return found[0].key.expert in self._keep

    def done(self, key: ExpertKey) -> None:
        """It was computed: its memory is for the next one, unless it may stay."""
        if key.expert not in self._keep:
            self._cache.drop(key)

    def read_ahead(self) -> None:
        """Ask for experts of the next layer, while there is room in the window."""
        while self._ahead:
            key, tier = self._ahead[0]
            nbytes = self._cache.missing_bytes(key, tier)
            if nbytes > min(self._cache.free, self._window - self.brought):
                return
            self._ahead.popleft()
            if nbytes and self._pending.prefetch(key, tier):
                self.brought += nbytes


class Sweeps:
    """Starts sweeps of layer calls. specs, tiers: by layer and expert; tiers by RequestedPrecision."""

    def __init__(
        self,
        cache: ExpertCache,
        pending: PendingLoads,
        telemetry: ExpertTelemetry,
        specs: Mapping[int, Sequence[ExpertSpec]],
        tiers: Mapping[int, Sequence[tuple[int, int, int]]],
    ) -> None:
        self._cache, self._pending, self._telemetry = cache, pending, telemetry
        self._specs, self._tiers = specs, tiers
        layers = tuple(specs)
        self._everything = sum(map(len, specs.values()))
        self._row = {layer: row for row, layer in enumerate(layers)}
        self._next = dict(pairwise(layers))
        self._last: Sweep | None = None

    def _split(self, layer: int, largest: int) -> tuple[int, int] | None:
        return split_capacity(self._cache.capacity, largest, self._everything, len(self._specs), self._row[layer])

    def may_stay(self, layer: int, experts: int, largest: int) -> bool:
        """Whether so many experts of a layer, the largest of so many bytes, may all stay: then nothing is swept."""
        split = self._split(layer, largest)
        return split is None or experts <= split[1]

    def begin(self, layer: int, requests: Sequence[ExpertRequest]) -> Sweep | None:
        """One for these experts of a layer, those that are there being leased; None where all of them may stay."""
        last, self._last = self._last, None
        largest = max(request.spec.layout.bytes_for(request.full) for request in requests)
        split = self._split(layer, largest)
        if split is None or len(requests) <= split[1]:
            return None
        through, stay = split
        asked = [request.key.expert for request in requests]
        keep = most_chosen(asked, self._telemetry.chosen(layer).__getitem__, stay)
        for expert in range(len(self._specs[layer])):  # those asked for are leased, and go when they are done
            if expert not in keep:
                self._cache.drop(ExpertKey(layer, expert))
        # What the last layer's sweep read ahead lies in this layer's window already.
        self._cache.make_free(through - (0 if last is None else last.brought))
        self._last = Sweep(self._cache, self._pending, through, keep, self._following(layer, len(requests)))
        return self._last

    def _following(self, layer: int, visited: int) -> list[tuple[ExpertKey, int]]:
        after = self._next.get(layer)
        if after is None or visited < COVERAGE * len(self._specs[layer]):
            return []
        # In full: of a prompt's many tokens one mostly asks for that, and the highest request wins (requests_of).
        return [(ExpertKey(after, expert), tiers[-1]) for expert, tiers in enumerate(self._tiers[after])]
