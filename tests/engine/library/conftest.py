"""A home folder and stores that are quickly made."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.convert.importer import import_checkpoint
from engine.library import folders, home
from tests.engine.formats.tiny_checkpoint import write_checkpoint


@pytest.fixture(scope="session")
def made_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store to copy from; nobody changes it."""
    place = tmp_path_factory.mktemp("made")
    return import_checkpoint(write_checkpoint(place / "source", layers=2, experts=4), place / "store")


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for models in an empty home."""
    monkeypatch.setenv(home.HOME, str(tmp_path / "home"))
    folders.own().mkdir(parents=True)
    return folders.own()


@pytest.fixture
def other(models: Path, tmp_path: Path) -> Path:
    """A second folder of the library."""
    folders.add(tmp_path / "other disk")
    return tmp_path / "other disk"


@pytest.fixture
def put(made_store: Path, models: Path) -> Callable[..., Path]:
    """Puts a store of a name into a folder."""

    def place(name: str, folder: Path = models) -> Path:
        return Path(shutil.copytree(made_store, folder / name))

    return place
