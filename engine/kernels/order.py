"""In which order experts leave a cache, by calls of native code instead of numpy, whose code is cold between layers."""

from __future__ import annotations

import ctypes
import os
from array import array
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.kernels.build import SOURCES, library_name
from engine.kernels.native import NativeMissing, load_library

Array = NDArray[np.float64]
FIRST_OUT = 24  # who leave next are found in one go for so many: more than the reads that a layer begins


class Order:
    """(row, token): order = scores + ticks + near[row] * token + bars, added in this order; returns what Least says.

    scores, ticks, bars, order: contiguous float64 [rows * experts]; near: by row, such [rows]. None may be moved as
    long as this lives. Raises NativeMissing, and ValueError for other arrays.
    """

    def __init__(self, scores: Array, ticks: Array, bars: Array, near: Sequence[Array], order: Array) -> None:
        rows = near[0].size
        for given, size in (*((a, order.size) for a in (scores, ticks, bars, order)), *((a, rows) for a in near)):
            if given.dtype != np.float64 or given.shape != (size,) or not given.flags.c_contiguous:
                raise ValueError(f"{given.dtype} {given.shape} is not contiguous float64 [{size}]")
        if order.size % rows:
            raise ValueError(f"{order.size} experts in {rows} rows")
        self._kept = scores, ticks, bars, near, order  # native code is given their addresses
        self._call = _native().uh_order
        self._given = scores.ctypes.data, ticks.ctypes.data, bars.ctypes.data
        self._near = [one.ctypes.data for one in near]
        self.found = array("i", [0] * FIRST_OUT)
        self._rest = rows, order.size // rows, order.ctypes.data, FIRST_OUT, self.found.buffer_info()[0]

    def __call__(self, row: int, token: float) -> list[int]:
        """Write `order`."""
        return self.found[: self._call(*self._given, self._near[row], token, *self._rest)].tolist()


class Least:
    """Called: numbers of the FIRST_OUT least of order, the least first and of equals the first; infinite ones are none.

    order: contiguous float64 [n], not to be moved as long as this lives. Raises NativeMissing, ValueError.
    """

    def __init__(self, order: Array) -> None:
        if order.dtype != np.float64 or order.ndim != 1 or not order.flags.c_contiguous:
            raise ValueError(f"{order.dtype} {order.shape} is not contiguous float64 [n]")
        self._kept = order
        self.found = array("i", [0] * FIRST_OUT)
        self._call = _native().uh_first_out
        self._given = order.ctypes.data, order.size, FIRST_OUT, self.found.buffer_info()[0]

    def __call__(self) -> list[int]:
        """As said."""
        return self.found[: self._call(*self._given)].tolist()


@lru_cache(maxsize=1)
def _native() -> ctypes.PyDLL:
    """Called without letting go of Python's lock: to have it back may take longer than a call. Raises NativeMissing."""
    load_library()
    library = ctypes.PyDLL(str(SOURCES / library_name(os.name == "nt")))
    pointer, i32 = ctypes.c_void_p, ctypes.c_int32
    library.uh_order.argtypes = (*[pointer] * 4, ctypes.c_double, i32, i32, pointer, i32, pointer)
    library.uh_first_out.argtypes = (pointer, i32, i32, pointer)
    return library


def order_where_native(scores: Array, ticks: Array, bars: Array, near: Sequence[Array], order: Array) -> Order | None:
    """An Order; None where there is no native library."""
    try:
        return Order(scores, ticks, bars, near, order)
    except NativeMissing:
        return None


def least_where_native(order: Array) -> Least | None:
    """A Least; None where there is no native library."""
    try:
        return Least(order)
    except NativeMissing:
        return None
