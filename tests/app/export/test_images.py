"""Chats take their images along, in JSON and in Markdown; what another program wrote is decoded before it is kept."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QImage

from app.export import export_chats, import_chats
from app.images import encode
from app.storage.records import Attachment, Chat, new_id, new_question
from app.storage.store import ChatStore
from engine import protocol
from tests.app.image_samples import encoded, hill, sample_image, turned

HILL, LAMP = sample_image(), Attachment("lamp [1].jpg", "", encoded(hill(60, 90, "#e8a686"), b"JPEG"))
NOTES = Attachment("notes.txt", "words")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ChatStore]:
    made = ChatStore(tmp_path / "chats.db")
    yield made
    made.close()


def asked(store: ChatStore, *files: Attachment) -> Chat:
    chat = Chat(id=new_id(), title="Hills")
    question = new_question(chat.id, None, "What is this?", files)
    store.create(chat, question, new_question(chat.id, question.id, "And this?", files[:1]))
    return chat


def exported(store: ChatStore, path: Path) -> dict[str, Any]:
    export_chats.write(path, export_chats.as_json(export_chats.gathered(store)))
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def imported(path: Path, folder: Path) -> list[list[tuple[Attachment, ...]]]:
    """What is attached to each message of each chat, in a database of its own."""
    store = ChatStore(folder / "imported.db")
    try:
        with import_chats.read(path) as contents:
            added = import_chats.add(store, contents)
        return [[m.attachments for m in store.path(chat.id)] for chat in added]
    finally:
        store.close()


def test_json_has_each_image_once_and_brings_all_back(store: ChatStore, tmp_path: Path) -> None:
    asked(store, HILL, NOTES, LAMP)
    asked(store, LAMP)
    found = exported(store, tmp_path / "x.json")
    assert found["version"] == 2
    assert [p["picture"] for p in found["pictures"]] in ([HILL.digest, LAMP.digest], [LAMP.digest, HILL.digest])
    back = imported(tmp_path / "x.json", tmp_path)
    assert sorted(back, key=lambda chat: -len(chat[0])) == [[(HILL, NOTES, LAMP), (HILL,)], [(LAMP,), (LAMP,)]]


def test_a_file_without_images_can_be_read_by_an_older_version(store: ChatStore, tmp_path: Path) -> None:
    asked(store, NOTES)
    found = exported(store, tmp_path / "x.json")
    assert (found["version"], found["pictures"]) == (1, [])
    assert found["chats"][0]["messages"][0]["attachments"] == [{"name": "notes.txt", "text": "words"}]


def test_no_chats_are_a_file_too(store: ChatStore, tmp_path: Path) -> None:
    assert exported(store, tmp_path / "x.json")["chats"] == []


def test_images_of_others_are_encoded_anew_or_left_out(store: ChatStore, tmp_path: Path) -> None:
    asked(store, HILL, LAMP, NOTES)
    found = exported(store, tmp_path / "x.json")
    by_name = {p["picture"]: p for p in found["pictures"]}
    photo = turned(encoded(hill(3000, 1000), b"JPEG"), 6)
    by_name[HILL.digest]["data"] = base64.b64encode(photo).decode()
    by_name[LAMP.digest]["data"] = base64.b64encode(b"\x89PNG damaged").decode()
    found["pictures"] += [{"picture": "x"}, "odd", {"picture": "y", "data": "no base64"}]
    (tmp_path / "x.json").write_text(json.dumps(found))
    ((first, _),) = imported(tmp_path / "x.json", tmp_path)
    assert [a.name for a in first] == ["hill.png", "notes.txt"]
    assert QImage.fromData(first[0].image).size().toTuple() == (682, 2048)
    assert b"Hobbiton" not in first[0].image


def test_a_file_of_a_later_version_is_refused(store: ChatStore, tmp_path: Path) -> None:
    asked(store, HILL)
    found = exported(store, tmp_path / "x.json")
    (tmp_path / "x.json").write_text(json.dumps({**found, "version": 3}))
    with pytest.raises(protocol.UnderhillError, match="another version"):
        import_chats.read(tmp_path / "x.json")


def test_markdown_shows_images_and_holds_them_at_its_end(store: ChatStore) -> None:
    chat = asked(store, LAMP, NOTES, HILL)
    text = export_chats.markdown(chat, store.path(chat.id))
    body, _, addresses = text.partition("\n\n[image-1]: ")
    assert "![lamp \\[1\\].jpg][image-1]\n\n![hill.png][image-2]\n\nWhat is this?" in body
    assert "![lamp \\[1\\].jpg][image-1]\n\nAnd this?" in body
    assert body.count("<summary>") == 1
    first, second = addresses.strip().split("\n\n[image-2]: ")
    assert first == f"data:image/jpeg;base64,{base64.b64encode(LAMP.image).decode()}"
    assert second == f"data:image/png;base64,{base64.b64encode(HILL.image).decode()}"


def test_what_was_encoded_here_is_kept_byte_for_byte() -> None:
    for file in (HILL.image, LAMP.image, encode.from_bytes(LAMP.image)):
        assert encode.checked(file) == file
    with pytest.raises(encode.UnreadableImage):
        encode.checked(b"\x89PNG damaged")
