"""In which order experts leave a cache, by calls of native code instead of numpy, whose code is cold between layers."""

from __future__ import annotations

import ctypes
from array import array
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.kernels.native import NativeMissing, keeping_the_lock

Array = NDArray[np.float64]
FIRST_OUT = 24  # who leave next are found in one go for so many: more than the reads that a layer begins


class Least:
    """Called: writes to `found` the numbers of the FIRST_OUT least of order, the least first and of equals the first,
    and returns how many; infinite ones are none.

    order: contiguous float64 [n], not to be moved as long as this lives. Raises NativeMissing, ValueError.
    """

    def __init__(self, order: Array) -> None:
        if order.dtype != np.float64 or order.ndim != 1 or not order.flags.c_contiguous:
            raise ValueError(f"{order.dtype} {order.shape} is not contiguous float64 [n]")
        self._kept = order
        self.found = array("i", [0] * FIRST_OUT)
        self._call = _native().uh_first_out
        self._given = order.ctypes.data, order.size, FIRST_OUT, self.found.buffer_info()[0]

    def __call__(self) -> int:
        """As said."""
        found: int = self._call(*self._given)
        return found


@lru_cache(maxsize=1)
def _native() -> ctypes.PyDLL:
    """Called without letting go of Python's lock: to have it back may take longer than a call. Raises NativeMissing."""
    library = keeping_the_lock()
    pointer, i32 = ctypes.c_void_p, ctypes.c_int32
    library.uh_first_out.argtypes = (pointer, i32, i32, pointer)
    return library


def least_where_native(order: Array) -> Least | None:
    """A Least; None where there is no native library."""
    try:
        return Least(order)
    except NativeMissing:
        return None
