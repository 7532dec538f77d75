"""How fast memory can be read, by the threads that compute, from pages as large as weights lie in."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor

from engine.kernels.memory import huge
from engine.kernels.native import NativeKernel, NativeMissing

QUICK = 128 << 20  # bytes, beyond most caches
TURNS = 8


def quickly(threads: int) -> float:
    """Bytes per second that `threads` read in a stream; the middle of a few turns (about 0.1 s)."""
    data = written(QUICK)
    try:
        kernel = NativeKernel(threads)
    except NativeMissing:
        return middle(lambda: data.view(torch.int64).sum(), QUICK)
    try:
        return middle(lambda: kernel.read(data), QUICK)
    finally:
        kernel.close()


def written(nbytes: int) -> Tensor:
    """uint8 [nbytes] of small numbers, whatever they are taken for; written to, or it would be one page of zeros."""
    data = huge(nbytes)
    data.view(torch.int64).fill_(0x1234123412341234)
    return data


def middle(call: Callable[[], object], nbytes: int, turns: int = TURNS) -> float:
    """Bytes per second of the median of a few calls that read so many."""
    taken = []
    for _ in range(turns):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return nbytes / sorted(taken)[turns // 2]
