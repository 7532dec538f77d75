"""Buffers for planes: aligned for direct I/O, and cheap enough for a model with very many of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.experts.buffers import allocate_host


def test_a_buffer_starts_on_a_page_and_reader_and_kernel_see_the_same_bytes() -> None:
    buffer = allocate_host(8192)
    assert buffer.tensor.data_ptr() % 4096 == 0
    assert buffer.view is not None
    buffer.view[5] = 7
    assert int(buffer.tensor[5]) == 7


@pytest.mark.skipif(sys.platform != "linux", reason="counts the mappings that Linux limits")
def test_many_buffers_do_not_each_take_a_mapping_of_their_own() -> None:
    """There may be 65530 in a process; 512 experts of three planes in 48 layers are 73728."""

    def mappings() -> int:
        return len(Path("/proc/self/maps").read_text().splitlines())

    before = mappings()
    held = [allocate_host(65536) for _ in range(500)]
    assert mappings() - before < 50
    assert len(held) == 500
