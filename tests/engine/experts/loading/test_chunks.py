"""How a read is cut: nothing left out, nothing read twice, lengths that the disk likes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.experts.loading.loader import CHUNK, packed
from engine.native.io_pool import CHUNK as PACKED
from engine.record.layout import ALIGN
from engine.store.disk_windows import STRIDE, WindowsFile, reads_in_place
from tests.engine.experts.loading.slow_disk import SlowDisk

PARTS = st.lists(st.integers(1, 40).map(lambda pages: pages * ALIGN), min_size=1, max_size=6)


def cut(disk: SlowDisk, parts: Sequence[int], sizes: Sequence[int], target: int = CHUNK) -> list[tuple[int, ...]]:
    """Of a read of these parts of the last expert: start, bytes, where in its part, run, and which of the parts."""
    return list(PACKED.iter_unpack(packed(disk.extents(0, 1, parts), sizes, target)))


@settings(deadline=None)  # it makes files
@given(PARTS, st.data(), st.integers(1, 90), st.sampled_from([(ALIGN, True), (STRIDE, WindowsFile.scatters)]))
def test_chunks_read_exactly_what_is_asked_for(
    sizes: list[int], data: st.DataObject, pages: int, file: tuple[int, bool]
) -> None:
    disk = SlowDisk(2, sizes, stride=file[0], scatters=file[1])
    parts = data.draw(st.lists(st.integers(0, len(sizes) - 1), unique=True, min_size=1).map(sorted))
    of_parts = [sizes[part] for part in parts]
    extents = disk.extents(0, 1, parts)
    read = [bytearray(size) for size in of_parts]
    for start, nbytes, into, run, part in cut(disk, parts, of_parts, pages * ALIGN):
        assert start % ALIGN == 0
        assert nbytes > 0
        at = extents[run].offset + start
        while nbytes:  # it goes on into the next parts of its run
            n = min(nbytes, of_parts[part] - into)
            assert n == nbytes or file[1]
            read[part][into : into + n] = disk.file.content[at : at + n]
            at, nbytes, into, part = at + n, nbytes - n, 0, part + 1
    assert [bytes(one) for one in read] == [disk.stored(1, part) for part in parts]


def test_the_chunks_of_a_read_are_about_equal() -> None:
    sizes = [147 * 4096, 256 * 4096, 250 * 4096]
    disk = SlowDisk(2, sizes)
    lengths = [nbytes for _, nbytes, *_ in cut(disk, (0, 1, 2), sizes)]
    assert len(lengths) == 2  # of 2.67 MB
    assert max(lengths) - min(lengths) < 4 * ALIGN
    ((_, alone, *_),) = cut(disk, (2,), sizes[2:])
    assert alone < CHUNK


@settings(deadline=None)
@given(PARTS)
def test_windows_copies_no_more_than_the_last_chunk_of_a_part(sizes: list[int]) -> None:
    disk = SlowDisk(2, sizes, stride=STRIDE, scatters=WindowsFile.scatters)
    views = disk.views()
    chunks = cut(disk, range(len(sizes)), sizes, 4 * STRIDE)
    copied = [n for _, n, a, _, part in chunks if not reads_in_place([views[part][a : a + n]], direct=True)]
    assert len(copied) <= len(sizes)
    assert all(n <= 7 * STRIDE for n in copied)


def test_room_of_other_lengths_is_refused() -> None:
    disk = SlowDisk(2, [ALIGN, ALIGN, ALIGN])
    with pytest.raises(ValueError, match="bytes for"):
        cut(disk, (0, 1), [ALIGN])
    with pytest.raises(ValueError, match="3 places for 2 parts"):
        cut(disk, (0, 1), [ALIGN] * 3)
