"""Priorities of eviction by the C library: the experts evicted next, and HOBBIT's scores, kept up to date by visits.

Also the unimportance scores of a token's experts (HOBBIT, section 3.2, eq. 2).
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from engine.native.library import load_holding_lock

Array = NDArray[np.float64]
FIRST_OUT = 24  # who leave next are found in one go for so many: more than the reads that a layer begins


class LeastRanked:
    """Called: writes to `found` the numbers of the FIRST_OUT least priorities, the least first and of equals the first,
    and returns how many; infinite ones are none.

    priority: contiguous float64 [n], not to be moved as long as this lives. Raises ValueError.
    """

    def __init__(self, priority: Array) -> None:
        if priority.dtype != np.float64 or priority.ndim != 1 or not priority.flags.c_contiguous:
            raise ValueError(f"{priority.dtype} {priority.shape} is not contiguous float64 [n]")
        self._kept = priority
        self.found = array("i", [0] * FIRST_OUT)
        self._call = _native().uh_first_out
        # Bare addresses, taken once (about a microsecond each): `priority` and `found` are kept here and never move.
        self._given = priority.ctypes.data, priority.size, FIRST_OUT, self.found.buffer_info()[0]

    def __call__(self) -> int:
        """As said."""
        found: int = self._call(*self._given)
        return found


# Field by field as in hobbit.h: ctypes checks nothing, so a change there needs one here and another ABI.
class _HobbitScores(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("scores", "last", "ticks", "priority", "bars", "near", "state", "next")),
        *((name, ctypes.c_double) for name in ("lru", "lfu", "lhu", "visits")),
        ("token", ctypes.c_int64),
        *((name, ctypes.c_int32) for name in ("row", "rows", "experts", "most")),
    )


class HobbitScores:
    """uh_hobbit in hobbit.h. found: who leave first, as many as state says behind `prioritize`.

    scores, last, ticks, bars, priority: contiguous float64 [rows * experts]; near: such [rows + 1, rows]; state: two
    int32. None may be moved as long as this lives. Raises ValueError for other arrays.
    """

    def __init__(
        self, scores: Array, last: Array, ticks: Array, bars: Array, near: Array, priority: Array, *, state: array[int]
    ) -> None:
        rows = near.shape[-1]
        flat = (priority.size,)
        for given, shape in (*((a, flat) for a in (scores, last, ticks, bars, priority)), (near, (rows + 1, rows))):
            if given.dtype != np.float64 or given.shape != shape or not given.flags.c_contiguous:
                raise ValueError(f"{given.dtype} {given.shape} is not contiguous float64 {list(shape)}")
        if priority.size % rows:
            raise ValueError(f"{priority.size} experts in {rows} rows")
        self.found = array("i", [0] * FIRST_OUT)
        self._kept = scores, last, ticks, bars, near, priority, state  # native code is given their addresses
        self._numbers = _HobbitScores(
            *(one.ctypes.data for one in (scores, last, ticks, priority, bars, near)),
            state.buffer_info()[0],
            self.found.buffer_info()[0],
            row=rows,
            rows=rows,
            experts=priority.size // rows,
            most=FIRST_OUT,
        )
        # Kept by the native cache table (EvictionState), which reads it at every eviction: valid while this lives.
        self.address = ctypes.addressof(self._numbers)
        self._native = _native()

    def weigh(self, lru: float, lfu: float, lhu: float) -> None:
        """What recency and use count from now on."""
        self._numbers.lru, self._numbers.lfu, self._numbers.lhu = lru, lfu, lhu

    @property
    def round(self) -> tuple[int, int]:
        """Tokens of the sequence so far, and the row that runs; `rows` before the first."""
        return self._numbers.token, self._numbers.row

    @round.setter
    def round(self, value: tuple[int, int]) -> None:
        self._numbers.token, self._numbers.row = value

    def note(self, row: int, experts: Sequence[int], high: Sequence[bool] | None, tokens: int) -> None:
        """See uh_hobbit_note."""
        # Alive for the length of the call only, which is as long as native code reads them.
        used = array("i", experts)
        fine = None if high is None else bytes(high)
        self._native.uh_hobbit_note(self.address, row, used.buffer_info()[0], fine, len(used), tokens)

    def prioritize(self) -> None:
        """See uh_hobbit_prioritize."""
        self._native.uh_hobbit_prioritize(self.address)


@lru_cache(maxsize=1)
def _native() -> ctypes.PyDLL:
    """Called without letting go of Python's lock: to have it back may take longer than a call."""
    library = load_holding_lock()
    pointer, i32 = ctypes.c_void_p, ctypes.c_int32
    # Without argtypes ctypes would cut addresses to 32 bits.
    library.uh_first_out.argtypes = (pointer, i32, i32, pointer)
    library.uh_hobbit_note.argtypes = (pointer, i32, pointer, ctypes.c_char_p, i32, i32)
    library.uh_hobbit_note.restype = None
    library.uh_hobbit_prioritize.argtypes, library.uh_hobbit_prioritize.restype = (pointer,), None
    library.uh_unimportance.argtypes, library.uh_unimportance.restype = (pointer, i32, i32, pointer, pointer), None
    library.uh_ranks_learn.argtypes = (pointer, pointer, i32, ctypes.c_double, ctypes.c_double)
    library.uh_ranks_learn.restype = None
    return library


def unimportance(weights: Tensor | NDArray[np.floating]) -> NDArray[np.float64]:
    """Scores [..., K] of gate weights [..., K]: the share of gate weight of those of a token's experts that weigh more.

    From 0, for the first, to 1. Weights count by magnitude; of equals the earlier matters more. See uh_unimportance.
    """
    if isinstance(weights, Tensor):
        weights = weights.detach().cpu().float().numpy()
    # The router's own float32, not float64: runtime (C), replay and calibration have to find the same score on the same
    # side of a threshold.
    given = np.ascontiguousarray(weights, np.float32)
    k = given.shape[-1]
    scores, order = np.empty(given.shape), np.empty(k, np.int32)
    if given.size:
        # Five arrays of this frame: they outlive the call. `order` is scratch for the sort, one token at a time.
        _native().uh_unimportance(given.ctypes.data, given.size // k, k, order.ctypes.data, scores.ctypes.data)
    return scores


def learn_ranks(ranks: int, weights: int, k: int, t1: float, t2: float) -> None:
    """See uh_ranks_learn. ranks, weights: addresses, of RankShares and of float32 [k]."""
    _native().uh_ranks_learn(ranks, weights, k, t1, t2)
