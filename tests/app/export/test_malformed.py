"""Files of chats that are not as they should be: what can be read of them is, and the chats there are stay safe."""

from __future__ import annotations

import json
import sqlite3
import struct
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.export import chat_file, import_chats
from app.storage import backup
from app.storage.records import StoredMessage
from app.storage.schema import STEPS, migrate
from app.storage.store import ChatStore
from app.transcript import notes
from engine import protocol
from tests.app.storage.conftest import store as store
from tests.app.storage.conftest import talk

pytestmark = pytest.mark.long


def node(parent: str | None, children: list[str], text: str) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    return {"parent": parent, "children": children, "message": {"author": {"role": "user"}, "content": content}}


def exported(*mappings: dict[str, Any]) -> str:
    return json.dumps([{"title": "t", "mapping": mapping} for mapping in mappings])


def ours(**more: object) -> dict[str, Any]:
    message = {"id": 1, "parent": None, "role": "assistant", "content": "x"}
    return {"title": "t", "messages": [message], **more}


def archive(path: Path, method: int = zipfile.ZIP_DEFLATED) -> bytearray:
    with zipfile.ZipFile(path, "w", method) as made:
        made.writestr("conversations.json", exported({"a": node(None, [], "What is an oak?")}) + " " * 500)
    return bytearray(path.read_bytes())


def encrypted(path: Path) -> None:
    data = archive(path)
    data[6] |= 1
    data[data.find(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)


def packed_in_an_unknown_way(path: Path) -> None:
    data = archive(path)
    data[8:10] = data[data.find(b"PK\x01\x02") + 10 :][:2] = struct.pack("<H", 99)
    data[data.find(b"PK\x01\x02") + 10] = 99
    path.write_bytes(data)


def torn(path: Path, method: int = zipfile.ZIP_DEFLATED) -> None:
    data = archive(path, method)
    at = data.find(b"conversations.json") + len("conversations.json")
    data[at : at + 40] = bytes(255 - b for b in data[at : at + 40])
    path.write_bytes(data)


def torn_lzma(path: Path) -> None:
    torn(path, zipfile.ZIP_LZMA)


@pytest.mark.parametrize("damage", [encrypted, packed_in_an_unknown_way, torn, torn_lzma])
def test_an_archive_that_cannot_be_opened_is_refused_in_words(tmp_path: Path, damage: Any) -> None:
    damage(tmp_path / "x.zip")
    with pytest.raises(protocol.UnderhillError, match=r"No readable chats in x\.zip"):
        import_chats.read(tmp_path / "x.zip")


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ({"a": node(None, ["b", "b"], "A"), "b": node("a", [], "B")}, {"A": "", "B": "A"}),  # named twice
        ({"a": node(None, [], "A"), "b": node("a", [], "B")}, {"A": "", "B": "A"}),  # not named
        ({"a": node(None, ["b"], "A"), "b": node(None, [], "B")}, {"A": "", "B": "A"}),  # does not know its parent
        ({"b": node("a", [], "B"), "a": node("none", ["b"], "A")}, {"A": "", "B": "A"}),
        ({"a": node("b", ["b"], "A"), "b": node("a", ["a"], "B"), "c": node(None, [], "C")},
         {"A": "", "B": "A", "C": ""}),  # each above the other
        ({"a": node("a", ["a"], "A")}, {"A": ""}),
    ],
)  # fmt: skip
def test_no_message_of_a_tangled_tree_is_lost(
    store: ChatStore, tmp_path: Path, mapping: dict[str, Any], said: dict[str, str]
) -> None:
    (tmp_path / "x.json").write_text(exported(mapping))
    (chat,) = import_chats.add(store, import_chats.read(tmp_path / "x.json"))
    tree = {m.id: m for m in store.tree(chat.id)}
    assert {m.content: tree[m.parent_id].content if m.parent_id else "" for m in tree.values()} == said


def test_versions_keep_the_order_that_the_export_gives_them(store: ChatStore, tmp_path: Path) -> None:
    mapping = {"c": node("a", [], "C"), "a": node(None, ["b", "c"], "A"), "b": node("a", [], "B")}
    (tmp_path / "x.json").write_text(exported(mapping))
    (chat,) = import_chats.add(store, import_chats.read(tmp_path / "x.json"))
    assert [m.content for m in store.tree(chat.id)] == ["A", "B", "C"]


@pytest.mark.parametrize("leaf", [[1], {"a": 1}, 1.5, None, "x"])
def test_a_strange_end_of_a_branch_is_put_right(store: ChatStore, tmp_path: Path, leaf: object) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"format": "underhill-chats", "chats": [ours(leaf=leaf)]}))
    (chat,) = import_chats.add(store, import_chats.read(tmp_path / "x.json"))
    assert [m.content for m in store.path(chat.id)] == ["x"]


@pytest.mark.parametrize(
    "style",
    [
        {"system": 5, "sampling": {}, "stop": []},
        {"system": "", "sampling": {}, "stop": [None]},
        {"system": "", "sampling": {"temperature": -1}, "stop": []},
    ],
)
def test_a_chat_with_an_impossible_style_is_left_out_and_the_others_come(
    store: ChatStore, tmp_path: Path, style: object
) -> None:
    chats = [ours(), ours(style=style)]
    (tmp_path / "x.json").write_text(json.dumps({"format": "underhill-chats", "chats": chats}))
    contents = import_chats.read(tmp_path / "x.json")
    assert (len(contents), contents.unread) == (1, 1)


def test_figures_that_cannot_be_shown_are_left_out(tmp_path: Path) -> None:
    stats = {
        "hits": 3, "misses": "many", "dropped_turns": None, "decode_seconds": float("inf"), "prompt_seconds": [1],
        "prompt_tokens": -5, "precision": {"8": "x"}, "why": "It is so.", "reused_tokens": 1e300,
    }  # fmt: skip
    chat = ours()
    chat["messages"][0]["stats"] = stats
    (tmp_path / "x.json").write_text(json.dumps({"format": "underhill-chats", "chats": [chat]}))
    (found,) = import_chats.read(tmp_path / "x.json")
    assert found.messages[0]["stats"] == {"hits": 3, "why": "It is so."}
    message = StoredMessage(id=1, chat_id=1, parent_id=None, role="assistant", content="x", stats={"misses": 2})
    assert "0%" in notes.summary(message)


def test_folders_of_an_import_that_fails_are_not_made(
    store: ChatStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"format": "underhill-chats", "chats": [ours(folder="New")]}))
    store.db.execute("CREATE TRIGGER full BEFORE INSERT ON messages BEGIN SELECT RAISE(ABORT, 'full'); END")
    with pytest.raises(sqlite3.Error, match="full"):
        import_chats.add(store, import_chats.read(tmp_path / "x.json"))
    assert (store.folders(), store.chats()) == ([], [])


def changed(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


@pytest.mark.parametrize(
    "damage",
    ["DROP TABLE drafts", "ALTER TABLE chats DROP COLUMN queue", "UPDATE messages SET parent_id = id"],
    ids=["a table", "a column", "messages in a circle"],
)
def test_a_backup_that_lacks_something_changes_nothing(store: ChatStore, tmp_path: Path, damage: str) -> None:
    """The window would have shown no chat any more, or have looked for the first message of one for ever."""
    chat, *_ = talk(store, "first", "the oak")
    backup.back_up(store, tmp_path / "b.db")
    changed(tmp_path / "b.db", "DROP TRIGGER draft_removed", damage)
    with pytest.raises(protocol.UnderhillError, match="isn't a chat backup"):
        backup.restore(store, tmp_path / "b.db", tmp_path)
    assert [c.id for c in store.chats()] == [chat]
    assert not list(tmp_path.glob("*.part")) + list(tmp_path.glob("chats-before*"))


def test_every_version_of_the_database_is_whole(tmp_path: Path) -> None:
    for version in range(1, len(STEPS) + 1):
        path = tmp_path / f"{version}.db"
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            migrate(db, STEPS[:version])
        into = ChatStore(tmp_path / f"into-{version}.db")
        backup.restore(into, path, tmp_path)
        into.close()


def test_steps_of_a_team_are_kept_only_where_the_window_can_show_them() -> None:
    step = {"name": "A", "model": "", "state": "done", "text": "so", "note": False, "tokens": 1, "seconds": 0.5}
    assert chat_file.checked_stats({"steps": [step]}) == {"steps": [step]}
    for bad in ({}, "x", [1], [{}], [{**step, "name": 7}], [{**step, "seconds": "long"}], [step] * 101):
        assert chat_file.checked_stats({"steps": bad}) == {}
