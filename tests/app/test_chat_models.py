"""Which model answers in which chat: it is remembered, opened when a message is sent, and named where it changes."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

from PySide6.QtGui import QAction
from pytestqt.qtbot import QtBot

from app.application import Application
from app.settings import preferences
from app.storage.records import Chat
from app.storage.schema import STEPS, migrate
from app.widgets.text import plain_tip
from engine import protocol
from engine.translatable import msg
from tests.app.acts import Launch, ask, contents
from tests.app.conftest import close, engine_of
from tests.app.fake_cards import BUILTIN, LARGE
from tests.app.homes import lived_in

TEAM = protocol.TeamCard("mine", protocol.Team("Mine", (protocol.TeamStep(name="One"),)))


def entry(underhill: Application, title: str) -> QAction:
    """An entry of the model menu."""
    header = underhill.window.header
    header.fill_menu()
    return next(action for action in header.menu.actions() if action.text().partition("\t")[0] == title)


def checked(underhill: Application) -> list[str]:
    underhill.window.header.fill_menu()
    actions = underhill.window.header.menu.actions()
    return [action.text().partition("\t")[0] for action in actions if action.isChecked()]


def opened(underhill: Application) -> list[str]:
    """The models that the engine was told to open, in their order."""
    return [c.model for c in engine_of(underhill).received if isinstance(c, protocol.LoadModel)]


def listed(qtbot: QtBot, underhill: Application) -> None:
    qtbot.waitUntil(lambda: len(underhill.models.cards) == 2 and underhill.models.state == "ready")


def open_chat(qtbot: QtBot, underhill: Application, title: str) -> None:
    """Open a chat of the list as a click does."""

    def chats() -> list[Chat]:
        return [r for r in underhill.window.sidebar.model.rows if isinstance(r, Chat) and r.title == title]

    qtbot.waitUntil(lambda: bool(chats()))
    underhill.window.navigator.open_chat(chats()[0])
    qtbot.waitUntil(lambda: underhill.conversation.chat is not None and underhill.conversation.chat.title == title)


def two_chats(qtbot: QtBot, underhill: Application) -> None:
    """One that the built-in model answers, and behind it one of the large model, which is open then."""
    listed(qtbot, underhill)
    ask(qtbot, underhill, "small")
    underhill.window.navigator.new_chat()
    entry(underhill, LARGE.title).trigger()
    qtbot.waitUntil(lambda: underhill.models.state == "ready" and underhill.models.wanted == LARGE.name)
    ask(qtbot, underhill, "large")


def test_a_chat_is_answered_by_its_model_which_is_opened_when_a_message_is_sent(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    header = underhill.window.header
    two_chats(qtbot, underhill)
    assert opened(underhill) == ["builtin", LARGE.name]
    open_chat(qtbot, underhill, "small")
    assert header.model.text() == BUILTIN.title
    assert header.state.text() == "Loads when you send"
    assert header.state.toolTip() == plain_tip(f"{LARGE.title} is loaded now. Sending a message loads {BUILTIN.title}.")
    assert underhill.window.composer.edit.placeholderText() == f"Send a message (loads {BUILTIN.title})"
    assert checked(underhill) == [BUILTIN.title]
    assert opened(underhill) == ["builtin", LARGE.name]  # looking at a chat opens nothing
    ask(qtbot, underhill, "again")
    assert opened(underhill) == ["builtin", LARGE.name, "builtin"]
    assert [m.model for m in underhill.conversation.messages if m.role == "assistant"] == [BUILTIN.title] * 2
    qtbot.waitUntil(lambda: header.state.text() == "Ready")
    open_chat(qtbot, underhill, "large")
    assert (header.model.text(), header.state.text()) == (LARGE.title, "Loads when you send")


def test_the_model_of_a_chat_outlives_a_restart(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    two_chats(qtbot, underhill)
    open_chat(qtbot, underhill, "small")
    close(underhill)
    again = launch()
    listed(qtbot, again)
    qtbot.waitUntil(lambda: contents(again)[:1] == ["small"])
    header = again.window.header
    assert opened(again) == [LARGE.name]  # that was open
    assert (header.model.text(), header.state.text()) == (BUILTIN.title, "Loads when you send")
    ask(qtbot, again, "and now")
    assert again.conversation.messages[-1].model == BUILTIN.title
    assert opened(again) == [LARGE.name, "builtin"]
    open_chat(qtbot, again, "large")
    ask(qtbot, again, "you too")
    assert again.conversation.messages[-1].model == LARGE.title


def test_another_model_in_the_middle_of_a_chat_is_named_above_its_answer(
    qtbot: QtBot, launch: Launch, tmp_path: Path
) -> None:
    underhill = launch()
    listed(qtbot, underhill)
    ask(qtbot, underhill, "one")
    entry(underhill, LARGE.title).trigger()
    ask(qtbot, underhill, "two")
    ask(qtbot, underhill, "three")
    above = [item.notices_above() for item in underhill.window.transcript.items]
    assert above == [[], [], [], [f"Answered by {LARGE.title}"], [], []]
    item = underhill.window.transcript.items[3]
    assert item.first_block_top() > underhill.window.transcript.items[5].first_block_top() + 20  # there is room for it
    close(underhill)
    again = launch()
    qtbot.waitUntil(lambda: len(contents(again)) == 6)
    assert [item.notices_above() for item in again.window.transcript.items] == above
    assert again.models.choice == LARGE.name


def test_a_message_that_waits_for_one_model_is_answered_by_it_though_another_is_chosen(
    qtbot: QtBot, launch: Launch
) -> None:
    underhill = launch()
    two_chats(qtbot, underhill)
    open_chat(qtbot, underhill, "small")
    engine = engine_of(underhill)
    engine.goes_on.clear()
    underhill.conversation.send("wait for it")
    qtbot.waitUntil(lambda: isinstance(engine.received[-1], protocol.Generate))
    open_chat(qtbot, underhill, "large")
    underhill.conversation.send("me too")
    qtbot.waitUntil(lambda: opened(underhill)[-2:] == ["builtin", LARGE.name])
    stopped = {c.target for c in engine.received if isinstance(c, protocol.Stop)}
    engine.goes_on.set()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert not stopped & {c.id for c in engine.received if isinstance(c, protocol.LoadModel)}
    order = [c.model if isinstance(c, protocol.LoadModel) else c.messages[-1].content
             for c in engine.received if isinstance(c, (protocol.LoadModel, protocol.Generate))]  # fmt: skip
    assert order[-4:] == ["builtin", "wait for it", LARGE.name, "me too"]
    assert underhill.conversation.messages[-1].model == LARGE.title


def test_a_model_that_nobody_waits_for_is_left_off(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    two_chats(qtbot, underhill)
    engine = engine_of(underhill)
    engine.goes_on.clear()
    entry(underhill, BUILTIN.title).trigger()
    load = underhill.models.loading
    entry(underhill, LARGE.title).trigger()
    assert load in {c.target for c in engine.received if isinstance(c, protocol.Stop)}
    engine.goes_on.set()
    qtbot.waitUntil(lambda: underhill.models.state == "ready")


def test_what_waits_in_a_chat_goes_to_its_model_while_another_chat_is_open(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    two_chats(qtbot, underhill)
    engine = engine_of(underhill)
    engine.ends.clear()
    underhill.conversation.send("first")
    qtbot.waitUntil(lambda: isinstance(engine.received[-1], protocol.Generate))
    underhill.conversation.send("queued")
    open_chat(qtbot, underhill, "small")
    underhill.conversation.send("meanwhile")
    engine.ends.set()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert underhill.conversation.messages[-1].model == BUILTIN.title
    open_chat(qtbot, underhill, "large")
    qtbot.waitUntil(lambda: len(contents(underhill)) == 6)
    assert {m.model for m in underhill.conversation.messages if m.role == "assistant"} == {LARGE.title}


def test_a_model_that_is_gone_is_said_to_be_and_the_open_one_answers(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    two_chats(qtbot, underhill)
    open_chat(qtbot, underhill, "small")
    engine_of(underhill).cards = (replace(BUILTIN, state="damaged", problem=msg("Its disk is not connected.")), LARGE)
    underhill.models.refresh()
    header = underhill.window.header
    qtbot.waitUntil(lambda: header.state.text() == f"{BUILTIN.title} not available")
    assert header.model.text() == LARGE.title
    assert header.state.toolTip() == plain_tip(
        f"{BUILTIN.title}, chosen for this chat, is not available. {LARGE.title} answers instead."
    )
    ask(qtbot, underhill, "who is there")
    assert underhill.conversation.messages[-1].model == LARGE.title
    assert header.state.text() == "Ready"
    assert underhill.window.transcript.items[-1].notices_above() == [f"Answered by {LARGE.title}"]


def test_a_team_is_remembered_with_its_chat(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(teams=(TEAM,))
    listed(qtbot, underhill)
    qtbot.waitUntil(lambda: bool(underhill.models.teams))
    ask(qtbot, underhill, "alone")
    entry(underhill, "Mine").trigger()
    ask(qtbot, underhill, "together")
    assert underhill.conversation.messages[-1].model == "Mine"
    underhill.window.navigator.new_chat()
    assert checked(underhill) == ["Mine"]  # the last one
    entry(underhill, BUILTIN.title).trigger()
    ask(qtbot, underhill, "other")
    open_chat(qtbot, underhill, "alone")
    assert checked(underhill) == ["Mine"]
    assert underhill.window.header.model.text() == "Mine"
    ask(qtbot, underhill, "and again")
    sent = [c for c in engine_of(underhill).received if isinstance(c, protocol.Generate)]
    assert [c.model for c in sent] == ["", "team:mine", "", "team:mine"]
    close(underhill)
    again = launch()  # where the team is gone
    qtbot.waitUntil(lambda: again.window.header.state.text() == "mine not available")


def test_new_chats_begin_with_the_model_of_the_settings(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch()
    listed(qtbot, underhill)
    dialog = underhill.window.settings.open()
    choices = dialog.shared.new_chats
    assert [choices.itemText(i) for i in range(choices.count())] == ["Last used", BUILTIN.title, LARGE.title]
    choices.setCurrentIndex(2)
    choices.activated.emit(2)
    header = underhill.window.header
    assert (header.model.text(), header.state.text()) == (LARGE.title, "Loads when you send")
    assert opened(underhill) == ["builtin"]
    ask(qtbot, underhill, "who")
    assert underhill.conversation.messages[-1].model == LARGE.title
    entry(underhill, BUILTIN.title).trigger()
    ask(qtbot, underhill, "and who")
    assert underhill.conversation.messages[-1].model == BUILTIN.title
    underhill.window.navigator.new_chat()
    assert header.model.text() == LARGE.title
    close(underhill)
    assert preferences.load(lived_in(tmp_path).preferences)[0].model == "builtin"
    again = launch()
    listed(qtbot, again)
    assert opened(again) == [LARGE.name]  # the new chat that is open is going to need it
    assert again.window.header.state.text() == "Ready"


def test_the_model_of_the_command_line_answers_in_the_chat_that_opens(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    listed(qtbot, underhill)
    ask(qtbot, underhill, "small")
    close(underhill)
    again = launch(ready=False)
    again.window.model_controller.begin_with(LARGE.name)  # before any event, as main does
    again.window.start()
    listed(qtbot, again)
    qtbot.waitUntil(lambda: contents(again)[:1] == ["small"])
    assert opened(again)[-1] == LARGE.name
    assert (again.window.header.model.text(), again.window.header.state.text()) == (LARGE.title, "Ready")


def test_chats_of_the_version_before_go_on_with_the_model_that_answered_last(
    qtbot: QtBot, launch: Launch, tmp_path: Path
) -> None:
    db = sqlite3.connect(lived_in(tmp_path).chats, isolation_level=None)
    migrate(db, STEPS[:5])
    db.execute("INSERT INTO chats (id, title, created_at, updated_at, leaf_id) VALUES (1, 'old', 1, 1, 3)")
    db.execute("INSERT INTO messages (id, chat_id, role, content, created_at) VALUES (2, 1, 'user', 'old', 1)")
    db.execute(
        "INSERT INTO messages (id, chat_id, parent_id, role, content, model, created_at) "
        "VALUES (3, 1, 2, 'assistant', 'Yes.', ?, 1)",
        (LARGE.title,),
    )
    db.close()
    underhill = launch()
    listed(qtbot, underhill)
    open_chat(qtbot, underhill, "old")
    header = underhill.window.header
    assert (header.model.text(), header.state.text()) == (LARGE.title, "Loads when you send")
    ask(qtbot, underhill, "still there")
    assert underhill.conversation.messages[-1].model == LARGE.title
    assert underhill.conversation.chat is not None
    assert underhill.conversation.chat.model == LARGE.name


def test_a_message_sent_before_the_list_of_models_is_there_gets_its_name_on_disk(
    qtbot: QtBot, launch: Launch, tmp_path: Path
) -> None:
    underhill = launch(ready=False, goes_on=threading.Event())
    underhill.conversation.send("early bird", ())
    engine_of(underhill).goes_on.set()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    close(underhill)
    db = sqlite3.connect(tmp_path / "chats.db")
    assert db.execute("SELECT model FROM messages WHERE role = 'assistant'").fetchall() == [(BUILTIN.title,)]
    assert db.execute("SELECT model FROM chats").fetchall() == [("builtin",)]
    db.close()
