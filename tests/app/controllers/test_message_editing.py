"""Editing a question that was sent: nothing that was typed before is lost over it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from app.storage.records import Attachment
from app.storage.store import ChatStore
from engine import protocol
from tests.app.acts import Launch, ask, contents, on_disk
from tests.app.conftest import close, engine_of
from tests.app.fake_engine import SENTENCE

pytestmark = pytest.mark.long
NOTES = Attachment("notes.txt", "Some notes.")


def test_what_was_typed_comes_back_when_editing_is_left_off(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    window = underhill.window
    ask(qtbot, underhill, "Hello")
    window.composer.set_text("half a thought")
    window.composer.set_attachments((NOTES,))
    window.transcript.message_actions.edit.emit(underhill.conversation.messages[0].id)
    assert window.composer.text() == "Hello"
    assert window.composer.attachments == ()
    assert not window.composer.strip.isHidden()
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Escape)
    assert window.composer.text() == "half a thought"
    assert window.composer.attachments == (NOTES,)
    assert window.composer.strip.isHidden()
    ask(qtbot, underhill, "A new question")
    assert contents(underhill)[0] == "Hello"
    assert len(contents(underhill)) == 4  # it was no version of the first


def test_what_was_typed_comes_back_when_the_edited_question_is_sent(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    window = underhill.window
    ask(qtbot, underhill, "Hello")
    window.composer.set_text("half a thought")
    window.editing.edit_last()
    window.composer.set_text("Good day")
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert contents(underhill)[0] == "Good day"
    assert underhill.conversation.messages[0].versions == 2
    assert window.composer.text() == "half a thought"
    assert window.composer.strip.isHidden()


def test_both_texts_are_on_disk_while_a_question_is_edited(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch()
    window = underhill.window
    ask(qtbot, underhill, "Hello")
    window.composer.set_text("half a thought")
    window.editing.edit_last()
    window.composer.save_draft()
    assert underhill.conversation.chat is not None
    assert underhill.conversation.chat.draft == "half a thought"
    window.composer.set_text("Good day, and more")
    close(underhill)
    store = ChatStore(tmp_path / "chats.db")
    assert store.chats()[0].draft == "half a thought\n\nGood day, and more"
    store.close()


def test_an_edited_question_stays_in_the_field_while_an_answer_comes(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(rate=40.0, script=lambda messages: SENTENCE * (1 if len(messages) == 1 else 40))
    window = underhill.window
    ask(qtbot, underhill, "Hello")
    window.editing.edit_last()
    window.composer.set_text("Good day")
    underhill.conversation.send("Something else", ())
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Return)
    assert window.composer.text() == "Good day"
    assert window.editing.editing
    assert window.toast.isVisible()
    underhill.conversation.stop()
    qtbot.waitUntil(lambda: not underhill.conversation.working)


def test_the_cross_of_the_strip_ends_editing_and_another_chat_does_too(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    window = underhill.window
    ask(qtbot, underhill, "Hello")
    window.composer.set_text("half a thought")
    window.editing.edit_last()
    window.composer.strip.ended.emit()
    assert not window.editing.editing
    assert window.composer.text() == "half a thought"
    window.editing.edit_last()
    window.navigator.new_chat()
    assert not window.editing.editing
    assert window.composer.strip.isHidden()
    assert window.composer.text() == ""


def test_a_message_with_versions_says_so_before_one_points_at_it(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    view = underhill.window.transcript
    ask(qtbot, underhill, "Hello")
    ask(qtbot, underhill, "And more")

    def foot() -> QImage:
        """The place of the first answer's versions; the buttons are at the last one."""
        at, item = view.origin(1), view.items[1]
        spot = QRect(round(at.x() + view.layout_.column) - 60, round(at.y() + item.foot), 60, 30)
        return view.viewport().grab(spot).toImage()

    before = foot()
    view.replace(replace(view.items[1].message, versions=2, version=1))
    assert foot() != before
    view.replace(replace(view.items[1].message, versions=1))
    assert foot() == before


def test_an_edited_answer_is_a_version_that_the_model_reads_from_then_on(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    window = underhill.window
    ask(qtbot, underhill, "Hello")
    window.composer.set_text("half a thought")
    window.transcript.message_actions.edit.emit(underhill.conversation.messages[1].id)
    assert window.composer.text() == SENTENCE * 3
    window.composer.set_text("The lamps were out.")
    window.composer.set_attachments((NOTES,))
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: contents(underhill) == ["Hello", "The lamps were out."])
    edited = underhill.conversation.messages[1]
    assert (edited.version, edited.versions, edited.unfinished) == (2, 2, True)
    assert window.composer.text() == "half a thought"
    assert window.composer.attachments == (NOTES,)  # an answer has none: they wait for the question
    window.composer.set_attachments(())
    ask(qtbot, underhill, "And then?")
    (command,) = [c for c in engine_of(underhill).received if isinstance(c, protocol.Generate)][1:]
    assert [m.content for m in command.messages] == ["Hello", "The lamps were out.", "And then?"]
    window.transcript.message_actions.edit.emit(edited.id)
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Return)  # as it was: no version of that
    assert not window.editing.editing
    assert underhill.conversation.messages[1].versions == 2


def test_a_message_is_deleted_and_the_toast_gives_it_back(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    window = underhill.window
    ask(qtbot, underhill, "Hello")
    ask(qtbot, underhill, "And more")
    before = contents(underhill)
    window.transcript.message_actions.delete_message.emit(underhill.conversation.messages[0].id)
    qtbot.waitUntil(lambda: contents(underhill) == before[1:])
    ask(qtbot, underhill, "Read this")
    command = [c for c in engine_of(underhill).received if isinstance(c, protocol.Generate)][-1]
    assert [m.role for m in command.messages] == ["user", "assistant", "user"]  # chat templates want a question first
    window.transcript.message_actions.regenerate.emit(underhill.conversation.messages[0].id)
    assert "question was deleted" in window.toast.accessibleName()
    window.transcript.message_actions.delete_message.emit(underhill.conversation.messages[0].id)
    qtbot.waitUntil(lambda: contents(underhill)[0] == "And more")
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)  # nothing typed to undo
    qtbot.waitUntil(lambda: contents(underhill)[0] == before[1])


def test_undo_leaves_another_chat_on_the_page(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch()
    ask(qtbot, underhill, "Hello")
    underhill.window.transcript.message_actions.delete_message.emit(underhill.conversation.messages[1].id)
    qtbot.waitUntil(lambda: contents(underhill) == ["Hello"])
    underhill.window.navigator.new_chat()
    underhill.window.toast.undo()
    ask(qtbot, underhill, "Another chat")
    assert contents(underhill)[0] == "Another chat"
    assert sorted([m[1] for m in chat] for chat in on_disk(underhill, tmp_path)) == [
        ["Another chat", SENTENCE * 3], ["Hello", SENTENCE * 3],
    ]  # fmt: skip
