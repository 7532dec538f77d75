"""How a read is cut: nothing left out, nothing read twice, lengths that the disk likes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.experts.chunks import CHUNK, Chunk, cut, read
from engine.store.disk_windows import STRIDE, WindowsFile, reads_in_place
from engine.store.layout import ALIGN
from tests.engine.experts.slow_disk import SlowDisk

PARTS = st.lists(st.integers(1, 40).map(lambda pages: pages * ALIGN), min_size=1, max_size=6)


@settings(deadline=None)  # it makes files
@given(PARTS, st.data(), st.integers(1, 90), st.sampled_from([(ALIGN, True), (STRIDE, WindowsFile.scatters)]))
def test_chunks_read_exactly_what_is_asked_for(
    sizes: list[int], data: st.DataObject, pages: int, file: tuple[int, bool]
) -> None:
    disk = SlowDisk(2, sizes, stride=file[0], scatters=file[1])
    parts = data.draw(st.lists(st.integers(0, len(sizes) - 1), unique=True, min_size=1).map(sorted))
    views = disk.views(parts)
    extents = disk.extents(0, 1, parts)
    chunks = cut(extents, views, pages * ALIGN)
    for chunk in chunks:
        assert chunk.start % ALIGN == 0
        assert chunk.nbytes == sum(b - a for _, a, b in chunk.slices) > 0
        assert read(chunk, extents, views) == chunk.nbytes
    assert sum(chunk.nbytes for chunk in chunks) == sum(sizes[i] for i in parts)
    assert [bytes(view) for view in views] == [disk.stored(1, i) for i in parts]


def test_the_chunks_of_a_read_are_about_equal() -> None:
    disk = SlowDisk(1, [147 * 4096, 256 * 4096, 250 * 4096])
    lengths = [chunk.nbytes for chunk in cut(disk.extents(0, 0, (0, 1, 2)), disk.views())]
    assert len(lengths) == 2  # of 2.67 MB
    assert max(lengths) - min(lengths) < 4 * ALIGN
    (alone,) = cut(disk.extents(0, 0, (2,)), disk.views((2,)))
    assert alone.nbytes < CHUNK


@settings(deadline=None)
@given(PARTS)
def test_windows_copies_no_more_than_the_last_chunk_of_a_part(sizes: list[int]) -> None:
    disk = SlowDisk(1, sizes, stride=STRIDE, scatters=WindowsFile.scatters)
    views = disk.views()

    def in_place(chunk: Chunk) -> bool:
        return reads_in_place([views[view][a:b] for view, a, b in chunk.slices], direct=True)

    chunks = cut(disk.extents(0, 0, range(len(sizes))), views, 4 * STRIDE)
    copied = [chunk.nbytes for chunk in chunks if not in_place(chunk)]
    assert len(copied) <= len(sizes)
    assert all(n <= 7 * STRIDE for n in copied)


def test_views_of_other_lengths_are_refused() -> None:
    disk = SlowDisk(1, [ALIGN, ALIGN, ALIGN])
    with pytest.raises(ValueError, match="bytes for"):
        cut(disk.extents(0, 0, (0, 1)), disk.views((0,)))
    with pytest.raises(ValueError, match="3 views for 2 parts"):
        cut(disk.extents(0, 0, (0, 1)), disk.views())
