"""The list of chats shows which one is on the page, and what goes on in the others."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.widgets.text import plain_tip
from tests.app.acts import Launch, ask
from tests.app.fake_engine import SENTENCE


def test_an_answer_in_another_chat_is_marked_until_it_is_looked_at(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(rate=60.0, script=lambda messages: SENTENCE * (1 if messages[-1].content == "Hello" else 8))
    model = underhill.window.sidebar.model
    ask(qtbot, underhill, "Hello")
    qtbot.waitUntil(lambda: model.rowCount() == 2)
    first = underhill.conversation.chat
    assert first is not None
    assert (model.open_id, model.answering, model.fresh) == (first.id, frozenset(), frozenset())
    underhill.conversation.send("Tell me more", ())
    assert model.answering == {first.id}
    underhill.window.navigator.new_chat()
    assert (model.open_id, model.answering) == (0, {first.id})
    role = Qt.ItemDataRole.AccessibleTextRole
    assert "generating" in model.data(model.index_of(first.id), role)
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert (model.answering, model.fresh) == (frozenset(), {first.id})
    assert "new answer" in model.data(model.index_of(first.id), role)
    underhill.conversation.open(first)
    qtbot.waitUntil(lambda: model.open_id == first.id)
    assert model.fresh == frozenset()
    assert model.data(model.index_of(first.id), Qt.ItemDataRole.ToolTipRole) == plain_tip("Hello")


def test_the_open_chat_stays_marked_while_another_is_chosen(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    for words in ("one", "two"):
        underhill.window.navigator.new_chat()
        ask(qtbot, underhill, words)
    sidebar = underhill.window.sidebar
    opened = underhill.conversation.chat
    assert opened is not None
    qtbot.waitUntil(lambda: len(sidebar.model.rows) == 3)
    sidebar.list.setCurrentIndex(sidebar.model.index(2))  # as the right button does
    assert sidebar.model.open_id == opened.id

    def bar(row: int) -> str:
        rect = sidebar.list.visualRect(sidebar.model.index(row))
        return sidebar.list.grab(rect).toImage().pixelColor(3, rect.height() // 2).name()

    accent = underhill.theme.palette.accent
    assert [bar(1), bar(2)].count(accent) == 1
    assert bar(1) == accent
