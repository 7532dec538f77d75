"""What was found out from a file is kept until that changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine import kept_by_mark
from engine.kept_by_mark import KeptByMark


def written(path: Path, text: str, seconds: float = 1e9) -> Path:
    path.write_text(text, encoding="utf-8")
    os.utime(path, (seconds, seconds))  # not just now
    return path


def test_a_file_is_read_again_once_it_has_changed(tmp_path: Path) -> None:
    kept, file = KeptByMark[str](), written(tmp_path / "a", "one")
    read: list[str] = []

    def find_out() -> str:
        read.append(file.read_text(encoding="utf-8"))
        return read[-1]

    assert [kept.of(file, find_out) for _ in range(3)] == ["one"] * 3
    written(file, "two", 1e9 + 1)
    assert [kept.of(file, find_out) for _ in range(3)] == ["two"] * 3
    assert read == ["one", "two"]


def test_nothing_is_kept_of_a_file_that_was_written_just_now(tmp_path: Path) -> None:
    kept = KeptByMark[int]()
    (file := tmp_path / "a").touch()
    assert [kept.of(file, iter((1, 2)).__next__), kept.of(file, lambda: 3)] == [1, 3]
    assert not len(kept)


def test_of_a_file_that_cannot_be_read_it_is_asked_each_time(tmp_path: Path) -> None:
    kept = KeptByMark[int]()
    assert [kept.of(tmp_path / "none", lambda n=n: n) for n in range(2)] == [0, 1]  # type: ignore[misc]
    with pytest.raises(ValueError, match="broken"):
        kept.of(written(tmp_path / "a", "?"), lambda: int("broken"))
    assert not len(kept)


def test_the_files_that_were_read_longest_ago_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_by_mark, "MOST", 2)
    kept, files = KeptByMark[int](), [written(tmp_path / name, name) for name in "abc"]
    for number, file in enumerate(files):
        kept.of(file, lambda n=number: n)  # type: ignore[misc]
    assert [kept.of(file, lambda: 9) for file in (files[1], files[2], files[0])] == [1, 2, 9]
