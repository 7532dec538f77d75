"""A clock that jumps ages nothing: neither deleted chats nor deleted models go before their time has been lived."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.storage.records import Chat
from app.storage.store import TRASH_DAYS, ChatStore
from engine.library import library, trash
from engine.lived_time import DAY, NAME, look
from tests.engine.formats.tiny_checkpoint import write_checkpoint

NOW = 1.7e9
YEAR = 365 * DAY


def days(folder: Path, start: float, count: int) -> float:
    """A look on each of so many days; the time of the last one."""
    for day in range(1, count + 1):
        look(folder, start + day * DAY)
    return start + count * DAY


def test_time_that_is_looked_at_passes(tmp_path: Path) -> None:
    look(tmp_path, NOW)
    end = days(tmp_path, NOW, 30)
    assert look(tmp_path, end).since(NOW) == 30 * DAY


def test_a_jump_forward_counts_as_a_day(tmp_path: Path) -> None:
    look(tmp_path, NOW)
    assert look(tmp_path, NOW + YEAR).since(NOW) == DAY
    assert look(tmp_path, NOW + YEAR + 5).since(NOW) == DAY + 5


def test_a_clock_that_is_set_right_again_has_lost_nothing(tmp_path: Path) -> None:
    look(tmp_path, NOW)
    look(tmp_path, NOW + YEAR)
    assert look(tmp_path, NOW + 60).since(NOW) == 60
    assert look(tmp_path, days(tmp_path, NOW + 60, 31)).since(NOW) == 31 * DAY + 60


def test_a_jump_back_makes_nothing_older_or_younger_than_now(tmp_path: Path) -> None:
    look(tmp_path, NOW)
    assert look(tmp_path, NOW - YEAR).since(NOW) == 0
    assert look(tmp_path, NOW - YEAR + 60).since(NOW - YEAR) == 60


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"last": "x", "gaps": []}', '{"last": 5, "gaps": [[1]]}', "[" * 10**5]
)
def test_without_a_note_nothing_has_aged(text: str, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(text, encoding="utf-8")
    assert look(tmp_path, NOW).since(NOW - YEAR) == 0
    assert look(tmp_path, NOW + 60).since(NOW - YEAR) == 60


def test_deleted_chats_outlive_a_jump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [NOW]
    monkeypatch.setattr("time.time", lambda: clock[0])
    store = ChatStore(tmp_path / "chats.db")
    store.empty_expired_trash()
    store.create(Chat(id=1, title="It", updated_at=NOW))
    store.move_to_trash(1)
    clock[0] = NOW + YEAR
    assert store.empty_expired_trash() == 0
    for day in range(TRASH_DAYS - 1):
        clock[0] = NOW + YEAR + day * DAY
        assert store.empty_expired_trash() == 0
    clock[0] += DAY
    assert store.empty_expired_trash() == 1
    store.close()


def test_deleted_models_outlive_a_jump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path / "home"))
    library.add(write_checkpoint(tmp_path / "checkpoint"), "m")
    clock = [NOW]
    monkeypatch.setattr("time.time", lambda: clock[0])
    trash.empty_expired()
    library.delete("m")
    clock[0] = NOW + YEAR
    trash.empty_expired()
    assert [d.name for d in trash.deleted()] == ["m"]
    for _ in range(trash.DAYS):
        clock[0] += DAY
        trash.empty_expired()
    assert trash.deleted() == ()
