"""The loader on real files: what the disk refuses, and memory that outlives its user."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import Kind, UnderhillError
from engine.experts.keys import ExpertKey
from engine.native.memory import huge
from engine.store.reader import Store
from tests.engine.experts.loading.loaders import Asked, Request
from tests.engine.store.tiny_store import LAYERS, SPEC, make, record

PARTS = tuple(range(len(SPEC.layout.parts)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make(tmp_path / "store")


@pytest.fixture(params=["auto", "off"])
def store(path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    with Store.open(path, request.param) as opened:
        yield opened


def ask(asked: Asked, layer: int, expert: int, parts: tuple[int, ...] = PARTS) -> Request:
    """Its memory is page-aligned, as the disk may want it."""
    views = [memoryview(huge(SPEC.layout.parts[index].nbytes).numpy()) for index in parts]
    return asked.submit(Request(ExpertKey(layer, expert), parts, views))


def answered(asked: Asked, *requests: Request) -> None:
    left = set(requests)
    while left:
        handed = asked.take(True)
        assert handed
        left -= set(handed)


@pytest.mark.parametrize("chunk", [4096, 3 * 4096, 1 << 20])
def test_every_expert_is_what_was_written(store: Store, chunk: int) -> None:
    asked = Asked(store, 3, chunk)
    for layer in LAYERS:
        requests = [ask(asked, layer.index, expert) for expert in range(layer.experts)]
        answered(asked, *requests)
        for expert, request in enumerate(requests):
            assert request.error is None
            assert b"".join(map(bytes, request.views)) == record(layer.index, expert).tobytes()
    some = ask(asked, LAYERS[0].index, 1, (0, 2, 3))
    answered(asked, some)
    whole = record(LAYERS[0].index, 1).tobytes()
    for index, view in zip(some.parts, some.views):
        part = SPEC.layout.parts[index]
        assert bytes(view) == whole[part.offset : part.offset + part.nbytes]
    asked.loader.close()


@pytest.mark.skipif(sys.platform == "win32", reason="an open data file is locked against writing there")
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
    asked = Asked(store, 2)
    bad, good = ask(asked, layer, 1), ask(asked, layer, 0)
    answered(asked, bad, good)
    assert good.error is None
    views = [memoryview(huge(part.nbytes).numpy()) for part in SPEC.layout.parts]
    with pytest.raises(UnderhillError) as caught:
        store.read_parts(layer, 1, PARTS, views)
    assert bad.error is not None
    assert (bad.error.kind, bad.error.sentence) == (caught.value.kind, caught.value.sentence)
    os.truncate(file, extent.offset + 4096)
    cut = ask(asked, layer, 1)
    answered(asked, cut)
    assert cut.error is not None
    assert (cut.error.kind, "is cut short" in cut.error.sentence) == (Kind.BROKEN_FILE, True)
    asked.loader.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc/self/mem is Linux'")
def test_what_the_disk_refuses_fails_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory of this process that is not there: a file whose reads end in an input/output error."""
    layer = LAYERS[0].index
    (extent,) = store.extents(layer, 0, PARTS)
    asked, bad_file = Asked(store, 2), os.open("/proc/self/mem", os.O_RDONLY)
    before, handle = ask(asked, layer, 1), extent.file.handle
    answered(asked, before)
    monkeypatch.setattr(extent.file, "_fd", bad_file)
    bad = ask(asked, layer, 0)
    monkeypatch.setattr(extent.file, "_fd", handle)
    good = ask(asked, layer, 2)
    answered(asked, bad, good)
    assert (before.error, good.error) == (None, None)
    assert bad.error is not None
    assert bad.error.kind is Kind.DISK_ERROR
    assert bad.error.sentence == f"The disk could not read expert 0 of layer {layer} (Input/output error)."
    assert isinstance(bad.error.__cause__, OSError)
    assert bad.error.__cause__.errno == errno.EIO
    asked.loader.close()
    os.close(bad_file)


def test_a_closed_file_is_refused(store: Store) -> None:
    asked = Asked(store, 1)
    store.close()
    request = ask(asked, LAYERS[0].index, 0)
    answered(asked, request)
    assert request.error is not None
    assert request.error.kind is Kind.DISK_ERROR
    asked.loader.close()
