"""Files that are replaced whole: by several at once, and after somebody was killed."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

import pytest

from engine.store.atomic import FORGOTTEN, replace_file, replacing


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
