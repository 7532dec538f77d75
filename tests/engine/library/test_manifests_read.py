"""Opening a model costs what that model costs, however many others the library has, and sees what changed meanwhile."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.library import library, listing
from engine.store import manifest as manifests
from engine.store.reader import load_manifest

Put = Callable[..., Path]
LONG_AGO = 1e9  # seconds since 1970


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whose manifests were read, in that order."""
    names: list[str] = []

    def load(path: Path) -> manifests.Manifest:
        names.append(path.name)
        return load_manifest(path)

    monkeypatch.setattr(listing, "load_manifest", load)
    monkeypatch.setattr(library, "load_manifest", load)
    return names


@pytest.fixture
def three(put: Put) -> list[Path]:
    """Stores that were written long ago."""
    stores = [put(name) for name in ("one", "two", "three")]
    for store in stores:
        age(store)
    return stores


def age(store: Path, seconds: float = LONG_AGO) -> None:
    os.utime(store / manifests.NAME, (seconds, seconds))


def rewrite(store: Path, revision: str) -> None:
    """Another manifest of the same length, written in place."""
    known = load_manifest(store)
    changed = replace(known, source=replace(known.source, repo=revision))
    (store / manifests.NAME).write_bytes(manifests.dumps(changed))


def test_what_was_looked_at_is_not_read_again(three: list[Path], read: list[str]) -> None:
    first = listing.listing()
    assert sorted(read) == ["one", "three", "two"]
    assert listing.listing() == first
    assert library.card(three[0]) == first[0]
    assert len(read) == 3


def test_one_that_is_opened_costs_no_look_at_the_others(three: list[Path], read: list[str]) -> None:
    assert library.prepare("two") == three[1]
    library.card(three[1])
    assert read == ["two"]


def test_one_that_changes_in_place_is_read_again_alone(three: list[Path], read: list[str]) -> None:
    listing.listing()
    rewrite(three[1], "a")
    read.clear()
    assert {card.name: card.source for card in listing.listing()}["two"] == "a"
    assert read == ["two"]
    # Of the same length, and with no later time: within what a file system tells apart.
    written = (three[1] / manifests.NAME).stat().st_mtime
    rewrite(three[1], "b")
    age(three[1], written)
    assert library.card(three[1]).source == "b"


def test_another_store_in_its_place_is_read(three: list[Path], read: list[str], tmp_path: Path) -> None:
    rewrite(three[0], "a")
    age(three[0])
    listing.listing()
    shutil.copytree(three[0], tmp_path / "copy")
    rewrite(tmp_path / "copy", "b")
    age(tmp_path / "copy")  # as long, and with the same time, as after a copy that keeps times
    three[0].rename(tmp_path / "away")
    (tmp_path / "copy").rename(three[0])
    assert library.card(three[0]).source == "b"


def test_what_changes_beside_a_manifest_is_seen(three: list[Path], read: list[str]) -> None:
    before = {card.name: card for card in listing.listing()}
    (three[0] / "more").write_bytes(bytes(1000))
    (three[1] / "dense.safetensors").unlink()
    shutil.rmtree(three[2])
    read.clear()
    after = {card.name: card for card in listing.listing()}
    assert after["one"].disk_bytes == before["one"].disk_bytes + 1000
    assert not after["two"].usable
    assert "three" not in after
    assert read == []


def test_a_name_that_two_folders_have_is_that_of_the_first(put: Put, other: Path) -> None:
    put("m", other)
    assert library.prepare("m") == other / "m"
    mine = put("m")
    assert library.prepare("m") == mine
