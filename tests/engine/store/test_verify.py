"""Verification reads every byte and names everything that is damaged, not only the first."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.store.reader import Store
from engine.store.verify import verify
from tests.engine.store.tiny_store import make


@pytest.fixture
def path(tmp_path: Path) -> Path:
    copied = tmp_path / "tokenizer.json"
    copied.write_text("{}", encoding="utf-8")
    return make(tmp_path / "model", (copied,))


def flip(path: Path, offset: int) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= 1
    path.write_bytes(data)


def test_an_intact_store_has_nothing_wrong(path: Path) -> None:
    seen: list[tuple[int, int]] = []
    assert verify(path, lambda done, total: seen.append((done, total))) == ()
    assert seen[-1][0] == seen[-1][1] > 0


def test_everything_damaged_is_named(path: Path) -> None:
    with Store.open(path) as store:
        first, second = (store.manifest.layers[i].records[i].offset for i in (0, 1))
        dense = store.dense.entry("embed").offset
    flip(path / "experts-00001.safetensors", first + 5)
    flip(path / "experts-00003.safetensors", second + 4096 + 5)
    flip(path / "dense.safetensors", dense)
    flip(path / "experts-00003.safetensors", 20)
    flip(path / "tokenizer.json", 0)
    problems = "\n".join(verify(path))
    for name in ("expert 0 of layer 1", "expert 1 of layer 3", "tensor embed", "header", "tokenizer.json"):
        assert name in problems
    assert len(problems.splitlines()) == 5


def test_a_missing_small_file_is_named(path: Path) -> None:
    (path / "tokenizer.json").unlink()
    assert verify(path) == ("tokenizer.json is missing from the model.",)
