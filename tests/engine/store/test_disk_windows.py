"""The arithmetic of unbuffered reads on Windows, which can be checked anywhere."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from engine.store import disk_windows
from engine.store.datafile import TAIL
from engine.store.disk_windows import LONGEST, STRIDE, Bounce, chunks, reads_in_place, scatter
from engine.store.layout import ALIGN


@given(st.integers(0, 2**40), st.integers(1, 3 << 30))
def test_direct_lengths_are_whole_strides_and_cover_the_request(page: int, length: int) -> None:
    offset = page * ALIGN
    parts = chunks(offset, length, direct=True)
    assert parts[0][0] == offset
    assert all(n % STRIDE == 0 and 0 < n <= LONGEST for _, n in parts)
    assert all(a + n == b for (a, n), (b, _) in pairwise(parts))
    end = parts[-1][0] + parts[-1][1]
    assert 0 <= end - (offset + length) < STRIDE


@given(st.integers(1, 1 << 20))
def test_what_is_read_beyond_a_record_is_within_the_padding(pages: int) -> None:
    length = pages * ALIGN
    (_, n), *_ = chunks(0, min(length, LONGEST), direct=True)
    assert n - min(length, LONGEST) <= TAIL


def test_buffered_lengths_are_exact() -> None:
    assert chunks(4096, 5000, direct=False) == [(4096, 5000)]


def test_only_whole_strides_are_read_in_place() -> None:
    whole, odd = memoryview(bytearray(STRIDE)), memoryview(bytearray(ALIGN))
    assert reads_in_place([whole], direct=True)
    assert not reads_in_place([odd], direct=True)
    assert not reads_in_place([whole, whole], direct=True)
    assert reads_in_place([odd], direct=False)


@given(st.lists(st.integers(0, 50), max_size=6), st.integers(0, 400))
def test_scatter_fills_the_buffers_in_turn(sizes: list[int], got: int) -> None:
    source = bytes(range(200)) * 2
    buffers = [bytearray(n) for n in sizes]
    copied = scatter(memoryview(source), got, [memoryview(b) for b in buffers])
    assert copied == min(got, sum(sizes))
    assert b"".join(buffers)[:copied] == source[:copied]
    assert not any(b"".join(buffers)[copied:])


def test_the_bounce_buffer_grows_and_is_kept() -> None:
    bounce = Bounce()
    small = bounce.view(100)
    assert small.nbytes == STRIDE
    big = bounce.view(STRIDE + 1)
    assert big.nbytes == 2 * STRIDE
    big[7] = 9
    assert bounce.view(10)[7] == 9


def test_overlapped_has_the_layout_of_the_system() -> None:
    assert disk_windows.Overlapped.offset.offset == 16
    assert disk_windows.Overlapped.offset_high.offset == 20
    assert disk_windows.Overlapped.event.offset == 24
