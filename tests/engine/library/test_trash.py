"""Deleting and undoing: nothing is lost before its week is over, and half of a model never comes back."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import Kind, UnderhillError
from engine.library import library, trash
from engine.store.writer import store_lock
from tests.engine.formats.tiny_checkpoint import contents, write_checkpoint
from tests.engine.library.test_folders import refused

Put = Callable[..., Path]


def test_a_deleted_model_comes_back_as_it_was(put: Put, models: Path) -> None:
    whole = contents(put("m"))
    assert library.delete("m")
    assert library.cards() == ()
    (deleted,) = trash.deleted()
    assert (deleted.name, deleted.folder) == ("m", str(models))
    assert deleted.nbytes == sum(map(len, whole.values()))
    assert abs(deleted.deleted_at - time.time()) < 60
    assert trash.restore("m") == models / "m"
    assert contents(models / "m") == whole
    assert trash.deleted() == ()


def test_each_folder_has_its_own_trash_and_the_latest_comes_back(put: Put, models: Path, other: Path) -> None:
    put("m")
    library.delete("m")
    put("m", other)
    library.delete("m")
    assert [d.folder for d in trash.deleted()] == [str(other), str(models)]
    assert trash.restore("m") == other / "m"
    assert trash.nbytes(other) == 0
    assert trash.nbytes(models) > 0


def test_a_name_that_was_taken_meanwhile(put: Put, models: Path) -> None:
    put("m")
    library.delete("m")
    put("m")
    assert "under another name" in refused(Kind.BAD_REQUEST, lambda: trash.restore("m")).action
    assert trash.restore("m", "older") == models / "older"
    assert "trash is empty" in refused(Kind.NOT_A_MODEL, lambda: trash.restore("m")).action


def test_deleting_now_and_deleting_what_is_unfinished_leaves_nothing(put: Put, models: Path) -> None:
    put("m")
    put("half.partial")
    put("copied.copy")
    for name in ("m", "half", "copied"):
        assert not library.delete(name, now=name == "m")
    assert os.listdir(models) == []


def test_what_is_older_than_a_week_goes(put: Put, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put("old")
    library.delete("old")
    now = time.time()
    for day in range(7):
        monkeypatch.setattr(trash.time, "time", lambda: now + day * 86400)  # noqa: B023
        library.tidy()
    monkeypatch.setattr(trash.time, "time", lambda: now + 6.9 * 86400)
    put("new")
    library.delete("new")
    library.tidy()
    assert {d.name for d in trash.deleted()} == {"old", "new"}
    monkeypatch.setattr(trash.time, "time", lambda: now + 7.1 * 86400)
    library.tidy()
    assert [d.name for d in trash.deleted()] == ["new"]


def test_a_clock_that_was_set_back_deletes_nothing(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    put("m")
    library.delete("m")
    monkeypatch.setattr(trash.time, "time", lambda: 0.0)
    library.tidy()
    assert [d.name for d in trash.deleted()] == ["m"]


def test_emptying_says_what_it_freed(put: Put, models: Path) -> None:
    size = sum(map(len, contents(put("m")).values()))
    library.delete("m")
    assert trash.empty() == size
    assert os.listdir(models) == []


def test_half_of_a_model_never_comes_back(put: Put, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put("m")
    library.delete("m")

    def killed(path: Path) -> None:
        next(path.glob("experts-*")).unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            trash.empty()
    assert trash.deleted() == ()
    refused(Kind.NOT_A_MODEL, lambda: trash.restore("m"))
    library.tidy()
    assert os.listdir(models) == []


def test_a_model_that_is_being_written_is_not_deleted(put: Put, models: Path) -> None:
    put("m")
    with store_lock(models / "m"):
        refused(Kind.BUSY, lambda: library.delete("m"))
    assert [c.name for c in library.cards()] == ["m"]


def test_a_disk_that_refuses_leaves_the_model(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    put("m")

    def refuse(path: Path, target: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", refuse)
        refused(Kind.DISK_ERROR, lambda: library.delete("m"))
    assert [c.name for c in library.cards()] == ["m"]


def test_a_full_disk_says_what_the_trash_holds(put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put("m")
    source = write_checkpoint(tmp_path / "source", layers=1, experts=2)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr("engine.store.writer.shutil.disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(UnderhillError) as caught:
        library.add(source, "n")
    assert "trash" not in caught.value.action
    library.delete("m")
    error = refused(Kind.DISK_FULL, lambda: library.add(source, "n"))
    assert "Emptying the trash frees" in error.action
