"""Reading a store: the right bytes, checked, from many threads, with direct I/O and without."""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import Kind, UnderhillError
from engine.record.layout import ALIGN
from engine.store import disk
from engine.store.reader import Store
from tests.engine.store.tiny_store import DENSE, LAYERS, SPEC, dense_bytes, make, read, record

posix = pytest.mark.skipif(sys.platform == "win32", reason="files are not read by PosixFile there")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make(tmp_path / "model")


@pytest.mark.parametrize("direct", ["auto", "off"])
def test_every_record_comes_back(direct: str, path: Path) -> None:
    with Store.open(path, direct) as store:
        assert store.layers == (1, 3)
        for x in LAYERS:
            assert store.experts(x.index) == x.experts
            for e in range(x.experts):
                assert read(store, x.index, e) == record(x.index, e).tobytes()


# parts, and how many of them each read takes: of a tier, of what raises it, of some in any order
READS = [((0, 1), [2]), ((1, 2, 3), [3]), ((1, 2, 4, 5), [2, 2]), ((2, 3), [2]), ((4, 5), [2]), ((3,), [1]),
         ((5, 0, 1), [1, 2])]  # fmt: skip


@pytest.mark.parametrize(("parts", "reads"), READS)
def test_parts_that_follow_one_another_are_one_read(
    parts: tuple[int, ...], reads: list[int], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = record(3, 1).tobytes()
    stored = [SPEC.layout.parts[index] for index in parts]
    with Store.open(path, "off") as store:
        calls = []
        file = type(store.extents(3, 1, parts)[0].file)
        original = file.read

        def counting(self: disk.DataFile, offset: int, buffers: Sequence[memoryview]) -> int:
            calls.append(len(buffers))
            return original(self, offset, buffers)

        monkeypatch.setattr(file, "read", counting)
        assert read(store, 3, 1, parts) == b"".join(whole[p.offset : p.offset + p.nbytes] for p in stored)
        assert calls == reads
        extents = store.extents(3, 1, parts)
    assert [len(extent.parts) for extent in extents] == reads
    assert [extent.nbytes for extent in extents] == [sum(SPEC.layout.parts[i].nbytes for i in e.parts) for e in extents]


def test_what_was_read_by_other_means_can_be_checked(path: Path) -> None:
    with Store.open(path, "off") as store:
        for extent in store.extents(1, 2, (1, 2, 4, 5)):
            bytes_ = bytearray(extent.nbytes)
            assert extent.file.read(extent.offset, [memoryview(bytes_)]) == extent.nbytes
            ends = np.cumsum([SPEC.layout.parts[index].nbytes for index in extent.parts])
            views = [memoryview(bytes_)[end - SPEC.layout.parts[i].nbytes : end] for i, end in zip(extent.parts, ends)]
            store.check(1, 2, extent.parts, views)
            views[-1][7] ^= 1
            name = SPEC.layout.parts[extent.parts[-1]].name
            with pytest.raises(UnderhillError, match=f"expert 2 of layer 1 .part {name}.") as caught:
                store.check(1, 2, extent.parts, views)
            assert caught.value.kind is Kind.BROKEN_FILE


@posix
def test_short_reads_are_continued(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(path, "off") as store:
        preadv = disk.os.preadv

        def short(fd: int, buffers: Sequence[memoryview], offset: int) -> int:
            return preadv(fd, [buffers[0][:1000]], offset)

        monkeypatch.setattr(disk.os, "preadv", short)
        assert read(store, 1, 2) == record(1, 2).tobytes()


def test_dense_tensors_come_back_in_their_type(path: Path) -> None:
    with Store.open(path) as store:
        assert set(store.dense) == {t.name for t in DENSE}
        for t in DENSE:
            got = store.dense.get(t.name)
            assert tuple(got.shape) == t.shape
            assert got.reshape(-1).view(torch.uint8).numpy().tobytes() == dense_bytes(t)
        assert store.dense.has("norm")
        assert not store.dense.has("lm_head")
        with pytest.raises(UnderhillError, match="lm_head") as caught:
            store.dense.get("lm_head")
        assert caught.value.kind is Kind.MISSING_FILE


def test_many_threads_read_at_once(path: Path) -> None:
    wanted = [(x.index, e) for x in LAYERS for e in range(x.experts)] * 20
    with Store.open(path) as store, ThreadPoolExecutor(8) as pool:
        for (layer, e), got in zip(wanted, pool.map(lambda key: read(store, *key), wanted)):
            assert got == record(layer, e).tobytes()


def test_sizes(path: Path) -> None:
    with Store.open(path) as store:
        assert store.expert_bytes() == 5 * SPEC.layout.nbytes
        for tier in (2, 4, 8):
            assert store.expert_bytes(tier) == 5 * SPEC.layout.bytes_for(tier)
        assert all(r.offset % ALIGN == 0 for layer in store.manifest.layers for r in layer.records)


def test_buffers_of_the_wrong_length_are_refused(path: Path) -> None:
    with Store.open(path, "off") as store, pytest.raises(ValueError, match="buffers"):
        store.read_parts(1, 0, [0], [memoryview(bytearray(100))])


# ---- direct I/O ---------------------------------------------------------------------------------------------------


def no_direct(monkeypatch: pytest.MonkeyPatch) -> None:
    original = disk.os.open

    def refuse(name: Any, flags: int, *rest: Any) -> int:
        if flags & disk.os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument")
        return original(name, flags, *rest)

    monkeypatch.setattr(disk.os, "open", refuse)


@posix
def test_where_the_disk_has_no_direct_io_the_store_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no_direct(monkeypatch)
    with Store.open(path, "auto") as store:
        assert store.io_mode == "buffered"
        assert "direct I/O" in store.io_note
        assert read(store, 1, 1) == record(1, 1).tobytes()


@posix
def test_direct_io_that_is_insisted_on_fails_where_there_is_none(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no_direct(monkeypatch)
    with pytest.raises(UnderhillError) as caught:
        Store.open(path, "on")
    assert caught.value.kind is Kind.DISK_ERROR


def test_buffered_reads_on_request_are_no_cause_for_a_note(path: Path) -> None:
    with Store.open(path, "off") as store:
        assert (store.io_mode, store.io_note) == ("buffered", "")


@posix
def test_a_file_system_that_refuses_only_the_read_is_found_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = disk.PosixFile.read

    def refuse(self: disk.PosixFile, offset: int, buffers: Sequence[memoryview]) -> int:
        if self.direct:
            raise OSError(errno.EINVAL, "Invalid argument")
        return original(self, offset, buffers)

    monkeypatch.setattr(disk.PosixFile, "read", refuse)
    with Store.open(path, "auto") as store:
        assert store.io_mode == "buffered"
        assert read(store, 3, 0) == record(3, 0).tobytes()


# ---- damage -------------------------------------------------------------------------------------------------------


def flip(path: Path, offset: int) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= 0x40
    path.write_bytes(data)


@pytest.mark.parametrize("part", range(6))
def test_one_flipped_bit_in_a_part_is_found_and_named(part: int, path: Path) -> None:
    with Store.open(path) as store:
        offset = store.manifest.layers[1].records[1].offset
    p = SPEC.layout.parts[part]
    flip(path / "experts-00003.safetensors", offset + p.offset + np.random.default_rng(part).integers(p.nbytes))
    with Store.open(path) as store:
        with pytest.raises(UnderhillError, match=f"expert 1 of layer 3 .part {p.name}.") as caught:
            read(store, 3, 1)
        assert caught.value.kind is Kind.BROKEN_FILE
        assert read(store, 3, 0) == record(3, 0).tobytes()
        others = [index for index in range(6) if index != part]
        assert len(read(store, 3, 1, others)) == SPEC.layout.nbytes - p.nbytes


def test_a_damaged_dense_tensor_is_named(path: Path) -> None:
    with Store.open(path) as store:
        offset = store.dense.entry("embed").offset
    flip(path / "dense.safetensors", offset + 11)
    with Store.open(path) as store:
        with pytest.raises(UnderhillError, match="tensor embed") as caught:
            store.dense.get("embed")
        assert caught.value.kind is Kind.BROKEN_FILE
        store.dense.get("norm")


@pytest.mark.parametrize("name", ["experts-00001.safetensors", "dense.safetensors"])
def test_a_truncated_file_is_noticed_when_opening(name: str, path: Path) -> None:
    data = (path / name).read_bytes()
    (path / name).write_bytes(data[: len(data) - (65536 if "experts" in name else 1)])
    with pytest.raises(UnderhillError, match=f"{name} is cut short") as caught:
        Store.open(path)
    assert caught.value.kind is Kind.BROKEN_FILE


@pytest.mark.skipif(sys.platform == "win32", reason="an open data file is locked against writing there")
def test_a_file_that_shrinks_while_open_is_noticed(path: Path) -> None:
    with Store.open(path) as store:
        with (path / "experts-00001.safetensors").open("r+b") as file:
            file.truncate(store.manifest.layers[0].records[2].offset + ALIGN)
        with pytest.raises(UnderhillError, match="expert 2 of layer 1 is cut short"):
            read(store, 1, 2)


@pytest.mark.parametrize("name", ["experts-00003.safetensors", "dense.safetensors"])
def test_a_missing_file_is_named(name: str, path: Path) -> None:
    (path / name).unlink()
    with pytest.raises(UnderhillError, match=name) as caught:
        Store.open(path)
    assert caught.value.kind is Kind.MISSING_FILE


def test_a_failing_disk_is_told_from_a_damaged_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(path) as store:

        def fail(*_: object) -> int:
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(type(store.extents(1, 0, [0])[0].file), "read", fail)
        with pytest.raises(UnderhillError, match="expert 0 of layer 1") as caught:
            read(store, 1, 0)
    assert caught.value.kind is Kind.DISK_ERROR


def test_not_a_store(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UnderhillError) as caught:
            Store.open(path)
        assert caught.value.kind is Kind.NOT_A_MODEL
