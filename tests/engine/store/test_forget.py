"""What is read once leaves no copy in the system's file cache."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.store.dense import AHEAD
from engine.store.disk import PosixFile
from engine.store.reader import Store
from tests.engine.store.tiny_store import DENSE, make

linux = pytest.mark.skipif(sys.platform != "linux", reason="posix_fadvise drops pages on Linux")


def cached_pages(path: Path) -> int:
    """Pages of a file that the system holds."""
    size = path.stat().st_size
    with path.open("rb") as file, mmap.mmap(file.fileno(), size, mmap.MAP_PRIVATE) as mapping:
        found = (ctypes.c_ubyte * (-(-size // mmap.PAGESIZE)))()
        first = ctypes.c_char.from_buffer(mapping)
        assert ctypes.CDLL(None).mincore(ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(size), found) == 0
        del first
        return sum(page & 1 for page in found)


@linux
def test_a_file_that_was_read_buffered_is_no_longer_held(tmp_path: Path) -> None:
    kind = subprocess.run(
        ["stat", "-f", "-c", "%T", tmp_path], capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout
    if kind.strip() in ("tmpfs", "ramfs", "overlayfs"):
        pytest.skip(f"{kind.strip()} has no file cache of its own to drop")
    path = tmp_path / "data"
    with path.open("wb") as written:
        written.write(b"x" * (4 << 20))
        written.flush()
        os.fsync(written.fileno())
    file = PosixFile(path, direct=False)
    try:
        assert file.read(0, [memoryview(bytearray(4 << 20))]) == 4 << 20
        assert cached_pages(path) == 1024
        file.forget(0, 4 << 20)
        assert cached_pages(path) == 0
    finally:
        file.close()


@linux
def test_every_dense_tensor_is_forgotten_once_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forgotten = []
    monkeypatch.setattr(PosixFile, "forget", lambda self, offset, nbytes: forgotten.append((offset, nbytes)))
    with Store.open(make(tmp_path / "model")) as store:
        for tensor in DENSE:
            store.dense.get(tensor.name)
        entries = [store.dense.entry(tensor.name) for tensor in DENSE]
    assert forgotten == [(e.offset, e.nbytes + AHEAD) for e in entries if e.nbytes]
