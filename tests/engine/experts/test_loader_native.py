"""The native loader on real files: who gets it, what the disk refuses, and memory that outlives its user."""

from __future__ import annotations

import errno
import gc
import os
import sys
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.errors import Kind, UnderhillError
from engine.experts import opening
from engine.experts.keys import ExpertKey
from engine.experts.loader import Loader
from engine.experts.loader_native import NativeLoader
from engine.experts.loader_threads import ThreadLoader
from engine.experts.opening import open_loader
from engine.experts.request import Request, Urgency
from engine.kernels.choice import available
from engine.kernels.memory import huge
from engine.kernels.native import NativeMissing
from engine.store.reader import Store
from tests.engine.experts.loaders import native
from tests.engine.experts.slow_disk import SlowDisk
from tests.engine.store.tiny_store import LAYERS, SPEC, make, record
from tests.waiting import LONGEST

pytestmark = pytest.mark.skipif(not available().native, reason="no native library")
PARTS = tuple(range(len(SPEC.layout.parts)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make(tmp_path / "store")


@pytest.fixture(params=["auto", "off"])
def store(path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    with Store.open(path, request.param) as opened:
        yield opened


def ask(loader: Loader, layer: int, expert: int, parts: tuple[int, ...] = PARTS) -> Request:
    """Its memory is page-aligned, as the disk may want it."""
    views = [memoryview(huge(SPEC.layout.parts[index].nbytes).numpy()) for index in parts]
    return loader.submit(ExpertKey(layer, expert), parts, views)


def answered(loader: Loader, *requests: Request) -> None:
    left = set(requests)
    while left:
        handed = loader.wait()
        assert handed
        left -= set(handed)


def test_it_is_native_for_stores_and_python_where_that_cannot_be(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise NativeMissing("the library was not built")

    loaders = [open_loader(store, 2), open_loader(SlowDisk(1, (4096,)), 2)]
    monkeypatch.setattr(opening, "NativeLoader", missing)
    loaders.append(open_loader(store, 2))
    assert [type(loader) for loader in loaders] == [NativeLoader, ThreadLoader, ThreadLoader]
    for loader in loaders:
        loader.close()


@pytest.mark.parametrize("chunk", [4096, 3 * 4096, 1 << 20])
def test_every_expert_is_what_was_written(store: Store, chunk: int) -> None:
    loader = NativeLoader(store, 3, chunk)
    for layer in LAYERS:
        requests = [ask(loader, layer.index, expert) for expert in range(layer.experts)]
        answered(loader, *requests)
        for expert, request in enumerate(requests):
            assert request.error is None
            assert b"".join(map(bytes, request.views)) == record(layer.index, expert).tobytes()
    some = ask(loader, LAYERS[0].index, 1, (0, 2, 3))
    answered(loader, some)
    whole = record(LAYERS[0].index, 1).tobytes()
    for index, view in zip(some.parts, some.views):
        part = SPEC.layout.parts[index]
        assert bytes(view) == whole[part.offset : part.offset + part.nbytes]
    loader.close()


def test_the_store_s_own_words_for_damage(store: Store, path: Path) -> None:
    layer = LAYERS[0].index
    (extent,) = store.extents(layer, 1, PARTS)
    file = next(f for f in path.iterdir() if record(layer, 1).tobytes() in f.read_bytes())
    with file.open("r+b") as opened:
        at = extent.offset + SPEC.layout.parts[1].offset + 70
        opened.seek(at)
        byte = opened.read(1)[0]
        opened.seek(at)
        opened.write(bytes([byte ^ 4]))
    loader = NativeLoader(store, 2)
    bad, good = ask(loader, layer, 1), ask(loader, layer, 0)
    answered(loader, bad, good)
    assert good.error is None
    views = [memoryview(huge(part.nbytes).numpy()) for part in SPEC.layout.parts]
    with pytest.raises(UnderhillError) as caught:
        store.read_parts(layer, 1, PARTS, views)
    assert bad.error is not None
    assert (bad.error.kind, bad.error.sentence) == (caught.value.kind, caught.value.sentence)
    os.truncate(file, extent.offset + 4096)
    cut = ask(loader, layer, 1)
    answered(loader, cut)
    assert cut.error is not None
    assert (cut.error.kind, "is cut short" in cut.error.sentence) == (Kind.BROKEN_FILE, True)
    loader.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc/self/mem is Linux'")
def test_what_the_disk_refuses_fails_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory of this process that is not there: a file whose reads end in an input/output error."""
    layer = LAYERS[0].index
    (extent,) = store.extents(layer, 0, PARTS)
    loader, bad_file = NativeLoader(store, 2), os.open("/proc/self/mem", os.O_RDONLY)
    before, handle = ask(loader, layer, 1), extent.file.handle
    answered(loader, before)
    monkeypatch.setattr(extent.file, "_fd", bad_file)
    bad = ask(loader, layer, 0)
    monkeypatch.setattr(extent.file, "_fd", handle)
    good = ask(loader, layer, 2)
    answered(loader, bad, good)
    assert (before.error, good.error) == (None, None)
    assert bad.error is not None
    assert bad.error.kind is Kind.DISK_ERROR
    assert bad.error.sentence == f"The disk could not read expert 0 of layer {layer} (Input/output error)."
    assert isinstance(bad.error.__cause__, OSError)
    assert bad.error.__cause__.errno == errno.EIO
    loader.close()
    os.close(bad_file)


def test_a_closed_file_is_refused(store: Store) -> None:
    loader = NativeLoader(store, 1)
    store.close()
    request = ask(loader, LAYERS[0].index, 0)
    answered(loader, request)
    assert request.error is not None
    assert request.error.kind is Kind.DISK_ERROR
    loader.close()


def test_memory_is_not_let_go_before_the_readers_have_put_it_down() -> None:
    disk = SlowDisk(2, (4096,) * 3)
    disk.file.gate.clear()
    loader = native(disk, 2)
    array = np.zeros(4096, np.uint8)
    ended: list[bool] = []
    weakref.finalize(array, lambda: ended.append(disk.file.gate.is_set()))
    loader.submit(ExpertKey(0, 0), (0,), [memoryview(array)], Urgency.PREFETCH)
    del array
    assert disk.file.started.acquire(timeout=LONGEST)
    gc.collect()
    time.sleep(0.02)
    assert not ended
    disk.file.gate.set()
    del loader  # unclosed: waits for the reader first
    gc.collect()
    assert ended == [True]


def test_what_cannot_be_written_to_is_refused(store: Store) -> None:
    loader = NativeLoader(store, 1)
    views = [memoryview(bytes(part.nbytes)) for part in SPEC.layout.parts]
    with pytest.raises(TypeError, match="not writable"):
        loader.submit(ExpertKey(LAYERS[0].index, 0), PARTS, views)
    assert loader.idle
    loader.close()
