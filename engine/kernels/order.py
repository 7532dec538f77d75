"""In which order experts leave a cache, by one call of native code instead of four of numpy."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.kernels.build import SOURCES, library_name
from engine.kernels.native import NativeMissing, load_library

Array = NDArray[np.float64]


class Order:
    """(row, token): order = scores + ticks + near[row] * token + bars, added in this order.

    scores, ticks, bars, order: contiguous float64 [rows * experts]; near: by row, such [rows]. None may be moved as
    long as this lives. Raises NativeMissing, and ValueError for other arrays.
    """

    def __init__(self, scores: Array, ticks: Array, bars: Array, near: Sequence[Array], order: Array) -> None:
        rows = near[0].size
        for array, size in (*((a, order.size) for a in (scores, ticks, bars, order)), *((a, rows) for a in near)):
            if array.dtype != np.float64 or array.shape != (size,) or not array.flags.c_contiguous:
                raise ValueError(f"{array.dtype} {array.shape} is not contiguous float64 [{size}]")
        if order.size % rows:
            raise ValueError(f"{order.size} experts in {rows} rows")
        self._kept = scores, ticks, bars, near, order  # native code is given their addresses
        self._call = _native()
        self._given = scores.ctypes.data, ticks.ctypes.data, bars.ctypes.data
        self._near = [array.ctypes.data for array in near]
        self._shape_and_order = rows, order.size // rows, order.ctypes.data

    def __call__(self, row: int, token: float) -> None:
        """Write `order`."""
        self._call(*self._given, self._near[row], token, *self._shape_and_order)


@lru_cache(maxsize=1)
def _native() -> Callable[..., None]:
    """Called without letting go of Python's lock: to have it back may take longer than the call."""
    load_library()
    function = ctypes.PyDLL(str(SOURCES / library_name(os.name == "nt"))).uh_order
    pointer, i32 = ctypes.c_void_p, ctypes.c_int32
    function.argtypes, function.restype = (*[pointer] * 4, ctypes.c_double, i32, i32, pointer), None
    return function


def order_where_native(scores: Array, ticks: Array, bars: Array, near: Sequence[Array], order: Array) -> Order | None:
    """An Order; None where there is no native library."""
    try:
        return Order(scores, ticks, bars, near, order)
    except NativeMissing:
        return None
