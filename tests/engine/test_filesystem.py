"""Files that are replaced whole: by several at once, and after somebody was killed."""

from __future__ import annotations

import errno
import ntpath
import os
import sys
from pathlib import Path
from threading import Thread, Timer
from types import SimpleNamespace

import pytest

from engine import filesystem
from engine.errors import Kind, UnderhillError
from engine.filesystem import FORGOTTEN, put_in_place, replace_file, replacing
from engine.store.output import writing


def test_two_who_write_one_file_at_once_both_come_to_their_end(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    replace_file(path, b"before")
    with replacing(path) as slow:
        slow.write_bytes(b"slow, the first ha")
        _in_another_thread(path, b"fast")
        assert path.read_bytes() == b"fast"
        slow.write_bytes(b"slow, whole")
    assert path.read_bytes() == b"slow, whole"
    assert [p.name for p in tmp_path.iterdir()] == ["settings.json"]


def test_where_writing_fails_what_stood_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    replace_file(path, b"before")
    with pytest.raises(FileNotFoundError), replacing(path) as temporary:
        temporary.with_name("nowhere").rename(temporary)
    assert path.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["settings.json"]


@pytest.mark.skipif(sys.platform != "win32", reason="only Windows limits paths to 260 characters")
def test_a_tree_is_removed_however_long_its_paths_are(tmp_path: Path) -> None:
    deep = filesystem.of_any_length(tmp_path / "tree")
    for _ in range(8):
        deep /= "a folder whose name is as long as names of packages are"
    deep.mkdir(parents=True)
    (deep / "LICENSE").write_text("mine", encoding="utf-8")
    assert len(str(deep)) > 400
    filesystem.remove_tree(tmp_path / "tree")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "form"),
    [
        (r"C:\Users\a", r"\\?\C:\Users\a"),
        (r"\\nas\models\a", r"\\?\UNC\nas\models\a"),
        (r"\\?\C:\a", r"\\?\C:\a"),
    ],
)  # fmt: skip
def test_a_path_of_any_length(monkeypatch: pytest.MonkeyPatch, path: str, form: str) -> None:
    monkeypatch.setattr(filesystem, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.setattr(os.path, "abspath", ntpath.normpath)
    assert str(filesystem.of_any_length(Path(path))) == form
    assert filesystem.as_people_write_it(form) == path.removeprefix("\\\\?\\")


@pytest.mark.parametrize("form", [r"\\?\C:\models\a", r"C:\models\a"])
def test_what_could_not_be_removed_is_named_as_people_write_it(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, "in use", form)

    monkeypatch.setattr(filesystem.shutil, "rmtree", refuse)
    with pytest.raises(PermissionError) as told:
        filesystem.remove_tree(Path("a"))
    assert told.value.filename == r"C:\models\a"


def test_a_directory_that_cannot_be_replaced_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("new", "model"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    rename = os.replace

    def refuses_the_new_one(source: Path, target: Path) -> None:
        if source.name == "new":
            raise OSError(errno.EIO, "the disk refused")
        rename(source, target)

    monkeypatch.setattr(os, "replace", refuses_the_new_one)
    with pytest.raises(OSError, match="the disk refused"):
        put_in_place(tmp_path / "new", tmp_path / "model")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "new"]
    assert (tmp_path / "model" / "model").exists()


def test_what_a_killed_writer_left_goes_in_time_and_nothing_else_does(tmp_path: Path) -> None:
    path, names = tmp_path / "a.json", ("a.json.7-7.tmp", "a.json.8-8.tmp", "a.json.txt", "b.json.7-7.tmp")
    for name in names:
        (tmp_path / name).write_bytes(b"x")
        old = (tmp_path / name).stat().st_mtime - 2 * FORGOTTEN
        if name != "a.json.8-8.tmp":  # somebody is writing to it just now
            os.utime(tmp_path / name, (old, old))
    replace_file(path, b"new")
    assert {p.name for p in tmp_path.iterdir()} == {"a.json", *names[1:]}


def _in_another_thread(path: Path, data: bytes) -> None:
    thread = Thread(target=replace_file, args=(path, data))
    thread.start()
    thread.join()


@pytest.mark.parametrize("number", [5, 32, 33])
def test_a_file_that_is_open_elsewhere_for_a_moment_is_replaced_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    path, tries = tmp_path / "settings.json", _refuse(monkeypatch, "replace", 3, number)
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert len(tries) == 4
    assert [p.name for p in tmp_path.iterdir()] == ["settings.json"]


def test_a_file_that_stays_open_elsewhere_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _refuse(monkeypatch, "replace", 1000, 32)
    path = tmp_path / "settings.json"
    with pytest.raises(UnderhillError) as refused, writing(tmp_path):
        filesystem.replace(tmp_path, path, 0.05)
    assert refused.value.sentence == f"{tmp_path} is open in another app or protected."
    assert refused.value.kind is Kind.DISK_ERROR


def test_what_is_wrong_otherwise_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = _refuse(monkeypatch, "replace", 3, 0)
    with pytest.raises(PermissionError):
        filesystem.replace(tmp_path, tmp_path / "b")
    assert len(tries) == 1


def test_a_tree_with_an_open_file_goes_once_that_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tmp_path / "model"
    (tree / "layers").mkdir(parents=True)
    for name in ("a", "b"):
        (tree / "layers" / name).write_bytes(b"x")
    tries = _refuse(monkeypatch, "rmdir", 2, 145)
    filesystem.remove_tree(tree)
    assert not tree.exists()
    assert len(tries) == 4


@pytest.mark.skipif(sys.platform != "win32", reason="no other system refuses it")
def test_windows_waits_for_another_that_reads(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    replace_file(path, b"before")
    reader = path.open("rb")
    Timer(0.3, reader.close).start()
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    with path.open("rb"), pytest.raises(PermissionError) as refused:
        filesystem.replace(path, tmp_path / "elsewhere", 0.05)
    assert filesystem.is_open_elsewhere(refused.value)
    reader = path.open("rb")
    Timer(0.3, reader.close).start()
    filesystem.remove_tree(tmp_path)
    assert not tmp_path.exists()


def _refuse(monkeypatch: pytest.MonkeyPatch, name: str, times: int, number: int) -> list[object]:
    """Have a function of os fail so many times as Windows does; returns what it was called with."""
    real, calls = getattr(os, name), list[object]()

    def act(*arguments: object, **more: object) -> object:
        calls.append(arguments)
        if len(calls) > times:
            return real(*arguments, **more)
        error = PermissionError(errno.EACCES, "as Windows says it", str(arguments[0]))
        if number:
            error.winerror = number  # type: ignore[attr-defined,unused-ignore]
        raise error

    monkeypatch.setattr(os, name, act)
    return calls
