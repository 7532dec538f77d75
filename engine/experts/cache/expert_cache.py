"""The expert cache: mixed precisions in one byte budget, leases, and a policy that picks the victims."""

from __future__ import annotations

import threading
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import Array, addressof, c_char

import numpy as np

from engine.errors import Kind, UnderhillError
from engine.experts.keys import ExpertKey
from engine.experts.policies import ExpertGrid, Hobbit, HobbitWeights, LayerVisit, Policy
from engine.experts.policies.scored import ScoredPolicy
from engine.kernels.call import Parts
from engine.kernels.native import EXPERT
from engine.native.expert_cache import CacheTable, Eviction
from engine.native.memory import Arena
from engine.record.layout import ExpertSpec
from engine.translatable import msg

PlanRead = Callable[[ExpertKey, tuple[int, ...]], None]
NO_EXPERT = ExpertKey(-1, -1)  # `incoming` of a policy where bytes are freed for no expert in particular


class Lease:
    """The right to use a resident expert until released, exactly once; it cannot be evicted meanwhile.

    tier: what it runs at: the finest that was held when it was given and was not too fine.
    """

    __slots__ = ("_cache", "key", "tier")

    def __init__(self, cache: ExpertCache, key: ExpertKey, tier: int) -> None:
        self.key, self.tier = key, tier
        self._cache: ExpertCache | None = cache

    @property
    def parts(self) -> Parts:
        """The expert at `tier`. Raises RuntimeError after release."""
        if self._cache is None:
            raise RuntimeError(f"the lease of {self.key} was released")
        return self._cache.parts(self.key, self.tier)

    def release(self) -> None:
        """Give it back. Raises RuntimeError the second time."""
        # Taken away before the unpin, which may raise what a callback of the policy raised: a second release must not
        # undo the pin of another lease.
        cache, self._cache = self._cache, None
        if cache is None:
            raise RuntimeError(f"the lease of {self.key} was released twice")
        cache.unpin((cache.number(self.key),))


class _PolicyCalls:
    """What the native table asks of the policy. Holds no reference to the cache, which would keep itself alive so."""

    def __init__(self, policy: Policy, keys: Sequence[ExpertKey], width: int, rows: Mapping[int, int]) -> None:
        self.policy, self.keys, self._width, self._rows = policy, keys, width, rows
        self.table: Callable[[], CacheTable | None] = lambda: None
        self.plan_read: PlanRead | None = None

    def choose_victim(self, incoming: int) -> int:
        """See uh_cache_choose_victim."""
        key = self.policy.victim(NO_EXPERT if incoming < 0 else self.keys[incoming], self._evictable)
        return -1 if key is None else self._rows[key.layer] * self._width + key.expert

    def _evictable(self, key: ExpertKey) -> bool:
        table = self.table()
        assert table is not None
        # One of the two functions of the table that may be called in the middle of another one (see
        # native/expert_cache.py).
        return not table.library.uh_cache_pins(table.address, self._rows[key.layer] * self._width + key.expert)

    def residency_changed(self, expert: int, resident: int) -> None:
        """See uh_cache_residency_changed."""
        if resident:
            self.policy.inserted(self.keys[expert])
        else:
            self.policy.removed(self.keys[expert])

    def plan(self, expert: int, parts: int) -> None:
        """See uh_cache_plan_read."""
        assert self.plan_read is not None
        self.plan_read(self.keys[expert], parts_of(parts))


class ExpertCache:
    """Resident experts in a native table. Thread-safe.

    Experts are numbered as policies do: row * width + expert, rows being MoE layers as they run. keys, specs, tiers: by
    number; a layer has `width` of them, the last of which may not exist (no spec). least: bytes of the largest expert,
    below which no capacity is accepted. notes: address of the numbers that native code keeps for the policy 'hobbit';
    0: the policy has to be told of visits.

    lock: while it is held no expert comes or goes. The table's functions are called with the interpreter's lock held,
    which guards each single call; this lock keeps the table as it is across several of them.
    """

    def __init__(
        self, capacity: int, policy: Policy, specs: Mapping[int, Sequence[ExpertSpec]], shape: ExpertGrid, least: int
    ) -> None:
        """specs: by layer and expert. Raises UnderhillError(BAD_REQUEST) where not one expert would fit."""
        check_capacity(capacity, least)
        # Second of three: PendingLoads.layer_lock, this, NativeKernel's own. Reentrant: the table's callbacks run under
        # it.
        self.lock = threading.RLock()
        self.least = least
        self.width = shape.experts
        self.policy = policy
        self._rows = {layer: row for row, layer in enumerate(shape.layers)}
        self.keys = [ExpertKey(layer, expert) for layer in shape.layers for expert in range(shape.experts)]
        self.specs = [specs[layer][expert] if expert < len(specs[layer]) else None for layer, expert in self.keys]
        self.tiers = [(0, *(() if spec is None else spec.tiers)) for spec in self.specs]
        self._calls = calls = _PolicyCalls(policy, self.keys, self.width, self._rows)
        self.table = CacheTable(
            self.specs, capacity, Arena().take, calls.choose_victim, calls.residency_changed, calls.plan
        )  # fmt: skip
        calls.table = weakref.ref(self.table)
        self.notes = 0
        # Before anything is reserved, as uh_cache_policy wants it. A policy that only follows the protocol is asked by
        # the callbacks for every victim; `protect` is only for those whose arrays the table knows.
        if isinstance(policy, ScoredPolicy):
            state = policy.eviction_state()
            self.notes = state.hobbit
            self.table.follow(Eviction(*state))
        # totals: capacity, bytes in use, bytes held (with blocks that wait for reuse), slabs ever had; C's own
        # counters.
        self._of, self._at, self._totals = self.table.library, self.table.address, self.table.totals
        self._shown: dict[int, Array[c_char]] = {}
        # Views by (number, tier), each with the version of the expert that it shows. The table's blocks clear it when
        # memory goes back to the system, which a view would else keep alive beyond the budget.
        self._parts: dict[tuple[int, int], tuple[int, Parts]] = self.table.slabs.pictures

    # ---- what the policy is told ------------------------------------------------------------------------------------

    def routed(self, visit: LayerVisit) -> None:
        """The layer that runs now, and what it uses: see Policy.routed. To be told before it is looked up."""
        with self.lock:
            self.policy.routed(visit)

    def begin_sequence(self) -> None:
        """A new sequence begins."""
        with self.lock:
            self.policy.begin_sequence()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Put the policy's records of the sequence aside while another one runs beside it."""
        with self.lock:
            records = self.policy.put_aside()
        try:
            yield
        finally:
            with self.lock:
                self.policy.bring_back(records)

    def protect(self, keys: Iterable[ExpertKey]) -> None:
        """Evict these last, until the next call: see Policy.protect."""
        expected = array("i", [self.number(key) for key in keys])
        with self.lock:
            self._of.uh_cache_protect(self._at, expected.buffer_info()[0], len(expected))

    def reweigh(self, weights: HobbitWeights) -> None:
        """Other weights for the policy 'hobbit', others have none; the same again change nothing."""
        with self.lock:
            if isinstance(self.policy, Hobbit) and self.policy.weights != weights:
                self.policy.reweigh(weights)

    # ---- what is there ----------------------------------------------------------------------------------------------

    def number(self, key: ExpertKey) -> int:
        """Of an expert."""
        return self._rows[key.layer] * self.width + key.expert

    def base(self, layer: int) -> int:
        """The number of a layer's first expert."""
        return self._rows[layer] * self.width

    def planes(self, number: int, tier: int) -> int:
        """Precision as native code counts it. Raises ValueError for a tier that the expert does not have."""
        return self.tiers[number].index(tier)

    @property
    def capacity(self) -> int:
        """Most bytes held."""
        return self._totals[0]

    @property
    def nbytes(self) -> int:
        """Bytes held now, memory waiting for reuse included."""
        return self._totals[2]

    @property
    def free(self) -> int:
        """Bytes that can be had without evicting."""
        return self._totals[0] - self._totals[1]

    @property
    def refusals(self) -> int:
        """How often the system gave no memory. Where others could be evicted instead, `capacity` came down to what was
        held; it stays there until it is set again."""
        return self.table.slabs.refusals

    def missing_bytes(self, key: ExpertKey, tier: int) -> int:
        """Bytes that an expert lacks to be held at this tier; 0 too while it is being loaded."""
        at = self.number(key)
        found: int = self._of.uh_cache_missing_bytes(self._at, at, self.planes(at, tier))
        return found

    def tier(self, key: ExpertKey, most: int | None = None) -> int:
        """The finest tier held of an expert, no finer than `most`; 0: not resident."""
        at = self.number(key)
        tiers, cap = self.tiers[at], 0
        if most is not None and not (cap := max(n for n, tier in enumerate(tiers) if tier <= most)):
            return 0
        return tiers[self._of.uh_cache_planes(self._at, at, cap)]  # 0 planes: as many as there are

    def residency(self) -> dict[ExpertKey, int]:
        """Every resident expert and its finest tier. Takes no lock: it is held while a layer computes."""
        planes, _ = self.table.snapshot()
        return {self.keys[at]: self.tiers[at][n] for at, n in enumerate(planes) if n}

    def parts(self, key: ExpertKey, tier: int) -> Parts:
        """A pinned expert as kernels take it. Raises ValueError where it is not held at this tier."""
        at = self.number(key)
        version: int = self._of.uh_cache_version(self._at, at)
        known = self._parts.get((at, tier))
        if known is not None and known[0] == version:
            return known[1]
        spec = self.specs[at]
        assert spec is not None
        held = {p.part: p.slab[p.start : p.start + p.nbytes] for p in self.table.pieces(at)}
        made = Parts(spec, held, tier)
        self._parts[at, tier] = version, made
        return made

    def show(self, keys: Sequence[ExpertKey], table: Array[c_char], most: int) -> None:
        """Keep up to date where these experts, one layer's, are and what they run at, at most so many planes.

        table: an EXPERT for each of them, of which only that is written.
        """
        self._shown[keys[0].layer] = table  # kept alive: native code writes to it for as long as the cache lives
        # C writes to these records whenever an expert comes or goes, without a call to Python.
        start = addressof(table)
        for index, key in enumerate(keys):
            self._of.uh_cache_publish(self._at, self.number(key), start + EXPERT.size * index, most)

    def plan_reads(self, plan_read: PlanRead) -> None:
        """Set the function that is asked how parts of an expert are read; it answers by CacheTable.set_plan."""
        self._calls.plan_read = plan_read

    # ---- leases -----------------------------------------------------------------------------------------------------

    def lookup(self, key: ExpertKey, tier: int, most: int | None = None) -> Lease | None:
        """Lease an expert that is held at `tier` or finer, but no finer than `most`; at the finest of these.

        None is a miss. Tier 0 takes whatever is there. An expert raised to 4 bits is no expert of 2 bits any more, nor
        one of 8 bits one of 4: codes alone cannot be decoded.
        """
        with self.lock:
            found = self.tier(key, most)
            if not found or found < tier:
                return None
            self.pin((self.number(key),))
            return Lease(self, key, found)

    def pin(self, numbers: Sequence[int]) -> None:
        """Keep experts that are there from being evicted, until `unpin`."""
        found = array("i", numbers)  # kept in a name: native code is given its address alone
        with self.lock:
            self._of.uh_cache_pin(self._at, found.buffer_info()[0], len(found))

    def unpin(self, numbers: Sequence[int]) -> None:
        """Undo one `pin` of each."""
        found = array("i", numbers)
        with self.lock:
            self._of.uh_cache_unpin(self._at, found.buffer_info()[0], len(found))
            self.table.check()

    # ---- capacity ---------------------------------------------------------------------------------------------------

    def make_free(self, nbytes: int) -> None:
        """Evict until so much can be had at once, or until the rest is pinned."""
        with self.lock:
            self._of.uh_cache_make_free(self._at, nbytes)
            self.table.check()

    def drop(self, key: ExpertKey) -> None:
        """Evict an expert, if it is there and not pinned."""
        with self.lock:
            at = self.number(key)
            if self._of.uh_cache_planes(self._at, at, 0) and not self._of.uh_cache_pins(self._at, at):
                self._of.uh_cache_forget(self._at, at)

    def set_capacity(self, capacity: int, least: int | None = None) -> None:
        """Change the ceiling at once. What is leased stays until released, and nothing new comes in before that.

        least: bytes of the largest expert, where that changes too. Raises UnderhillError(BAD_REQUEST) when not even
        one expert would fit; nothing is changed then.
        """
        with self.lock:
            least = self.least if least is None else least
            check_capacity(capacity, least)
            self.least, self._totals[0] = least, capacity
            self._of.uh_cache_trim(self._at, 0)
            self.table.check()

    def lend(self, capacity: int) -> None:
        """Change the ceiling at once, for a while: the memory that came last is evicted first, whatever the policy
        says.

        What was cut last lies together, so that whole huge pages go back to the system. Where one goes here and one
        there, their neighbours are left small pages, which the disk reads into at half the rate (docs/offloading.md).
        """
        with self.lock:
            self._totals[0] = max(capacity, self.least)  # written in place: the table reads it with every reservation
            self._of.uh_cache_trim(self._at, 1)
            if self.nbytes > self.capacity:
                _, latest = self.table.snapshot()
                for at in np.argsort(-latest, kind="stable").tolist():
                    if self.nbytes <= self.capacity or latest[at] < 0:
                        break
                    self.drop(self.keys[at])
            self._of.uh_cache_trim(self._at, 0)
            self.table.check()

    def refused(self) -> UnderhillError:
        """The error of memory that the system did not give."""
        problem, self.table.slabs.problem = self.table.slabs.problem, None
        error = UnderhillError(
            Kind.OUT_OF_MEMORY,
            msg("Not enough memory for experts."),
            msg("Close other apps or lower the memory limit."),
        )
        error.__cause__ = problem
        return error


def check_capacity(capacity: int, least: int) -> None:
    """Raises UnderhillError(BAD_REQUEST) where not even one expert, of at most `least` bytes, would fit."""
    if capacity < least:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("An expert cache of {capacity} bytes cannot hold a single expert.", capacity=f"{capacity:,}"),
            msg("Give it at least {least} bytes.", least=f"{least:,}"),
        )


def parts_of(bits: int) -> tuple[int, ...]:
    """Numbers of parts, ascending."""
    return tuple(part for part in range(bits.bit_length()) if bits >> part & 1)
