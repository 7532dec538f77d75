"""Messages that wait, answers that go on, branches, and the two stages of Stop."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.application import Application
from app.storage.store import ChatStore
from engine import protocol
from tests.app.acts import Launch, ask, button, contents, on_disk
from tests.app.conftest import close, engine_of
from tests.app.fake_engine import SENTENCE

pytestmark = pytest.mark.long


def type_in(qtbot: QtBot, underhill: Application, text: str) -> None:
    edit = underhill.window.composer.edit
    qtbot.keyClicks(edit, text)
    qtbot.keyClick(edit, Qt.Key.Key_Return)


def begin(qtbot: QtBot, underhill: Application, text: str) -> None:
    type_in(qtbot, underhill, text)
    qtbot.waitUntil(lambda: len(contents(underhill)) == 2 and len(contents(underhill)[1]) > 20)


def generated(underhill: Application) -> list[protocol.Generate]:
    return [c for c in engine_of(underhill).received if isinstance(c, protocol.Generate)]


def test_messages_typed_meanwhile_wait_and_are_then_sent_one_by_one(
    qtbot: QtBot, launch: Launch, tmp_path: Path
) -> None:
    underhill = launch(script=lambda messages: f"On {messages[-1].content}: " + SENTENCE)
    engine_of(underhill).ends.clear()
    begin(qtbot, underhill, "one")
    type_in(qtbot, underhill, "two")
    type_in(qtbot, underhill, "three")
    assert [chip.text for chip in underhill.window.composer.waiting.chips] == ["two", "three"]
    assert len(generated(underhill)) == 1
    engine_of(underhill).ends.set()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert contents(underhill) == [
        text for q in ("one", "two", "three") for text in (q, f"On {q}: {SENTENCE}")
    ]  # fmt: skip
    assert underhill.window.composer.waiting.chips == ()
    assert [content for _, content, _ in on_disk(underhill, tmp_path)[0]] == contents(underhill)


def test_every_answer_says_of_which_chat_it_is(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    for _ in range(2):
        for text in ("Hello", "Hello"):  # the words are the same
            type_in(qtbot, underhill, text)
            qtbot.waitUntil(lambda: not underhill.conversation.working and bool(contents(underhill)))
        underhill.conversation.new()
    chats = [command.chat for command in generated(underhill)]
    assert chats[0] == chats[1] != chats[2] == chats[3]
    assert all(chats)


def test_a_message_that_waits_can_be_changed_or_taken_out(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(rate=60.0, script=lambda messages: SENTENCE * 50)
    begin(qtbot, underhill, "one")
    for text in ("two", "three"):
        type_in(qtbot, underhill, text)
    composer = underhill.window.composer
    qtbot.keyClick(composer.edit, Qt.Key.Key_Up)
    assert (composer.text(), [c.text for c in composer.waiting.chips]) == ("three", ["two"])
    composer.waiting.removed.emit(0)
    assert composer.waiting.chips == ()
    underhill.conversation.stop()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert composer.text() == "three"


def test_stop_gives_back_what_waits(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(rate=60.0, script=lambda messages: SENTENCE * 50)
    begin(qtbot, underhill, "one")
    type_in(qtbot, underhill, "two")
    qtbot.keyClicks(underhill.window.composer.edit, "typed")
    qtbot.keyClick(underhill.window.composer.edit, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert underhill.window.composer.text() == "two\n\ntyped"
    assert len(generated(underhill)) == 1


def test_what_waits_goes_on_in_a_chat_that_is_not_open(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch(script=lambda messages: f"On {messages[-1].content}: " + SENTENCE)
    engine_of(underhill).ends.clear()
    begin(qtbot, underhill, "one")
    type_in(qtbot, underhill, "two")
    underhill.window.navigator.new_chat()
    assert underhill.window.composer.waiting.chips == ()
    engine_of(underhill).ends.set()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert contents(underhill) == []
    assert [c for _, c, _ in on_disk(underhill, tmp_path)[0]] == ["one", f"On one: {SENTENCE}", "two",
                                                                  f"On two: {SENTENCE}"]  # fmt: skip


def test_what_waited_when_underhill_was_killed_comes_back(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch()
    ask(qtbot, underhill, "one")
    close(underhill)
    store = ChatStore(tmp_path / "chats.db")
    store.db.execute("""UPDATE chats SET queue = '[{"text": "two", "attachments": []}]'""")
    store.close()
    again = launch()
    qtbot.waitUntil(lambda: again.window.composer.text() == "two")
    close(again)
    store = ChatStore(tmp_path / "chats.db")
    assert [(c.draft, c.queue) for c in store.chats()] == [("two", ())]
    store.close()


def test_a_stopped_answer_goes_on(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch(rate=60.0, script=lambda messages: SENTENCE * 50)
    begin(qtbot, underhill, "go")
    underhill.conversation.stop()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    before = underhill.conversation.messages[1]
    assert button(underhill.window.transcript, "Continue").isVisible()
    engine_of(underhill).script = lambda messages: " The end."  # no faster: Windows' clock has steps of 16 ms
    button(underhill.window.transcript, "Continue").click()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    command = generated(underhill)[-1]
    assert command.continue_last
    assert [(m.role, m.content) for m in command.messages] == [("user", "go"), ("assistant", before.content)]
    after = underhill.conversation.messages[1]
    assert (after.id, after.content) == (before.id, before.content + " The end.")
    assert after.token_ids[: len(before.token_ids)] == before.token_ids
    assert len(after.token_ids) > len(before.token_ids)
    assert after.stats["decode_seconds"] > before.stats["decode_seconds"]
    assert contents(underhill)[1] == after.content
    assert not button(underhill.window.transcript, "Continue").isVisible()
    assert on_disk(underhill, tmp_path)[0][1] == ("assistant", after.content, "whole")


def test_the_end_of_an_answer_that_was_given_up_is_not_that_of_the_one_that_goes_on(
    qtbot: QtBot, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waited behind the second one was lost with it."""
    underhill = launch(script=lambda messages: f"On {messages[-1].content}.")
    engine_of(underhill).ends.clear()
    type_in(qtbot, underhill, "one")
    qtbot.waitUntil(lambda: contents(underhill) == ["one", "On one."])
    monkeypatch.setattr(underhill.link, "stop", lambda command: None)  # the engine does not hear of it
    for _ in range(2):
        underhill.conversation.stop()
    assert not underhill.conversation.working
    underhill.conversation.continue_answer(underhill.conversation.messages[1].id)
    type_in(qtbot, underhill, "two")
    assert [chip.text for chip in underhill.window.composer.waiting.chips] == ["two"]
    engine_of(underhill).ends.set()
    everything = ["one", "On one.On On one..", "two", "On two."]
    qtbot.waitUntil(lambda: contents(underhill) == everything and not underhill.conversation.working)
    assert [content for _, content, _ in on_disk(underhill, tmp_path)[0]] == everything


def test_an_answer_cannot_go_on_while_another_follows_it(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(finish="length")
    ask(qtbot, underhill, "one")
    cut = underhill.conversation.messages[1]
    ask(qtbot, underhill, "two")
    underhill.conversation.continue_answer(cut.id)
    assert not underhill.conversation.working


def test_having_an_answer_go_on_that_was_not_cut_says_why_it_does_not(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    ask(qtbot, underhill, "one")
    underhill.window.editing.continue_last()
    assert not underhill.conversation.working
    assert underhill.window.toast.accessibleName().startswith("Nothing to continue")


def test_going_on_that_fails_keeps_what_there_was(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(finish="length")
    ask(qtbot, underhill, "one")
    engine_of(underhill).fail[protocol.Generate] = protocol.Failed(
        "", protocol.Kind.OUT_OF_MEMORY, "Too little memory."
    )
    underhill.conversation.continue_answer(underhill.conversation.messages[1].id)
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert contents(underhill) == ["one", SENTENCE * 3]
    assert underhill.conversation.messages[1].unfinished


def test_a_second_stop_no_longer_waits(qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    underhill = launch(rate=60.0, script=lambda messages: SENTENCE * 50)
    begin(qtbot, underhill, "go")
    monkeypatch.setattr(underhill.link, "stop", lambda target: None)  # an engine that is stuck
    underhill.conversation.stop()
    qtbot.waitUntil(lambda: "Esc again" in underhill.window.transcript.items[1].status)
    assert underhill.conversation.working
    underhill.conversation.stop()
    assert not underhill.conversation.working
    message = underhill.conversation.messages[1]
    assert message.finish == "cancelled"
    assert (SENTENCE * 50).startswith(message.content)
    qtbot.wait(100)
    assert contents(underhill)[1] == message.content  # what comes late is not for this page


def test_a_branch_opens_as_a_chat_of_its_own(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch(script=lambda messages: f"On {messages[-1].content}.")
    for text in ("one", "two"):
        ask(qtbot, underhill, text)
    old = underhill.conversation.chat
    underhill.window.transcript.message_actions.branch.emit(underhill.conversation.messages[1].id)
    qtbot.waitUntil(lambda: contents(underhill) == ["one", "On one."])
    assert underhill.conversation.chat != old
    ask(qtbot, underhill, "three")
    found = on_disk(underhill, tmp_path)
    assert sorted(len(chat) for chat in found) == [4, 4]
    assert {chat[2][1] for chat in found} == {"two", "three"}


def test_what_is_typed_in_a_new_chat_is_there_after_a_restart(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    qtbot.keyClicks(underhill.window.composer.edit, "half a thought")
    close(underhill)
    again = launch()
    assert again.window.composer.text() == "half a thought"
    ask(qtbot, again, "whole")
    again.window.navigator.new_chat()
    assert again.window.composer.text() == ""
