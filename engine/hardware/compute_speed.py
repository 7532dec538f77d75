"""How fast the kernels that will run compute with experts: as a share of the memory's rate, and of many tokens."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from engine.hardware.load import turns, working
from engine.kernels.activation import Activation
from engine.kernels.call import Parts, Work
from engine.kernels.native import NativeKernel
from engine.native.memory import huge
from engine.record.layout import UNITS_AT, ExpertSpec

QUICK = 128 << 20  # bytes, beyond most caches
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


SPEC = ExpertSpec(2048, 768, 8)  # of Qwen3-30B-A3B, as usual a size as there is
SILU = Activation()
K = 8  # experts of a token
MEMORY = 256 << 20  # bytes of experts, beyond any cache
PIECE = 32 << 20  # bytes of them that are read in a turn
# Tokens that an expert of a prompt computes at once. Its codes are spread out first where they are more than 4, which
# few tokens pay dearly for; from the last of these on it is products alone.
COUNTS = (2, 4, 8, 16, 32, 128)
TURNS = 8  # passes of which the median counts


class Experts:
    """Experts to compute with, all made of the same numbers, so many that no cache holds them."""

    def __init__(self) -> None:
        length = SPEC.layout.nbytes
        self._memory = written(MEMORY)
        self._records = [self._memory[at : at + length] for at in range(0, MEMORY - length + 1, length)]
        ones = torch.ones(len(SPEC.matrices))
        for record in self._records:
            at = SPEC.layout.head.offset + UNITS_AT
            record[at : at + 4 * len(ones)] = ones.view(torch.uint8)

    def share(self, kernel: NativeKernel, tier: int, memory_rate: float, threads: int) -> float:
        """Bytes that one token's experts take a second, over this rate of memory.

        What computing takes for a byte beside reading the same memory in between is its own, however fast memory just
        then is.
        """
        layers = [self._layer(first, tier) for first in range(0, len(self._records) // K * K, K)]
        x, out = torch.randn(1, SPEC.hidden), torch.empty(K, SPEC.hidden)
        nbytes, pieces = K * SPEC.layout.bytes_for(tier), self._memory.split(PIECE)
        runs = [partial(kernel.run, SPEC, SILU, work, x, K, out) for work in layers]
        computing = turns(runs, threads, TURNS * len(layers))
        reading = turns([partial(kernel.read, piece) for piece in pieces], threads, TURNS * len(pieces))
        added = computing / nbytes - reading / len(pieces[0])
        # A byte takes 1 / rate to come and `added` to be computed with; against 1 / rate that is this share. Never
        # above 1: nobody computes with what has not come.
        return 1 / (1 + memory_rate * max(0.0, added))

    def products(self, kernel: NativeKernel, threads: int, tier: int = 4) -> dict[int, float]:
        """Weights times tokens that a prompt's experts multiply in a second, by how many tokens each has at once: of
        weights that are near, for coming from memory counts apart."""
        return {tokens: self._products(kernel, tier, tokens, threads) for tokens in COUNTS}

    def _products(self, kernel: NativeKernel, tier: int, tokens: int, threads: int) -> float:
        # All eight are one and the same expert, whose record stays in the processor's caches.
        near = Parts(SPEC, self._parts(0), tier)
        work = [Work(near, range(rank, tokens * K, K)) for rank in range(K)]
        x, out = torch.randn(tokens, SPEC.hidden), torch.empty(tokens * K, SPEC.hidden)
        fastest = working(lambda: kernel.run(SPEC, SILU, work, x, K, out), threads, TURNS)
        return K * SPEC.parameters * tokens / fastest

    def _layer(self, first: int, tier: int) -> list[Work]:
        return [Work(Parts(SPEC, self._parts(first + rank), tier), [rank]) for rank in range(K)]

    def _parts(self, index: int) -> dict[int, Tensor]:
        record = self._records[index]
        return {part.index: record[part.offset : part.offset + part.nbytes] for part in SPEC.layout.parts}
