"""Memory for weights: where it lies, what it takes, and that it is given back."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.hardware import probe
from engine.native.memory import HUGE, PAGE, Arena, code_of, forget_code, huge, keep_heap_small

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def resident(address: int, nbytes: int) -> int:
    """Bytes in memory among the mappings that overlap this range (they may reach beyond it)."""
    total, counts = 0, False
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        first = line.split()[0]
        if "-" in first:
            start, end = (int(part, 16) for part in first.split("-"))
            counts = start < address + nbytes and address < end
        elif counts and first == "Rss:":
            total += 1024 * int(line.split()[1])
    return total


@pytest.mark.parametrize("nbytes", [1, PAGE, HUGE - 1, HUGE, 3 * HUGE + 5])
def test_it_is_zero_aligned_and_as_long_as_asked(nbytes: int) -> None:
    tensor = huge(nbytes)
    assert tensor.shape == (nbytes,)
    assert tensor.data_ptr() % (HUGE if nbytes >= HUGE and sys.platform == "linux" else PAGE) == 0
    assert not tensor.any()
    tensor.fill_(7)
    assert tensor.eq(7).all()


@linux
def test_it_takes_no_more_than_asked_and_goes_with_its_last_tensor() -> None:
    tensor = huge(3 * HUGE + 5)
    address = tensor.data_ptr()
    before = resident(address, HUGE)
    tensor.fill_(1)
    assert resident(address, HUGE) - before <= 3 * HUGE + PAGE
    part = tensor[HUGE:]
    del tensor
    assert part.eq(1).all()
    del part
    assert resident(address, HUGE) < HUGE


def filled(arena: Arena, sizes: list[int]) -> list[Tensor]:
    tensors = [arena.take(nbytes) for nbytes in sizes]
    for number, tensor in enumerate(tensors):
        tensor.fill_(number + 1)
    return tensors


def test_cuts_are_page_aligned_and_apart() -> None:
    tensors = filled(Arena(), [1, PAGE, PAGE + 1, HUGE + 3, 300 << 20, 5])
    for number, tensor in enumerate(tensors):
        assert tensor.data_ptr() % PAGE == 0
        assert tensor.eq(number + 1).all()


@linux
def test_what_is_let_go_is_given_back_and_neighbours_stay() -> None:
    tensors = filled(Arena(), [3 * HUGE // 4] * 8)
    address, span = tensors[0].data_ptr(), tensors[-1].data_ptr() - tensors[0].data_ptr()
    before = resident(address, span)
    del tensors[2:6]
    assert before - resident(address, span) == 3 * HUGE
    assert [int(t[-1]) for t in tensors] == [1, 2, 7, 8]
    assert tensors[1].eq(2).all()
    assert tensors[2].eq(7).all()


@linux
def test_a_slice_keeps_the_bytes() -> None:
    (tensor,) = filled(Arena(), [HUGE])
    view = memoryview(tensor.numpy())[PAGE:]
    part = tensor[5:]
    del tensor
    assert part.eq(1).all()
    del part
    assert set(view.tolist()) == {1}


@linux
def test_freed_blocks_leave_no_holes_in_the_heap() -> None:
    """Blocks of a prompt, with something that stays between them, as a model's small tensors and Python objects do."""
    keep_heap_small()
    kept, before = [], probe.rss()
    for _ in range(40):
        blocks = [torch.ones(n << 18) for n in (2, 5, 3)]  # MiB
        kept.append(torch.ones(1 << 12))
        del blocks
    assert probe.rss() - before < 12 << 20
    assert len(kept) == 40


SMAPS = """\
00400000-00500000 r-xp 00001000 fe:00 12 /usr/lib/a b.so
Rss:                  64 kB
Anonymous:             0 kB
00500000-00600000 r-xp 00001000 fe:00 12 /usr/lib/written.so
Anonymous:             4 kB
00600000-00700000 r--p 00001000 fe:00 12 /usr/lib/relocated.so
Anonymous:             0 kB
00700000-00800000 r-xp 00000000 00:00 0
Anonymous:             0 kB
7f00000000-7f00001000 r-xp 00000000 fe:00 13 /bin/c
AnonHugePages:         0 kB
Anonymous:             0 kB
"""


def test_only_code_as_it_lies_on_the_disk_is_let_go_of() -> None:
    assert code_of(SMAPS) == [(0x400000, 0x500000), (0x7F00000000, 0x7F00001000)]


@linux
def test_code_that_was_needed_once_takes_no_memory_and_still_runs() -> None:
    x = torch.randn(40, 40)
    expected, before = torch.linalg.svd(x).S, probe.rss()
    forget_code()
    assert before - probe.rss() > 10 << 20
    assert torch.equal(torch.linalg.svd(x).S, expected)
