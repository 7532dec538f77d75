"""Unbuffered reads as Windows wants them: the arithmetic, and the file itself on a Windows that is only played."""

from __future__ import annotations

import mmap
import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import Kind, UnderhillError
from engine.experts.loading.loader import packed
from engine.native.io_pool import CHUNK
from engine.record.layout import ALIGN
from engine.store import disk_windows, reader
from engine.store.datafile import TAIL
from engine.store.disk_windows import LONGEST, STRIDE, Bounce, WindowsFile, chunks, reads_in_place, scatter
from engine.store.reader import Store
from tests.engine.store.fake_windows import ERROR_CRC, FakeWindows
from tests.engine.store.tiny_store import LAYERS, SPEC, make, read, record


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


# ---- the file itself, on a played Windows ---------------------------------------------------------------------------


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> FakeWindows:
    """Stores are opened as Windows opens them."""
    if os.name == "nt":
        pytest.skip("this is Windows itself")
    system = FakeWindows()
    monkeypatch.setattr(reader, "open_file", lambda path, direct: WindowsFile(path, direct, system))
    return system


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make(tmp_path / "store")


@pytest.mark.parametrize("direct", ["on", "off"])
def test_a_store_is_read_as_on_other_systems(direct: str, path: Path, windows: FakeWindows) -> None:
    with Store.open(path, direct) as store:
        assert store.io_mode == ("direct" if direct == "on" else "buffered")
        for layer in LAYERS:
            for expert in range(layer.experts):
                assert read(store, layer.index, expert) == record(layer.index, expert).tobytes()
    assert not windows.open


def test_what_native_readers_are_asked_for_keeps_to_the_rules(path: Path, windows: FakeWindows) -> None:
    """The chunks that they are given, read here by the same file in their place."""
    parts = tuple(range(len(SPEC.layout.parts)))
    sizes = [part.nbytes for part in SPEC.layout.parts]
    with Store.open(path, "on") as store:
        for layer in LAYERS:
            for expert in range(layer.experts):
                extents, memory = store.extents(layer.index, expert, parts), [mmap.mmap(-1, size) for size in sizes]
                for start, nbytes, into, run, part in CHUNK.iter_unpack(packed(extents, sizes, ALIGN)):
                    view = memoryview(memory[part])[into : into + nbytes]
                    assert extents[run].file.read(extents[run].offset + start, [view]) == nbytes
                assert b"".join(bytes(m) for m in memory) == record(layer.index, expert).tobytes()
    assert windows.reads
    assert all(offset % ALIGN == 0 and length % STRIDE == 0 for offset, length in windows.reads)


def test_a_file_that_shrinks_and_a_disk_that_fails_are_told(path: Path, windows: FakeWindows) -> None:
    with Store.open(path, "on") as store:
        windows.failing = ERROR_CRC
        with pytest.raises(UnderhillError, match="could not read expert 1 of layer 1") as caught:
            read(store, 1, 1)
        assert caught.value.kind is Kind.DISK_ERROR
        windows.failing = 0
        os.truncate(path / "experts-00001.safetensors", store.manifest.layers[0].records[2].offset)
        with pytest.raises(UnderhillError, match="expert 2 of layer 1 is cut short"):
            read(store, 1, 2)
        assert read(store, 1, 1) == record(1, 1).tobytes()


def test_a_missing_file_is_told(path: Path, windows: FakeWindows) -> None:
    (path / "experts-00003.safetensors").unlink()
    with pytest.raises(UnderhillError) as caught:
        Store.open(path)
    assert caught.value.kind is Kind.MISSING_FILE
    assert not windows.open
