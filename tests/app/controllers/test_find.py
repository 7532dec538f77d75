"""Finding words in the open chat, and seeing where a search over all chats found them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.application import Application
from app.storage.search import SearchHit
from tests.app.acts import Launch, ask
from tests.app.fake_engine import SENTENCE

pytestmark = pytest.mark.long
ANSWERS = {
    "one": "The **fox** sleeps.\n\nAnother fox, in a [den](https://fox.example).",
    "two": "No animal at all; see [here](https://fox.example).",
    "three": "| a | b |\n|---|---|\n| x | Foxes |\n\n```py\nfox = 1\n```\n",
}


def selected(underhill: Application) -> str:
    view = underhill.window.transcript
    return view.selection.text(view.items, view.make, False)


def place(underhill: Application) -> tuple[int, int]:
    anchor = underhill.window.transcript.selection.anchor
    assert anchor is not None
    return anchor.message, anchor.block


def find(qtbot: QtBot, underhill: Application, words: str) -> None:
    bar = underhill.window.find_bar
    qtbot.keyClick(underhill.window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert not bar.isHidden()
    bar.edit.setText(words)
    qtbot.keyClick(bar.edit, Qt.Key.Key_Return)


def test_each_place_is_selected_in_turn(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(script=lambda messages: ANSWERS[messages[-1].content])
    for question in ANSWERS:
        ask(qtbot, underhill, question)
    bar = underhill.window.find_bar
    underhill.window.transcript.verticalScrollBar().setValue(0)
    find(qtbot, underhill, "FOX")
    seen = [(place(underhill), selected(underhill))]
    assert bar.count.text() == "1 of 3 messages"
    for _ in range(4):
        qtbot.keyClick(bar.edit, Qt.Key.Key_Return)
        seen.append((place(underhill), selected(underhill)))
    # the second answer has the word in an address alone
    assert seen == [((1, 0), "fox"), ((1, 1), "fox"), ((5, 0), "Fox"), ((5, 1), "fox"), ((1, 0), "fox")]
    qtbot.keyClick(bar.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert place(underhill) == (5, 1)
    assert bar.count.text() == "3 of 3 messages"
    bar.edit.setText("badger")
    qtbot.keyClick(bar.edit, Qt.Key.Key_Return)
    assert bar.count.text() == "No matches"
    qtbot.keyClick(bar.edit, Qt.Key.Key_Escape)
    assert bar.isHidden()


def test_what_is_found_far_above_is_brought_into_sight(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(script=lambda messages: f"{SENTENCE}\n\n" * 60 + "the needle\n\n" + f"{SENTENCE}\n\n" * 60)
    ask(qtbot, underhill, "Hello")
    find(qtbot, underhill, "needle")
    assert selected(underhill) == "needle"
    view = underhill.window.transcript
    message, block = place(underhill)
    top = view.origin(message).y() + view.items[message].blocks()[block].top
    assert 0 < top < view.viewport().height() - 40


def test_a_message_found_among_all_chats_is_opened_at_the_words(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(script=lambda messages: f"{SENTENCE}\n\n" * 60 + "the needle\n\n" + f"{SENTENCE}\n\n" * 60)
    ask(qtbot, underhill, "Hello")
    window = underhill.window
    window.navigator.new_chat()
    window.sidebar.search.setFocus()
    window.sidebar.search.setText("needle")
    qtbot.waitUntil(lambda: any(isinstance(row, SearchHit) for row in window.sidebar.model.rows))
    hit = next(row for row in window.sidebar.model.rows if isinstance(row, SearchHit))
    window.sidebar.found.emit(hit)
    qtbot.waitUntil(lambda: selected(underhill) == "needle")
    assert window.find_bar.isHidden()
    qtbot.keyClick(window.sidebar.search, Qt.Key.Key_Escape)
    assert window.sidebar.search.text() == ""


def test_a_new_chat_ends_the_search_over_all_chats(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    ask(qtbot, underhill, "Hello")
    underhill.window.sidebar.search.setText("nothing has this")
    underhill.window.navigator.new_chat()
    assert underhill.window.sidebar.search.text() == ""


def test_an_empty_chat_has_nothing_to_find_in(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    underhill.window.find_controller.open()
    assert underhill.window.find_bar.isHidden()
