"""A lock between processes: one at a time, and whoever is done with it does not fail because another looks at it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.errors import Kind, UnderhillError
from engine.store.lock import FileLock


def test_one_at_a_time_and_nothing_is_left(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with FileLock(path, "It"):
        with pytest.raises(UnderhillError, match="already in progress") as caught, FileLock(path, "It"):
            pass
        assert caught.value.kind is Kind.BUSY
    assert not path.exists()
    with FileLock(path, "It"):
        pass


def test_on_windows_a_file_that_another_has_open_stays_and_locks_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lock"

    def opened_by_another(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "The process cannot access the file because it is being used by another process")

    with monkeypatch.context() as windows:
        windows.setattr(sys, "platform", "win32")
        windows.setitem(sys.modules, "msvcrt", SimpleNamespace(LK_NBLCK=2, locking=lambda *_: None))
        windows.setattr(Path, "unlink", opened_by_another)
        with FileLock(path, "It"):
            pass
    assert path.exists()
    with FileLock(path, "It"):
        pass
    assert not path.exists()
