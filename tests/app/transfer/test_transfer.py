"""Chats go out and come in again whole; what is no chat is refused and changes nothing."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pytest

from app.chats import branches, folders
from app.chats.records import Attachment, Chat, StoredMessage, Style, new_id
from app.chats.search import find
from app.chats.store import ChatStore
from app.transfer import backup, exporting, importing
from engine import api
from tests.app.chats.conftest import talk


@pytest.fixture
def store(tmp_path: Path) -> Any:
    made = ChatStore(tmp_path / "chats.db")
    yield made
    made.close()


def filled(store: ChatStore) -> Chat:
    """A chat with two branches, an attachment, a folder, a pin and a style."""
    chat, question, *_ = talk(store, "Häuser: a/b?", "How?", "So.", "And then?")
    store.add(StoredMessage(new_id(), chat, question, "assistant", "Or so.", model="m", finish="length",
                            attachments=(Attachment("a.txt", "text"),), stats={"hits": 3}))  # fmt: skip
    folders.move(store, chat, folders.make(store, "work").id)
    store.set_pinned(chat, True)
    store.set_style(chat, Style("Be brief.", {"temperature": 0.1}, ("END",)))
    found = store.chat(chat)
    assert found is not None
    return found


def shape(store: ChatStore, chat_id: int) -> list[tuple[object, ...]]:
    tree = store.tree(chat_id)
    number = {m.id: n for n, m in enumerate(tree)}
    return [
        (number.get(m.parent_id or 0), m.role, m.content, m.model, m.finish, m.stats, m.attachments, m.created_at)
        for m in tree
    ]


def test_json_brings_everything_back(store: ChatStore, tmp_path: Path) -> None:
    old = filled(store)
    path = tmp_path / exporting.file_name(old, "json")
    assert path.name == "Häuser a b.json"
    exporting.write(path, exporting.as_json(exporting.gathered(store)))
    assert importing.add(store, importing.read(path)) == 1
    new = next(c for c in store.chats() if c.id != old.id)
    assert (new.title, new.pinned, new.folder_id, new.style, new.updated_at) == (
        old.title, True, old.folder_id, old.style, old.updated_at,
    )  # fmt: skip
    assert shape(store, new.id) == shape(store, old.id)
    assert [m.content for m in store.path(new.id)] == ["How?", "Or so."]
    assert len(find(store, "And then")) == 2


def test_markdown_is_the_open_branch(store: ChatStore) -> None:
    chat = filled(store)
    text = exporting.markdown(chat, store.path(chat.id))
    assert text.startswith("# Häuser: a/b?\n\n> Be brief.\n\n## You")
    assert "And then?" not in text
    assert text.endswith("a.txt:\n```\ntext\n```\n\nOr so.\n")


CHATGPT = [
    {
        "title": "Foxes", "create_time": 5.0, "update_time": 9.0, "current_node": "d",
        "mapping": {
            "root": {"id": "root", "message": None, "parent": None, "children": ["s"]},
            "s": {"message": {"author": {"role": "system"}, "content": {"content_type": "text", "parts": [""]}},
                  "parent": "root", "children": ["a"]},
            "a": {"message": {"author": {"role": "user"}, "create_time": 6.0,
                              "content": {"content_type": "multimodal_text", "parts": [{"asset": 1}, "Why red?"]}},
                  "parent": "s", "children": ["b", "tool"]},
            "b": {"message": {"author": {"role": "assistant"}, "create_time": 7.0, "metadata": {"model_slug": "gpt"},
                              "content": {"content_type": "text", "parts": ["Because."]}},
                  "parent": "a", "children": []},
            "tool": {"message": {"author": {"role": "assistant"}, "recipient": "python",
                                 "content": {"content_type": "code", "text": "print()"}},
                     "parent": "a", "children": ["d"]},
            "d": {"message": {"author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["Fur."]}},
                  "parent": "tool", "children": []},
        },
    },
    {"title": None, "mapping": {"x": {"message": None, "parent": None, "children": []}}},
]  # fmt: skip


@pytest.mark.parametrize("zipped", [False, True])
def test_what_chatgpt_exports_is_read(store: ChatStore, tmp_path: Path, zipped: bool) -> None:
    path = tmp_path / "export"
    if zipped:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("conversations.json", json.dumps(CHATGPT))
            archive.writestr("user.json", "{}")
    else:
        path.write_text(json.dumps(CHATGPT))
    assert importing.add(store, importing.read(path)) == 1
    (chat,) = store.chats()
    assert (chat.title, chat.updated_at) == ("Foxes", 9.0)
    assert [(m.role, m.content, m.version, m.versions) for m in store.path(chat.id)] == [
        ("user", "Why red?", 1, 1), ("assistant", "Fur.", 2, 2),
    ]  # fmt: skip
    assert [m.model for m in store.tree(chat.id)] == ["", "gpt", "ChatGPT"]


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]x", "{}", '[{"a": 1}]', '{"format": "underhill-chats", "chats": [{"title": "t"}]}',
        '{"format": "underhill-chats", "chats": [{"title": "t", "messages": [{"id": 1, "parent": 2, "role": "user",'
        ' "content": "x"}]}]}',
        '{"format": "underhill-chats", "chats": [{"title": "t", "messages": [{"id": 1, "parent": null, "role": "dog",'
        ' "content": "x"}]}]}',
    ],
)  # fmt: skip
def test_what_is_no_chat_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(api.UnderhillError, match=r"x\.json holds no chats"):
        importing.read(path)


def test_a_file_that_cannot_be_written_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.md"
    exporting.write(path, "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exporting.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        exporting.write(path, "new")
    assert [p.name for p in tmp_path.iterdir()] == ["a.md"]
    assert path.read_text() == "old"


def test_a_backup_is_put_back_and_what_it_replaces_is_kept(store: ChatStore, tmp_path: Path) -> None:
    first, *_ = talk(store, "first", "the oak")
    backup.back_up(store, tmp_path / "b.db")
    second, *_ = talk(store, "second", "the elm")
    kept = backup.restore(store, tmp_path / "b.db", tmp_path)
    assert [c.id for c in store.chats()] == [first]
    assert (len(find(store, "oak")), len(find(store, "elm"))) == (1, 0)
    talk(store, "third", "goes on")
    backup.restore(store, kept, tmp_path)
    assert {c.id for c in store.chats()} == {first, second}
    assert store.check() == "ok"
    store.close()
    again = ChatStore(tmp_path / "chats.db")
    assert {c.id for c in again.chats()} == {first, second}
    again.close()


def test_what_is_no_backup_changes_nothing(store: ChatStore, tmp_path: Path) -> None:
    chat, *_ = talk(store, "first", "the oak")
    (tmp_path / "text.db").write_bytes(b"no database " * 400)
    db = sqlite3.connect(tmp_path / "other.db")
    db.execute("CREATE TABLE things (id)")
    db.close()
    backup.back_up(store, tmp_path / "newer.db")
    db = sqlite3.connect(tmp_path / "newer.db")
    db.execute("PRAGMA user_version = 99")
    db.close()
    for name in ("text.db", "other.db", "newer.db", "none.db"):
        with pytest.raises(api.UnderhillError):
            backup.restore(store, tmp_path / name, tmp_path)
    assert [c.id for c in store.chats()] == [chat]
    assert not (tmp_path / "none.db").exists()
    assert branches.read(store, chat) is not None
