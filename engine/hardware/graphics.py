"""Graphics cards that can be used now, and how fast bytes get to them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.hardware.machine import Gpu

if TYPE_CHECKING:
    from torch import Tensor

SENT = 256 << 20  # bytes of one copy
TURNS = 3  # copies, of which the fastest counts: the first one makes the driver set things up


def gpus() -> tuple[Gpu, ...]:
    """CUDA devices that can be used now, with their free memory; empty without CUDA."""
    return tuple(card for _, card in _usable())


def measured() -> tuple[Gpu, ...]:
    """The same with their rates. A card too full for the copy keeps rates of 0."""
    found = []
    for index, card in _usable():
        with contextlib.suppress(RuntimeError):
            card = replace(
                card, pinned=_rate(index, pinned=True), pageable=_rate(index, pinned=False), rate=_own_rate(index)
            )
        found.append(card)
    return tuple(found)


def _usable() -> Iterator[tuple[int, Gpu]]:
    """(number, card)."""
    import torch

    for i in range(torch.cuda.device_count() if torch.cuda.is_available() else 0):
        with contextlib.suppress(RuntimeError):  # a card that cannot be used now (held by another, driver in trouble)
            free, total = torch.cuda.mem_get_info(i)
            unified = bool(torch.cuda.get_device_properties(i).is_integrated)
            yield i, Gpu(torch.cuda.get_device_name(i), int(total), int(free), unified=unified)


def _rate(index: int, *, pinned: bool) -> float:
    import torch

    return SENT / _fastest(index, torch.ones(SENT, dtype=torch.uint8, pin_memory=pinned))


def _own_rate(index: int) -> float:
    """Read and written again on the card itself."""
    import torch

    # Twice: the card reads and writes every byte.
    return 2 * SENT / _fastest(index, torch.empty(SENT, dtype=torch.uint8, device=f"cuda:{index}"))


def _fastest(index: int, source: Tensor) -> float:
    """Seconds that a copy to the card takes."""
    import torch

    device = torch.empty(SENT, dtype=torch.uint8, device=f"cuda:{index}")
    best = float("inf")
    for _ in range(TURNS):
        torch.cuda.synchronize(index)
        start = time.perf_counter()
        device.copy_(source)
        torch.cuda.synchronize(index)
        best = min(best, time.perf_counter() - start)
    return best
