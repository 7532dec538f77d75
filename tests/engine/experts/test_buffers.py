"""Buffers for parts: aligned for direct I/O, cheap enough for a model with very many of them, and really freed."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import psutil
import pytest

from engine.experts.buffers import BufferPool, host_allocator
from engine.kernels.memory import PAGE


def test_a_buffer_starts_on_a_page_and_reader_and_kernel_see_the_same_bytes() -> None:
    buffer = host_allocator()(8192)
    assert buffer.tensor.data_ptr() % 4096 == 0
    assert buffer.view is not None
    buffer.view[5] = 7
    assert int(buffer.tensor[5]) == 7


@pytest.mark.skipif(sys.platform != "linux", reason="counts the mappings that Linux limits")
def test_many_buffers_do_not_each_take_a_mapping_of_their_own() -> None:
    """There may be 65530 in a process; 512 experts of three parts in 48 layers are 73728."""

    def mappings() -> int:
        return len(Path("/proc/self/maps").read_text().splitlines())

    before, allocate = mappings(), host_allocator()
    held = [allocate(65536) for _ in range(500)]
    assert mappings() - before < 50
    assert len(held) == 500


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the resident size says something else")
def test_a_lowered_capacity_gives_memory_back_to_the_system() -> None:
    process, size = psutil.Process(), 1_900_000 // 4096 * 4096
    pool = BufferPool(64 * size)
    gc.collect()  # or what earlier tests left is given back meanwhile
    before = process.memory_info().rss
    held = pool.take([size] * 64)
    assert held is not None
    for buffer in held:
        buffer.tensor.fill_(1)
    del buffer
    full = process.memory_info().rss - before
    assert 64 * size <= full < 64 * size + (4 << 20)
    for place in range(0, 64, 2):
        pool.give([held[place]])
    held = held[1::2]
    pool.capacity = 32 * size
    pool.shrink(pool.capacity)
    assert process.memory_info().rss - before < 32 * size + (4 << 20)
    assert all(int(buffer.tensor[-1]) == 1 for buffer in held)


def test_buffers_of_other_lengths_are_freed_for_a_new_one_only_where_many_wait_or_nothing_else_helps() -> None:
    pool = BufferPool(100 * PAGE)
    held = pool.take([PAGE] * 99)
    small = pool.take([PAGE])
    assert held is not None
    assert small is not None
    pool.give(held[:2])
    assert pool.take([2 * PAGE]) is None  # two of a hundred are left as they are
    assert pool.total == 100 * PAGE
    larger = pool.take([2 * PAGE], anew=True)
    assert larger is not None
    assert pool.total == 100 * PAGE
    pool.give(held[2:6])
    assert pool.take([2 * PAGE]) is not None  # four are too many to lie idle
    assert pool.total <= 100 * PAGE
