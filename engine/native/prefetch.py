"""Native planner of prefetches: what was read in advance, row by row, and what became of it."""

from __future__ import annotations

import ctypes
import weakref
from array import array
from collections.abc import Sequence
from functools import lru_cache

from engine.native.expert_cache import CacheTable
from engine.native.library import load_holding_lock
from engine.translatable import msg

COUNTS = (
    "started", "used", "joined", "cancelled", "useful", "early", "wasted", "first_said", "first_right",
)  # fmt: skip  # of uh_prefetch_counts
MOST_EXPECTED = 64  # experts expected of one row, and read by one call: as in prefetch.c, whose arrays have this length


@lru_cache(maxsize=1)
def _native() -> ctypes.PyDLL:
    """The functions of prefetch.h, called with the interpreter's lock held: it guards the cache's table as well."""
    library = load_holding_lock()
    pointer, i32, i64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64
    # PyDLL: planning a row takes microseconds, and holding the interpreter's lock is what keeps the table still
    # meanwhile.
    library.uh_prefetch_open.argtypes, library.uh_prefetch_open.restype = (
        (pointer, pointer, i32, i32, i32, i32),
        pointer,
    )
    library.uh_prefetch_close.argtypes, library.uh_prefetch_close.restype = (pointer,), None
    library.uh_prefetch_stats.argtypes, library.uh_prefetch_stats.restype = (pointer,), pointer
    library.uh_prefetch_routed.argtypes, library.uh_prefetch_routed.restype = (pointer, i32, pointer, i32), None
    library.uh_prefetch_plan.argtypes = (pointer, i32, pointer, i32, i32, i64)
    library.uh_prefetch_plan.restype = i64
    library.uh_prefetch_plan_all.argtypes = (pointer, pointer, i32, i32, i64)
    library.uh_prefetch_plan_all.restype = i64
    library.uh_prefetch_cancel_all.argtypes, library.uh_prefetch_cancel_all.restype = (pointer,), None
    return library


class PrefetchPlanner:
    """See prefetch.h, whose functions these are. To be called under the lock of the table's cache; nothing is checked.

    layers: by row, addresses of ResidentLayers, which the caller keeps alive. experts: by which the table numbers a
    row's. Raises MemoryError.
    """

    def __init__(self, table: CacheTable, layers: Sequence[int], experts: int, k: int, depth: int) -> None:
        self._kept = table, (ctypes.c_void_p * len(layers))(*layers)
        library = _native()
        # C keeps the array of layer addresses, hence `_kept`; the table is in it so that it is closed after the
        # planner.
        opened: int | None = library.uh_prefetch_open(table.address, self._kept[1], len(layers), experts, k, depth)
        if opened is None:
            raise MemoryError(msg("no memory for what is read ahead"))
        self._at = opened
        counts = library.uh_prefetch_stats(opened)
        # A view into C's memory: no call to read a count, and dangling once the planner is closed.
        self.counts = (ctypes.c_int64 * (len(COUNTS) + 2 * depth)).from_address(counts)
        self._plan, self._plan_all, self._routed, self._cancel_all = (
            library.uh_prefetch_plan,
            library.uh_prefetch_plan_all,
            library.uh_prefetch_routed,
            library.uh_prefetch_cancel_all,
        )
        weakref.finalize(self, library.uh_prefetch_close, opened)

    def routed(self, row: int, chosen: Sequence[int]) -> None:
        """See uh_prefetch_routed."""
        # int64, as a router's ids are, which C compares them with; alive for the length of the call.
        ids = array("q", chosen)
        self._routed(self._at, row, ids.buffer_info()[0], len(ids))

    def plan(self, row: int, scores: int, width: int, most: int, room: int) -> int:
        """See uh_prefetch_plan. scores: their address."""
        found: int = self._plan(self._at, row, scores, width, most, room)
        return found

    def plan_all(self, scores: int, width: int, most: int, room: int) -> int:
        """See uh_prefetch_plan_all. scores: their address."""
        found: int = self._plan_all(self._at, scores, width, most, room)
        return found

    def cancel_all(self) -> None:
        """See uh_prefetch_cancel_all."""
        self._cancel_all(self._at)
