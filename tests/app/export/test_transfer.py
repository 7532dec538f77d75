"""Chats go out and come in again whole; what is no chat is refused and changes nothing."""

from __future__ import annotations

import json
import re
import sqlite3
import time
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.export import export_chats, import_chats
from app.storage import backup, branches
from app.storage.records import Attachment, Chat, StoredMessage, Style, new_id
from app.storage.schema import STEPS, migrate
from app.storage.search import find
from app.storage.store import ChatStore
from engine import protocol
from tests.app.storage.conftest import talk


@pytest.fixture
def store(tmp_path: Path) -> Any:
    made = ChatStore(tmp_path / "chats.db")
    yield made
    made.close()


def filled(store: ChatStore) -> Chat:
    """A chat with two branches, an attachment, a folder, a pin and a style."""
    chat, question, *_ = talk(store, "Häuser: a/b?", "How?", "So.", "And then?")
    store.add(
        StoredMessage(
            id=new_id(),
            chat_id=chat,
            parent_id=question,
            role="assistant",
            content="Or so.",
            model="m",
            finish="length",
            attachments=(Attachment("a.txt", "text"),),
            stats={"hits": 3},
        )
    )
    store.set_field(chat, "folder_id", store.make_folder("work").id)
    store.set_field(chat, "pinned", True)
    store.set_field(chat, "style", Style("Be brief.", {"temperature": 0.1}, ("END",)))
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
    path = tmp_path / export_chats.file_name(old, "json")
    assert path.name == "Häuser a b.json"
    export_chats.write(path, export_chats.as_json(export_chats.gathered(store)))
    assert len(import_chats.add(store, import_chats.read(path))) == 1
    new = next(c for c in store.chats() if c.id != old.id)
    assert (new.title, new.pinned, new.folder_id, new.style, new.updated_at) == (
        old.title, True, old.folder_id, old.style, old.updated_at,
    )  # fmt: skip
    assert shape(store, new.id) == shape(store, old.id)
    assert [m.content for m in store.path(new.id)] == ["How?", "Or so."]
    assert len(find(store, "And then")) == 2


def test_markdown_is_the_open_branch(store: ChatStore) -> None:
    chat = filled(store)
    text = export_chats.markdown(chat, store.path(chat.id))
    assert text.startswith("# Häuser: a/b?\n\n**System prompt**\n\n> Be brief.\n\n## You")
    assert "And then?" not in text
    file = "<details>\n<summary>a.txt</summary>\n\n```txt\ntext\n```\n\n</details>"
    assert text.endswith(f"\n\nOr so.\n\n{file}\n\n*Length limit reached*\n")


def test_markdown_can_be_read_by_others(store: ChatStore) -> None:
    chat, question = talk(store, "*A* <b>", "# Why?")
    thought = "<think>Hm.\n\n# Well</think>\n```in``` a line\n"
    answer = thought + "# So\n\n```sh\n# no heading\n``` no end\n```\n\n## Then\n\n~~~\n# open"
    files = (Attachment("a & <b>.PY", "x = '```'\n"), Attachment("talk.pdf", "words"))
    store.add(
        StoredMessage(
            id=new_id(),
            chat_id=chat,
            parent_id=question,
            role="assistant",
            content=answer,
            model="m_x",
            attachments=files,
        )
    )
    found = store.chat(chat)
    assert found is not None
    text = export_chats.markdown(found, store.path(chat))
    assert text.startswith("# \\*A\\* \\<b\\>\n")
    assert [line for line in text.split("\n") if line.startswith("##")] == [
        "## You", "### Why?", "## m\\_x", "### Well", "### So", "#### Then",
    ]  # fmt: skip
    assert (
        "<details>\n<summary>Thinking</summary>\n\nHm.\n\n### Well\n\n</details>\n\n```in``` a line\n### So\n" in text
    )
    assert "```sh\n# no heading\n``` no end\n```" in text
    assert "~~~\n# open\n~~~\n" in text
    assert "<summary>a &amp; &lt;b&gt;.PY</summary>\n\n````py\nx = '```'\n````\n" in text
    assert "<summary>talk.pdf</summary>\n\n```\nwords\n```\n" in text
    tags = re.sub(r"(?s)(`{3,}|~~~).*?\n\1(?=\n)", "", text)
    assert tags.count("<details>") == tags.count("</details>") == 3


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
    assert len(import_chats.add(store, import_chats.read(path))) == 1
    (chat,) = store.chats()
    assert (chat.title, chat.updated_at) == ("Foxes", 9.0)
    assert [(m.role, m.content, m.version, m.versions) for m in store.path(chat.id)] == [
        ("user", "Why red?", 1, 1), ("assistant", "Fur.", 2, 2),
    ]  # fmt: skip
    assert [m.model for m in store.tree(chat.id)] == ["", "gpt", "ChatGPT"]


def said(role: str, parts: Any, parent: str | None = None, **more: Any) -> dict[str, Any]:
    content = {"content_type": "multimodal_text", "parts": parts}
    return {"message": {"author": {"role": role}, "content": content, **more}, "parent": parent, "children": None}


def test_odd_parts_of_what_chatgpt_exports_are_left_out_or_noted(store: ChatStore, tmp_path: Path) -> None:
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    heard = {"content_type": "audio_transcription", "text": "and what I said"}
    nodes: dict[str, Any] = {
        "a": said("user", [image, heard, {"content_type": "audio_asset_pointer"}]),
        "b": said("assistant", None, "a"),
        "c": said("tool", ["secret"], "b"),
        "d": said("assistant", ["Half of \ud800, \ue200cite\ue202turn0search1\ue201from there"], "c", create_time=1e30),
        "e": {"message": {"content": {}}, "parent": "d", "children": ["f"]},
        "f": None,
    }
    for above, below in (("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")):
        nodes[above]["children"] = [below]
    odd = [{"title": "x"}, {"mapping": {"a": said("user", [5.0, {"content_type": "audio_transcription", "text": 7}])}}]
    path = tmp_path / "conversations.json"
    good = {"title": 5, "mapping": nodes, "current_node": "e", "update_time": float("nan"), "create_time": -1e20}
    path.write_text(json.dumps([odd[0], good, odd[1]]))
    contents = import_chats.read(path)
    assert contents.unread == 2
    import_chats.add(store, contents)
    (chat,) = store.chats()
    assert chat.title == "5"
    assert abs(chat.updated_at - time.time()) < 3600
    assert [(m.role, m.content) for m in store.path(chat.id)] == [
        ("user", "[image]\n\nand what I said"), ("assistant", "Half of ?, from there"),
    ]  # fmt: skip
    assert all(abs(m.created_at - time.time()) < 3600 for m in store.path(chat.id))


def test_odd_values_in_our_own_export_are_put_right_and_a_later_one_is_refused(
    store: ChatStore, tmp_path: Path
) -> None:
    message = {"id": 1, "parent": None, "role": "user", "content": "x", "stats": 5, "finish": None, "model": None,
               "created_at": 1e30, "attachments": [{"name": "a\nb", "text": "t"}]}  # fmt: skip
    chats = [{"title": "a\nb", "folder": "c\n d", "leaf": 9, "messages": [message]}, {"title": "no messages"},
             {"title": "twice", "messages": [message, message]}]  # fmt: skip
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"format": "underhill-chats", "version": 1, "chats": chats}))
    contents = import_chats.read(path)
    assert contents.unread == 2
    import_chats.add(store, contents)
    (chat,) = store.chats()
    assert (chat.title, [f.name for f in store.folders()]) == ("a b", ["c d"])
    (read,) = store.path(chat.id)
    assert (read.stats, read.finish, read.model, read.attachments) == ({}, "", "", (Attachment("a b", "t"),))
    path.write_text(json.dumps({"format": "underhill-chats", "version": 3, "chats": chats}))
    with pytest.raises(protocol.UnderhillError, match="another version"):
        import_chats.read(path)


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "[]x", "{}", '[{"a": 1}]', '{"format": "underhill-chats", "chats": [{"title": "t"}]}',
        '{"format": "underhill-chats", "chats": [{"title": "t", "messages": [{"id": 1, "parent": 2, "role": "user",'
        ' "content": "x"}]}]}',
        '{"format": "underhill-chats", "chats": [{"title": "t", "messages": [{"id": 1, "parent": null, "role": "dog",'
        ' "content": "x"}]}]}',
    ],
)  # fmt: skip
def test_what_is_no_chat_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(protocol.UnderhillError, match=r"No readable chats in x\.json"):
        import_chats.read(path)


def test_a_file_that_cannot_be_written_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.md"
    export_chats.write(path, "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export_chats.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        export_chats.write(path, "new")
    assert [p.name for p in tmp_path.iterdir()] == ["a.md"]
    assert path.read_text() == "old"


def test_what_a_restored_backup_replaces_is_safe_before_it_goes(
    store: ChatStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[Path, bool]] = []
    monkeypatch.setattr(
        backup.filesystem, "sync_directory", lambda folder: synced.append((folder, (folder / "b.db").exists()))
    )
    backup.back_up(store, tmp_path / "b.db")
    assert synced == [(tmp_path, True)]


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
    db = sqlite3.connect(tmp_path / "alike.db")
    db.execute("CREATE TABLE chats (id, title, leaf_id)")
    db.execute("PRAGMA user_version = 1")
    db.close()
    for name in ("text.db", "other.db", "newer.db", "none.db", "alike.db"):
        with pytest.raises(protocol.UnderhillError):
            backup.restore(store, tmp_path / name, tmp_path)
    assert [c.id for c in store.chats()] == [chat]
    assert not (tmp_path / "none.db").exists()
    assert not list(tmp_path.glob("*.part")) + list(tmp_path.glob("chats-before*"))
    assert branches.read(store, chat) is not None


@pytest.mark.parametrize("version", range(1, len(STEPS)))
def test_a_backup_of_an_older_version_is_put_back(store: ChatStore, tmp_path: Path, version: int) -> None:
    talk(store, "now", "the oak")
    db = sqlite3.connect(tmp_path / "old.db", isolation_level=None)
    migrate(db, STEPS[:version])
    db.execute("INSERT INTO chats (id, title, created_at, updated_at, leaf_id) VALUES (1, 'then', 1.0, 2.0, 2)")
    db.execute("INSERT INTO messages (id, chat_id, role, content, state, created_at) "
               "VALUES (2, 1, 'user', 'the elm', 'streaming', 1.0)")  # fmt: skip
    db.close()
    backup.restore(store, tmp_path / "old.db", tmp_path)
    assert [(c.id, c.title) for c in store.chats()] == [(1, "then")]
    assert [(m.content, m.state) for m in store.path(1)] == [("the elm", "cut")]
    assert (len(find(store, "oak")), len(find(store, "elm"))) == (0, 1)
    talk(store, "after", "the ash")
    with closing(sqlite3.connect(tmp_path / "old.db")) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (version,)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("con", "_con.md"), ("Aux.", "_Aux.md"), ("nul.txt", "_nul.txt.md"), ("COM1 : x", "COM1 x.md"),
        ("prn ", "_prn.md"), ("console", "console.md"), ("a" * 59 + ". b", "a" * 59 + ".md"), ("...", "Chat.md"),
    ],
)  # fmt: skip
def test_the_name_of_a_file_is_one_that_every_system_takes(title: str, name: str) -> None:
    """Windows writes to a device what is written to con.md, and takes no dot at the end of a name."""
    assert export_chats.file_name(Chat(id=1, title=title), "md") == name
