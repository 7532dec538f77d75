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


def test_what_waits_is_cut_for_other_lengths_only_where_much_does_or_nothing_else_helps() -> None:
    pool = BufferPool(100 * PAGE)
    held = pool.take([4 * PAGE] * 25)
    assert held is not None
    address = held[0].address
    pool.give(held[:1])
    assert pool.take([PAGE]) is not None  # four of a hundred are too many to lie idle
    assert pool.take([PAGE]) is not None
    assert pool.take([PAGE]) is None  # two are left as they are
    last = pool.take([PAGE, PAGE], anew=True)
    assert last is not None
    assert {buffer.address - address for buffer in last} == {2 * PAGE, 3 * PAGE}
    assert pool.total == pool.in_use == 100 * PAGE


def test_neighbours_that_come_back_are_one_again_and_nothing_was_overwritten() -> None:
    pool = BufferPool(12 * PAGE)
    whole = pool.take([4 * PAGE] * 3)
    assert whole is not None
    pool.give(whole[1:2])
    parts = pool.take([PAGE, 2 * PAGE, PAGE], anew=True)
    assert parts is not None
    for number, buffer in enumerate((whole[0], *parts, whole[2])):
        buffer.tensor.fill_(number + 1)
        assert buffer.view is not None
        assert bytes(buffer.view) == bytes([number + 1]) * buffer.nbytes
    assert [int(buffer.tensor.float().mean()) for buffer in (whole[0], *parts, whole[2])] == [1, 2, 3, 4, 5]
    for index in (2, 0, 1):
        pool.give([parts[index]])
    again = pool.take([4 * PAGE])
    assert again is not None
    assert again[0].address == whole[1].address


def test_room_in_pieces_is_no_room_for_what_is_longer_and_whole_blocks_make_way_for_it() -> None:
    pool = BufferPool(8 * PAGE)
    held = pool.take([PAGE] * 8)
    assert held is not None
    pool.give(held[:3])
    assert pool.take([2 * PAGE]) is not None  # two blocks of one page went back to the system
    assert pool.total == 8 * PAGE
    assert pool.take([2 * PAGE], anew=True) is None
    pool.capacity = 5 * PAGE
    pool.shrink(pool.capacity)
    assert pool.total == 7 * PAGE
    pool.give(held[3:])
    assert pool.total == 5 * PAGE
