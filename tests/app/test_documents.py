"""Documents of a chat: attached, searched at a question, shown at the answer, kept with it, and forgotten."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QDialogButtonBox
from pytestqt.qtbot import QtBot

from app.application import Application
from app.attachments.dialog import AttachmentDialog
from app.attachments.documents import LeftOutDialog
from app.chat.prompt_messages import prompt_messages
from app.export import chat_file, export_chats, import_chats
from app.storage.store import ChatStore
from app.transcript.steps import SourceStrip
from engine import protocol
from tests.app.acts import Launch, ask
from tests.app.conftest import close, engine_of

PASSAGES = (
    protocol.Passage(
        file="/n/notes/pump.md", name="notes/pump.md", heading="Pumps › Service", page=0, line=4, last_line=4,
        text="The red pump is oiled every March.",
    ),
    protocol.Passage(
        file="/n/notes/book.pdf", name="notes/book.pdf", heading="", page=7, line=1, last_line=3, text="Pumps\nare old."
    ),
)  # fmt: skip


def _strip(underhill: Application) -> SourceStrip:
    transcript = underhill.window.transcript
    found = transcript.strips.sources(transcript.items[-1])
    assert found is not None
    return found


def _asked(underhill: Application) -> list[protocol.Generate]:
    return [c for c in engine_of(underhill).received if isinstance(c, protocol.Generate)]


@pytest.mark.long
def test_a_folder_is_asked_and_its_sources_are_there_after_a_restart(
    qtbot: QtBot, launch_real: Callable[[], Application], tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "pump.md").write_text("# Pumps\n\n## Service\nThe red pump is oiled every March.\n", encoding="utf-8")
    (notes / "海.txt").write_text("船在黎明时离开了港口。", encoding="utf-8")
    (notes / "bad.txt").write_bytes(bytes(range(256)) * 9)
    underhill = launch_real()
    underhill.conversation.sampling = {"temperature": 0.0, "max_tokens": 8}
    qtbot.waitUntil(lambda: underhill.models.state == "ready", timeout=120_000)
    composer = underhill.window.composer
    composer.files.emit([notes])  # as it is dropped
    qtbot.waitUntil(lambda: [chip.text for chip in composer.documents.chips] == ["notes  ·  2 files"], timeout=120_000)
    assert underhill.documents.show_details(0).list.toPlainText() == "bad.txt\n    bad.txt isn't a text file."
    underhill.window.findChild(LeftOutDialog).findChild(QDialogButtonBox).rejected.emit()
    ask(qtbot, underhill, "When is the red pump oiled?")
    question, answer = underhill.conversation.messages
    assert answer.content
    assert question.sources[0].name == "notes/pump.md"
    strip = _strip(underhill)
    strip.chips[0].click()
    assert strip.words.text() == "The red pump is oiled every March."
    assert strip.facts.text() == "notes/pump.md  ·  Pumps › Service  ·  line 4"
    strip.open.click()
    qtbot.waitUntil(lambda: bool(underhill.window.findChildren(AttachmentDialog)))
    reader = underhill.window.findChildren(AttachmentDialog)[0]
    assert reader.text.textCursor().selectedText() == "The red pump is oiled every March."
    reader.close()
    underhill.window.composer.edit.setPlainText("船什么时候离开？")
    underhill.window.composer.send()
    qtbot.waitUntil(lambda: not underhill.conversation.working and len(underhill.conversation.messages) == 4)
    assert underhill.conversation.messages[2].sources[0].name == "notes/海.txt"
    assert underhill.conversation.messages[3].stats["reused_tokens"] > 100  # the first question reads as it did

    again = launch_real()
    qtbot.waitUntil(lambda: again.models.state == "ready", timeout=120_000)
    qtbot.waitUntil(lambda: len(again.conversation.messages) == 4)
    assert [m.sources for m in again.conversation.messages[:1]] == [question.sources]
    assert again.conversation.documents == (str(notes),)
    qtbot.waitUntil(lambda: _strip(again).isVisible())
    index = list((tmp_path / "documents").glob("*.db"))
    assert len(index) == 1
    again.conversation.delete(again.conversation.chat_id)
    again.documents.tidy()
    assert again.database.run_blocking(lambda store: store.all_documents(), 60) == (str(notes),)  # it can come back
    assert index[0].exists()
    again.database.submit(ChatStore.empty_trash)
    again.documents.tidy()
    qtbot.waitUntil(lambda: not index[0].exists())


def test_what_is_found_goes_into_the_prompt_and_every_version_has_the_same(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    engine_of(underhill).passages = PASSAGES
    underhill.documents.add([Path("/n/notes")])
    ask(qtbot, underhill, "When is the pump oiled?")
    prompt = _asked(underhill)[0].messages[-1].content
    assert "[1] notes/pump.md, Pumps › Service, line 4\n```\nThe red pump is oiled every March.\n```" in prompt
    assert "[2] notes/book.pdf, page 7" in prompt
    engine_of(underhill).passages = ()
    underhill.window.editing.regenerate_last()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert len(_asked(underhill)) == 2
    assert _asked(underhill)[1].messages == _asked(underhill)[0].messages
    assert len([c for c in engine_of(underhill).received if isinstance(c, protocol.FindPassages)]) == 1
    assert [chip.text() for chip in _strip(underhill).chips] == ["1  pump.md", "2  book.pdf"]
    underhill.documents.remove(0)
    ask(qtbot, underhill, "And now?")
    assert len([c for c in engine_of(underhill).received if isinstance(c, protocol.FindPassages)]) == 1
    assert not underhill.conversation.messages[-2].sources


def test_a_search_can_be_stopped_and_its_failure_says_what_to_do(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    engine, conversation = engine_of(underhill), underhill.conversation
    underhill.documents.add([Path("/n/notes")])
    engine.searching.set()
    conversation.send("Wait for it")
    qtbot.waitUntil(lambda: any(isinstance(c, protocol.FindPassages) for c in engine.received))
    conversation.stop()
    qtbot.waitUntil(lambda: not conversation.working)
    assert conversation.messages[-1].finish == "cancelled"
    assert not _asked(underhill)
    engine.searching.clear()
    engine.fail[protocol.FindPassages] = protocol.Failed(
        "", protocol.Kind.MISSING_FILE, "notes can't be found.", "Attach it again."
    )
    conversation.send("And now?")
    qtbot.waitUntil(lambda: not conversation.working)
    assert [b.sentence for b in underhill.window.banners.banners] == ["notes can't be found."]
    assert not _asked(underhill)


def test_a_file_that_would_fill_the_context_is_indexed_instead(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch(context=1000)
    composer = underhill.window.composer
    (tmp_path / "book.txt").write_text("word " * 4000)
    (tmp_path / "note.txt").write_text("A short note.", encoding="utf-8")
    composer.files.emit([tmp_path / "book.txt", tmp_path / "note.txt"])
    qtbot.waitUntil(lambda: underhill.conversation.documents == (str(tmp_path / "book.txt"),))
    assert [a.name for a in composer.attachments] == ["note.txt"]
    qtbot.waitUntil(lambda: [c.text for c in composer.documents.chips] == ["book.txt  ·  340 passages"])
    close(underhill)
    store = ChatStore(tmp_path / "chats.db")
    assert store.documents() == (str(tmp_path / "book.txt"),)  # kept with the draft
    store.close()


def test_sources_go_with_an_exported_chat(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch()
    engine_of(underhill).passages = PASSAGES
    underhill.documents.add([Path("/n/notes")])
    ask(qtbot, underhill, "When is the pump oiled?")
    found = underhill.database.run_blocking(lambda store: list(export_chats.gathered(store)), 60)
    assert found is not None
    file = tmp_path / "chats.json"
    file.write_text("".join(export_chats.as_json(found)), encoding="utf-8")
    text = export_chats.markdown(found[0][0], found[0][2])
    assert "<summary>[1] notes/pump.md · Pumps › Service · line 4</summary>" in text
    with import_chats.read(file) as contents:
        (chat,) = underhill.database.run_blocking(lambda store: import_chats.add(store, contents), 60) or ()
    messages = underhill.database.run_blocking(lambda store: store.path(chat.id), 60)
    assert messages is not None
    assert messages[0].sources == tuple(replace(one, file="") for one in PASSAGES)
    assert "/n/notes" not in file.read_text(encoding="utf-8")
    assert "oiled every March" in prompt_messages(messages)[0].content
    bad = json.loads(file.read_text(encoding="utf-8"))
    bad["chats"][0]["messages"][0]["sources"][0]["line"] = "x"
    file.write_text(json.dumps(bad), encoding="utf-8")
    assert list(chat_file.chats(str(file), ""))[-1][0] == chat_file.NONE
