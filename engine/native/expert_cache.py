"""The native table of a memory's experts: what is held of each, who may not leave, and what is on its way from disk."""

from __future__ import annotations

import ctypes
import weakref
from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from engine.native.io_pool import CHUNK, RUN, IoPool
from engine.native.library import load_holding_lock
from engine.record.layout import ExpertSpec
from engine.translatable import msg

PARTS, PLANES = 6, 3  # UH_PARTS, UH_PLANES
ASKED, NO_ROOM, OUT_OF_MEMORY, THERE, STOPPED = range(0, -5, -1)  # as in the C enum
NO_VICTIM = -1  # UH_NONE: a policy that names no victim; the table then has no room
AT_ONCE = 64  # reads whose ends are taken in one call


# The structures below are those of expert_cache.h and io_pool.h, field by field: a change there needs one here and
# another ABI.
class _Record(ctypes.Structure):
    _fields_ = (
        ("nbytes", ctypes.c_int64 * PARTS),
        ("parts_for", ctypes.c_int32 * (PLANES + 1)),
        ("codes", ctypes.c_int32 * PLANES),
        ("params", ctypes.c_int32 * (PLANES + 1)),
        ("most", ctypes.c_int32),
    )


class Eviction(ctypes.Structure):
    """uh_eviction: addresses of a policy's numbers."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("penalty", "priority", "pinned", "state", "next", "hobbit")),
        ("asks", ctypes.c_int32),
    )


class _End(ctypes.Structure):
    _fields_ = (
        ("id", ctypes.c_int64),
        ("ns", ctypes.c_int64),
        *((name, ctypes.c_int32) for name in ("status", "error", "part", "unused")),
    )


_NAMES = ("expert", "status", "planes", "error", "part", "urgency", "awaited", "parts")


class _LoadResult(ctypes.Structure):
    _fields_ = (*((name, ctypes.c_int32) for name in _NAMES), ("nbytes", ctypes.c_int64), ("ns", ctypes.c_int64))


class LoadResult(NamedTuple):
    """How a read ended: uh_load_result in expert_cache.h. parts: bits."""

    expert: int
    status: int
    planes: int
    error: int
    part: int
    urgency: int
    awaited: int
    parts: int
    nbytes: int
    ns: int


class _BatchStats(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("nbytes", "ns")),
        *((name, ctypes.c_int32) for name in ("reads", "upgraded", "failed", "too_coarse")),
    )


class Piece(NamedTuple):
    """A part of an expert where it lies. start: in the memory of its slab."""

    part: int
    slab: Tensor
    start: int
    nbytes: int


# Called in the middle of a C function, by its thread, which holds the interpreter's lock (PyDLL). They must not raise,
# and of the same table they call nothing but `pins` and `set_plan`: all else would find it half changed.
_Allocate = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_Release = ctypes.CFUNCTYPE(None, ctypes.c_int64)
_ChooseVictim = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)
_ResidencyChanged = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_int32)


@lru_cache(maxsize=256)
def _record(spec: ExpertSpec) -> _Record:
    layout, tiers = spec.layout, spec.tiers
    made = _Record(most=len(tiers))
    made.nbytes[: len(layout.parts)] = [part.nbytes for part in layout.parts]
    made.codes[: len(layout.codes_for(spec.top))] = [part.index for part in layout.codes_for(spec.top)]
    made.params[:] = (-1,) * (PLANES + 1)
    for planes, tier in enumerate(tiers, 1):
        made.parts_for[planes] = sum(1 << part for part in layout.parts_for(tier))
        if not spec.raw:
            made.params[planes] = layout.params_for(tier).index
    return made


@lru_cache(maxsize=1)
def _native() -> ctypes.PyDLL:
    """Called without letting go of Python's lock, which so guards the table, too."""
    library = load_holding_lock()
    pointer, i32, i64, plain = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64, ctypes.c_int
    library.uh_cache_open.argtypes = (
        i32,
        i64,
        _Allocate,
        _Release,
        _ChooseVictim,
        _ResidencyChanged,
        _ResidencyChanged,
    )
    library.uh_cache_open.restype = pointer
    library.uh_cache_totals.argtypes, library.uh_cache_totals.restype = (pointer,), pointer
    for name, arguments, result in (
        ("close", (), None), ("reads", (pointer,), None), ("policy", (pointer,), None),
        ("protect", (pointer, i32), None), ("expert", (i32, pointer), None),
        ("publish", (i32, pointer, i32), None), ("planes", (i32, i32), i32), ("pins", (i32,), i32),
        ("missing_bytes", (i32, i32), i64), ("parts", (i32, plain, pointer), i32), ("version", (i32,), i64),
        ("snapshot", (pointer, pointer), None), ("pin", (pointer, i32), None), ("unpin", (pointer, i32), None),
        ("reserve", (i32, i32), plain), ("insert", (i32, plain), None), ("abandon", (i32,), None),
        ("forget", (i32,), None), ("make_free", (i64,), None), ("trim", (plain,), None),
        ("set_plan", (i32, i32, pointer, pointer, i32, pointer, i32), plain), ("fetch", (i32, i32, i32), plain),
        ("prefetch", (i32, pointer, pointer, i64, pointer), plain),
        ("demand", (i32, pointer, pointer, i32, pointer, pointer, pointer), i32),
        ("promote", (i32,), plain), ("pending_planes", (i32,), i32), ("pending_bytes", (i32,), i64),
        ("unread_bytes", (i32,), i64), ("request", (i32,), i64), ("cancel", (i32,), plain),
        ("pending", (pointer, i32), i32),
        ("commit_completed", (pointer, i32, pointer, pointer), i32),
        ("commit", (pointer, i32, pointer, i32, pointer), None),
        ("commit_step", (i32, pointer, pointer, i32, pointer, i32, pointer, i32, pointer, pointer, pointer), i32),
    ):  # fmt: skip
        function = getattr(library, f"uh_cache_{name}")
        # restype pointer matters most: as int, the default, addresses would lose their upper half.
        function.argtypes, function.restype = (pointer, *arguments), result
    return library


class Slabs:
    """The memory of a cache, by number of the slab. Readers write to it as long as it lives."""

    def __init__(self, allocate: Callable[[int], Tensor]) -> None:
        self.tensors: dict[int, Tensor] = {}
        self.pictures: dict[Any, Any] = {}  # that others made of them, and would keep them alive
        self.problem: BaseException | None = None  # that kept the last one from being had
        self.refusals = 0
        self._allocate = allocate

    def allocate(self, nbytes: int, slab: int) -> int | None:
        """Its address."""
        try:
            tensor = self.tensors[slab] = self._allocate(nbytes)
        except BaseException as problem:  # nothing can be raised through native code
            self.problem = problem
            self.refusals += 1
            return None
        # C carves it up until it calls `release`; the entry in `tensors` is what keeps the memory alive.
        return tensor.data_ptr()

    def release(self, slab: int) -> None:
        """Give it back to the system."""
        self.pictures.clear()
        del self.tensors[slab]


class CacheTable:
    """See expert_cache.h, whose functions these are. Experts by number, those that there are not having no spec.

    allocate: uint8 [n], OSError or MemoryError where there is none. choose_victim, residency_changed, plan_read: as in
    expert_cache.h; what they raise is kept, and raised by `check`. Nothing is checked here. Raises MemoryError.
    """

    def __init__(
        self,
        specs: Sequence[ExpertSpec | None],
        capacity: int,
        allocate: Callable[[int], Tensor],
        choose_victim: Callable[[int], int],
        residency_changed: Callable[[int, int], None],
        plan_read: Callable[[int, int], None],
    ) -> None:
        self.library = _native()
        self.slabs = Slabs(allocate)
        self._failures: list[BaseException] = []
        # Kept for as long as the table: C holds their bare addresses, and a collected closure would be a jump into
        # nothing.
        self._callbacks = (
            _Allocate(self.slabs.allocate),
            _Release(self.slabs.release),
            _ChooseVictim(self._guarded(choose_victim, NO_VICTIM)),
            _ResidencyChanged(self._guarded(residency_changed, None)),
            _ResidencyChanged(self._guarded(plan_read, None)),
        )
        opened: int | None = self.library.uh_cache_open(len(specs), capacity, *self._callbacks)
        if opened is None:
            raise MemoryError(msg("no memory for a table of experts"))
        self.address = opened
        # A view into C's own counters: read without a call, dangling once `uh_cache_close` has run with the last
        # reference.
        self.totals = (ctypes.c_int64 * 4).from_address(self.library.uh_cache_totals(opened))
        self._records = [None if spec is None else _record(spec) for spec in specs]  # kept alive
        for expert, record in enumerate(self._records):
            if record is not None:
                self.library.uh_cache_expert(opened, expert, ctypes.addressof(record))
        self._parts = (ctypes.c_int64 * (3 * PARTS))()
        self._ends, self._results = (_End * AT_ONCE)(), (_LoadResult * AT_ONCE)()
        self._awaited = array("i", [0] * AT_ONCE)
        self.stats = _BatchStats()
        # Taken once, since it is passed for every layer of every token.
        self._stats_at = ctypes.addressof(self.stats)
        self._reads: IoPool | None = None
        # With the address alone: what the finalizer refers to lives for ever, and a method of self would be self.
        weakref.finalize(self, self.library.uh_cache_close, opened)

    def _guarded(self, call: Callable[..., int | None], otherwise: int | None) -> Callable[..., int | None]:
        failures = self._failures

        def guarded(*arguments: int) -> int | None:
            try:
                return call(*arguments)
            except BaseException as failure:
                failures.append(failure)
                return otherwise

        return guarded

    def check(self) -> None:
        """Raise what was raised meanwhile where it could not be."""
        if self._failures:
            failure = self._failures[0]
            self._failures.clear()
            raise failure

    def follow(self, eviction: Eviction) -> None:
        """Who leaves, where a policy keeps numbers; they have to stay where they are."""
        # C copies the structure, not the arrays whose addresses are in it: the policy must outlive the table.
        self.library.uh_cache_policy(self.address, ctypes.byref(eviction))

    def read_with(self, reads: IoPool) -> None:
        """Who brings experts; stopped before memory that they write to is let go."""
        self._reads = reads
        self.library.uh_cache_reads(self.address, reads.address)
        # Reader threads write into the slabs: they have to stand still before the memory goes back.
        weakref.finalize(self.slabs, reads.stop)

    def set_plan(self, expert: int, parts: Sequence[int], crcs: Sequence[int], runs: bytes, chunks: bytes) -> None:
        """How these parts of an expert are read. Raises MemoryError."""
        by_part = (ctypes.c_int64 * PARTS)()
        for part, crc in zip(parts, crcs, strict=True):
            by_part[part] = crc
        if self.library.uh_cache_set_plan(
            self.address, expert, sum(1 << part for part in parts), by_part, runs, len(runs) // RUN.size, chunks,
            len(chunks) // CHUNK.size,
        ):  # fmt: skip
            raise MemoryError(msg("no memory for how an expert is read"))

    def pieces(self, expert: int, *, arriving: bool = False) -> list[Piece]:
        """What is held of an expert, or is to be filled."""
        parts, tensors = self._parts, self.slabs.tensors
        self.library.uh_cache_parts(self.address, expert, arriving, parts)
        found = []
        for part in range(PARTS):
            slab, address, nbytes = parts[3 * part : 3 * part + 3]
            if slab >= 0:
                memory = tensors[slab]
                # An offset and not a pointer: slicing the slab's tensor makes a reference that keeps it alive.
                found.append(Piece(part, memory, address - memory.data_ptr(), nbytes))
        return found

    def snapshot(self) -> tuple[bytes, NDArray[np.int64]]:
        """Of every expert the planes held and the number of its latest slab, -1: none."""
        n = len(self._records)
        planes, latest = ctypes.create_string_buffer(n), np.empty(n, np.int64)
        self.library.uh_cache_snapshot(self.address, planes, latest.ctypes.data)
        return planes.raw, latest

    def pending(self) -> list[int]:
        """Experts that are on their way from disk, in the order in which they were asked for."""
        room = array("i", bytes(4 * self.library.uh_cache_pending(self.address, None, 0)))
        n: int = self.library.uh_cache_pending(self.address, room.buffer_info()[0], len(room))
        return room[:n].tolist()

    def ended(self, wait: bool) -> int:
        """How many reads have ended, at most AT_ONCE, for `commit`. wait: for one, Python's lock being free."""
        assert self._reads is not None
        # The only call here that may wait, and so the only one with the interpreter's lock let go of.
        return self._reads.completed_into(ctypes.addressof(self._ends), AT_ONCE, wait)

    @property
    def first_ended(self) -> int:
        """The request that has `ended` first."""
        number: int = self._ends[0].id
        return number

    def commit(self, n: int, awaited: Sequence[int]) -> list[LoadResult]:
        """Put what has `ended` in its place, or take its room back; those awaited are pinned."""
        if len(awaited) > len(self._awaited):
            self._awaited = array("i", [0] * len(awaited))
        for at, expert in enumerate(awaited):
            self._awaited[at] = expert
        arrived = self._results
        self.library.uh_cache_commit(
            self.address, self._ends, n, self._awaited.buffer_info()[0], len(awaited), arrived
        )  # fmt: skip
        return self.results(n)

    def results(self, n: int) -> list[LoadResult]:
        """How those that came in last have ended, one by one."""
        return [LoadResult(a.expert, a.status, a.planes, a.error, a.part, a.urgency, a.awaited, a.parts, a.nbytes, a.ns)
                for a in self._results[:n]]  # fmt: skip

    def commit_completed(self) -> int:
        """See uh_cache_commit_completed, for reads that nobody awaits. What they amount to is in `stats`."""
        n: int = self.library.uh_cache_commit_completed(
            self.address, self._ends, AT_ONCE, self._results, self._stats_at
        )
        return n

    @property
    def ends(self) -> int:
        """Where the ends of up to AT_ONCE reads are written, to be put in place by `commit_step`."""
        # No copy: the buffer lies still for as long as the cache lives, and each call overwrites it.
        return ctypes.addressof(self._ends)

    def commit_step(
        self, base: int, ids: int, awaited: int, *, k: int, ran: int, n_ran: int, n: int, indices: int
    ) -> int:
        """See uh_cache_commit_step; n: of the `ends`. What they amount to is in `stats`."""
        ready: int = self.library.uh_cache_commit_step(
            self.address, base, ids, awaited, k, ran, n_ran, self._ends, n, self._results, indices, self._stats_at
        )  # fmt: skip
        return ready
