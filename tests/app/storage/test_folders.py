"""Folders, pins, places and the trash, as they are kept."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from app.sidebar.chat_model import SectionRow, chat_rows
from app.storage.records import Chat, Folder, ScrollPosition, Style
from app.storage.store import ChatStore
from engine.lived_time import LivedTime
from tests.app.storage.conftest import talk


def test_chats_go_into_folders_and_come_out_again(store: ChatStore) -> None:
    chat, *_ = talk(store, "one", "a")
    work = store.make_folder("work")
    assert store.make_folder("work") == work
    store.set_field(chat, "folder_id", work.id)
    assert store.chats()[0].folder_id == work.id
    store.remove_folder(work.id)
    assert store.chats()[0].folder_id is None
    assert store.folders() == []


def test_a_folder_that_takes_the_name_of_another_joins_it(store: ChatStore) -> None:
    chat, *_ = talk(store, "one", "a")
    work, play = store.make_folder("work"), store.make_folder("play")
    store.set_field(chat, "folder_id", work.id)
    assert store.rename_folder(play.id, "games") is None
    assert store.rename_folder(play.id, "play") is None
    assert store.rename_folder(work.id, "play") == (work, [chat])
    assert store.folders() == [play]
    assert store.chats()[0].folder_id == play.id


def test_what_belongs_to_a_chat_is_kept(store: ChatStore, tmp_path: Path) -> None:
    chat, message = talk(store, "one", "a")
    style = Style("Be brief.", {"temperature": 0.2, "seed": None}, ("END",))
    store.set_field(chat, "pinned", True)
    store.set_field(chat, "place", ScrollPosition(message, -7))
    store.set_field(chat, "style", style)
    store.close()
    again = ChatStore(tmp_path / "chats.db")
    found = again.chat(chat)
    assert found is not None
    assert (found.pinned, found.place, found.style) == (True, ScrollPosition(message, -7), style)
    again.set_field(chat, "place", None)
    again.set_field(chat, "style", None)
    found = again.chat(chat)
    assert found is not None
    assert (found.place, found.style) == (None, None)
    again.close()


def test_the_list_has_pins_then_folders_then_days() -> None:
    now = datetime(2026, 5, 20, 12)
    today, old = now.timestamp(), datetime(2026, 5, 1).timestamp()
    folder = Folder(9, "work")
    pinned = Chat(id=1, title="pinned", updated_at=old, pinned=True, folder_id=9)
    inside, free, elder = (
        Chat(id=2, title="inside", updated_at=today, folder_id=9),
        Chat(id=3, title="free", updated_at=today),
        Chat(id=4, title="elder", updated_at=old, folder_id=77),
    )
    rows = chat_rows([inside, free, pinned, elder], [folder], set(), now)
    assert rows == [
        SectionRow("Pinned"), pinned, SectionRow("work", folder, True, 1), inside, SectionRow("Today"), free,
        SectionRow("May"), elder,
    ]  # fmt: skip
    assert inside not in chat_rows([inside, free], [folder], {9}, now)


def test_the_trash_is_emptied_of_what_is_old_only(store: ChatStore) -> None:
    old, young, kept = (talk(store, title, "a")[0] for title in ("old", "young", "kept"))
    store.move_to_trash(old)
    store.move_to_trash(young)
    store.db.execute("UPDATE chats SET deleted_at = 1000 WHERE id = ?", (old,))
    assert store.empty_trash(lived=LivedTime(1000 + 31 * 86400, ())) == 1
    assert [c.title for c, _ in store.trashed()] == ["young"]
    store.restore_from_trash(young)
    assert {c.title for c in store.chats()} == {"young", "kept"}
    store.move_to_trash(kept)
    store.move_to_trash(young)
    assert store.empty_trash(kept) == 1
    assert [c.title for c, _ in store.trashed()] == ["young"]
