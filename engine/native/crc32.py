"""CRC-32 as zlib computes it, by the C library: faster, and with Python's lock free."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_int, c_int64, c_uint32, c_void_p
from functools import lru_cache
from pathlib import Path

import numpy as np

from engine.native.library import load_library

WAYS = ("table", "clmul", "vclmul")  # as in the C enum, the fastest last


def crc32(data: memoryview, value: int = 0) -> int:
    """The CRC-32 of contiguous bytes behind those whose CRC-32 is `value`. The same numbers as zlib.crc32."""
    return _best()(data, value)


def crc32_rows(data: memoryview, nbytes: int) -> list[int]:
    """The CRC-32 of each row of so many contiguous bytes."""
    return [crc32(data[at : at + nbytes]) for at in range(0, data.nbytes, nbytes)]


def ways(path: Path | None = None) -> tuple[str, ...]:
    """How native code can compute it on this processor, the fastest last."""
    found = load_library(path).uh_crc32_ways()
    return tuple(name for way, name in enumerate(WAYS) if found >> way & 1)


def native(way: str | None = None, path: Path | None = None) -> Callable[[memoryview, int], int]:
    """crc32 by native code. way: one of `ways`; None takes the fastest."""
    if way is not None and way not in ways(path):
        raise ValueError(f"this processor cannot compute checksums by {way}")
    function = load_library(path).uh_crc32
    # CDLL: the interpreter's lock is free meanwhile, or reads and decoding would wait for checksums.
    function.argtypes, function.restype = (c_int, c_uint32, c_void_p, c_int64), c_uint32
    number = -1 if way is None else WAYS.index(way)

    def compute(data: memoryview, value: int = 0) -> int:
        if not data.nbytes:
            return value
        # The array may be gone by then: `data` keeps its buffer where it is until the call returns.
        found: int = function(number, value, np.frombuffer(data, np.uint8).ctypes.data, data.nbytes)
        return found

    return compute


@lru_cache(maxsize=1)
def _best() -> Callable[[memoryview, int], int]:
    return native()
