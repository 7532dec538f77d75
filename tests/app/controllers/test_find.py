"""Finding words in the open chat, and seeing where a search over all chats found them."""

from __future__ import annotations

from collections import Counter

import pytest
from PySide6.QtCore import QRect, Qt
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


def grounds(underhill: Application, index: int) -> dict[str, int]:
    """How many pixels of each colour a message has."""
    view = underhill.window.transcript
    at, high = view.origin(index), view.items[index].foot
    place = QRect(round(at.x()), round(at.y()), round(view.layout_.column), round(high))
    picture = view.viewport().grab(place.intersected(view.viewport().rect())).toImage()
    return Counter(picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height()))


def test_all_matches_are_marked_and_the_current_one_more_strongly(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(script=lambda messages: "A fox and a fox.\n\n```py\nfox = 1\n```\n")
    ask(qtbot, underhill, "Where is the fox?")
    view, p = underhill.window.transcript, underhill.theme.palette
    marked, current = p.warning_soft, p.accent
    assert grounds(underhill, 0)[marked] == grounds(underhill, 1)[marked] == 0
    find(qtbot, underhill, "fox")
    assert place(underhill)[0] == 0
    assert grounds(underhill, 0)[current] > 100  # on the ground of the bubble
    assert grounds(underhill, 0)[marked] == 0
    three = grounds(underhill, 1)[marked]
    assert three > 300
    assert grounds(underhill, 1)[current] == 0
    qtbot.keyClick(underhill.window.find_bar.edit, Qt.Key.Key_Return)
    assert grounds(underhill, 0)[marked] > 100
    assert three / 2 < grounds(underhill, 1)[marked] < three
    assert grounds(underhill, 1)[current] > 100
    view.mouse.select_all()  # what a person selects looks as ever
    assert grounds(underhill, 1)[current] == 0
    qtbot.keyClick(underhill.window.find_bar.edit, Qt.Key.Key_Escape)
    view.selection.clear()
    view.renew()
    assert grounds(underhill, 0)[marked] == grounds(underhill, 1)[marked] == 0


def test_only_what_is_in_sight_of_a_long_code_is_searched_for_marks(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(script=lambda messages: "```py\n" + "fox = 1\n" * 4000 + "```\n")
    ask(qtbot, underhill, "Go")
    find(qtbot, underhill, "fox")
    seen: list[int] = []
    pattern = underhill.window.transcript.selection.wanted
    assert pattern is not None

    class Counting:
        def finditer(self, *args: int) -> list[object]:
            found = list(pattern.finditer(*args))  # type: ignore[call-overload]
            seen.append(len(found))
            return found

    underhill.window.transcript.selection.wanted = Counting()  # type: ignore[assignment]
    underhill.window.transcript.renew()
    qtbot.waitUntil(lambda: bool(seen))
    assert 10 < max(seen) < 300
