"""The chat database in every bad state: nothing is deleted, and there is a sentence for each."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from app.storage.database_thread import explain, open_store
from app.storage.records import Chat, new_id
from app.storage.schema import STEPS
from app.storage.store import ChatStore


def test_a_new_folder_is_made(tmp_path: Path) -> None:
    store, problem = open_store(tmp_path / "a" / "b" / "chats.db")
    assert problem is None
    store.close()
    assert (tmp_path / "a" / "b" / "chats.db").exists()


@pytest.mark.parametrize("damage", ["garbage", "truncated", "torn page"])
def test_a_damaged_file_is_kept_and_a_new_one_begun(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "chats.db"
    store = ChatStore(path)
    for number in range(300):
        store.create(Chat(id=new_id(), title=f"chat {number} " + "x" * 300))
    store.close()
    whole = path.read_bytes()
    if damage == "garbage":
        broken = b"this is no database at all" * 100
    elif damage == "truncated":
        broken = whole[: len(whole) // 2]
    else:
        broken = whole[:8192] + b"\xff" * 8192 + whole[16384:]
    path.write_bytes(broken)
    store, problem = open_store(path)
    assert problem is not None
    assert problem.kind == "corrupt"
    aside = [p for p in tmp_path.iterdir() if "damaged" in p.name and p.suffix == ".db"]
    assert len(aside) == 1
    assert aside[0].read_bytes() == broken
    assert aside[0].name in problem.action
    store.create(Chat(id=new_id(), title="new life"))
    assert [c.title for c in store.chats()] == ["new life"]
    store.close()


def test_two_damaged_files_on_one_day_are_both_kept(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    for number in range(2):
        path.write_bytes(b"no database %d" % number * 500)
        store, _ = open_store(path)
        store.close()
    assert len([p for p in tmp_path.iterdir() if "damaged" in p.name and p.suffix == ".db"]) == 2


def test_a_newer_file_is_left_alone_and_chats_live_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    ChatStore(path).close()
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {len(STEPS) + 3}")
    db.close()
    before = path.read_bytes()
    store, problem = open_store(path)
    assert problem is not None
    assert problem.kind == "newer"
    assert "aren't saved" in problem.action
    store.create(Chat(id=new_id(), title="for now"))
    assert len(store.chats()) == 1
    store.close()
    assert path.read_bytes() == before


def test_a_file_that_another_program_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "chats.db"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    holder.execute("CREATE TABLE t (x)")
    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda p, timeout, **k: real(p, timeout=0.05, **k))
    store, problem = open_store(path)
    assert problem is not None
    assert problem.kind == "busy"
    assert "Close other" in problem.action
    store.close()
    holder.close()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    store, problem = open_store(tmp_path / "chats.db")
    tmp_path.chmod(0o700)
    assert problem is not None
    assert problem.kind == "denied"
    store.close()


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    store, problem = open_store(tmp_path / "data" / "chats.db")
    assert problem is not None
    assert "saved" in problem.sentence + problem.action
    store.create(Chat(id=new_id(), title="still works"))
    store.close()


def test_a_full_disk_says_so(tmp_path: Path) -> None:
    store = ChatStore(tmp_path / "chats.db")
    store.db.execute("PRAGMA max_page_count = 20")
    big = Chat(id=new_id(), title="x" * 200_000)
    with pytest.raises(sqlite3.OperationalError) as caught:
        store.create(big)
    problem = explain(caught.value, tmp_path / "chats.db")
    assert problem.kind == "full"
    assert "Free some space" in problem.action
    assert store.check() == "ok"
    store.close()


def test_every_problem_has_an_action(tmp_path: Path) -> None:
    import errno

    for error in (OSError(errno.ENOSPC, "x"), PermissionError(errno.EACCES, "x"), OSError(errno.EIO, "x")):
        problem = explain(error, tmp_path / "chats.db")
        assert problem.sentence.endswith(".")
        assert problem.action
