"""Native reads ahead of a shelf: what was bet on, row by row, and what became of it."""

from __future__ import annotations

import ctypes
import weakref
from array import array
from collections.abc import Sequence
from functools import lru_cache

from engine.kernels.native import keeping_the_lock
from engine.kernels.shelf import Shelf
from engine.translatable import msg

COUNTS = (
    "started", "used", "joined", "cancelled", "useful", "early", "wasted", "first_said", "first_right",
)  # fmt: skip  # of uh_ahead_counts
MOST = 64  # experts that are expected in one look


@lru_cache(maxsize=1)
def _native() -> ctypes.PyDLL:
    """Called without letting go of Python's lock, which so guards the shelf, too. Raises NativeMissing."""
    library = keeping_the_lock()
    pointer, i32, i64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64
    library.uh_ahead_open.argtypes, library.uh_ahead_open.restype = (pointer, pointer, i32, i32, i32, i32), pointer
    library.uh_ahead_close.argtypes, library.uh_ahead_close.restype = (pointer,), None
    library.uh_ahead_look_at.argtypes, library.uh_ahead_look_at.restype = (pointer,), pointer
    library.uh_ahead_routed.argtypes, library.uh_ahead_routed.restype = (pointer, i32, pointer, i32), None
    library.uh_ahead_look.argtypes = (pointer, i32, pointer, i32, i32, i64)
    library.uh_ahead_look.restype = i64
    library.uh_ahead_spread.argtypes = (pointer, pointer, i32, i32, i64)
    library.uh_ahead_spread.restype = i64
    library.uh_ahead_give_up.argtypes, library.uh_ahead_give_up.restype = (pointer,), None
    return library


class Ahead:
    """See ahead.h, whose functions these are. To be called under the lock of the shelf's cache; nothing is checked.

    layers: by row, addresses of ResidentLayers, which the caller keeps alive. experts: by which the shelf numbers a
    row's. Raises NativeMissing, MemoryError.
    """

    def __init__(self, shelf: Shelf, layers: Sequence[int], experts: int, k: int, depth: int) -> None:
        self._kept = shelf, (ctypes.c_void_p * len(layers))(*layers)
        library = _native()
        opened: int | None = library.uh_ahead_open(shelf.address, self._kept[1], len(layers), experts, k, depth)
        if opened is None:
            raise MemoryError(msg("no memory for what is read ahead"))
        self._at = opened
        counts = library.uh_ahead_look_at(opened)
        self.counts = (ctypes.c_int64 * (len(COUNTS) + 2 * depth)).from_address(counts)
        self._asked, self._chosen = array("i", [0] * MOST), array("q", [0] * MOST)
        self._look, self._spread, self._routed, self._give_up = (
            library.uh_ahead_look,
            library.uh_ahead_spread,
            library.uh_ahead_routed,
            library.uh_ahead_give_up,
        )
        weakref.finalize(self, library.uh_ahead_close, opened)

    def routed(self, row: int, chosen: Sequence[int]) -> None:
        """See uh_ahead_routed."""
        ids = array("q", chosen)
        self._routed(self._at, row, ids.buffer_info()[0], len(ids))

    def look(self, row: int, scores: int, width: int, most: int, room: int) -> int:
        """See uh_ahead_look. scores: their address."""
        found: int = self._look(self._at, row, scores, width, most, room)
        return found

    def spread(self, plan: int, width: int, most: int, room: int) -> int:
        """See uh_ahead_spread. plan: its address."""
        found: int = self._spread(self._at, plan, width, most, room)
        return found

    def give_up(self) -> None:
        """See uh_ahead_give_up."""
        self._give_up(self._at)
