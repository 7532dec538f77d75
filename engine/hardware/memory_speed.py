"""How fast memory can be read, by the threads that compute, from pages as large as weights lie in."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from engine.hardware.load import turns
from engine.kernels.native import NativeKernel
from engine.native.memory import huge

QUICK = 128 << 20  # bytes, beyond most caches
TURNS = 8
PIECES = 4  # of them, each a turn: what takes a millisecond or two is seldom disturbed


def quickly(threads: int) -> float:
    """Bytes per second that `threads` read in a stream; the middle of a few turns that nobody disturbed (about 0.1 s,
    and up to a second where other programs hold the processor)."""
    data = written(QUICK)
    pieces = data.split(max(1, QUICK // PIECES))
    kernel = NativeKernel(threads)
    try:
        return len(pieces[0]) / turns([partial(kernel.read, piece) for piece in pieces], threads, TURNS * PIECES)
    finally:
        kernel.close()


def written(nbytes: int) -> Tensor:
    """uint8 [nbytes] of small numbers, whatever they are taken for; written to, or it would be one page of zeros."""
    data = huge(nbytes)
    data.view(torch.int64).fill_(0x1234123412341234)
    return data
