"""Another size of text is in force at once: everything is as it is in a window that was opened with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPointF, QRect
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.application import Application
from app.settings.dialog import SettingsDialog
from app.shell import Shell
from app.storage.records import Attachment, ScrollPosition, StoredMessage
from app.theme import fonts
from app.theme.theme import Theme
from app.transcript.mouse import hit_test
from app.transcript.selection import TextPosition
from app.transcript.view import TranscriptView
from tests.app.acts import Launch, ask
from tests.app.conftest import close
from tests.app.places import settle
from tests.app.samples import LONG_ANSWER

pytestmark = pytest.mark.long

LINE = 100  # characters, at most
FORMULA = "Energy is $E = mc^2$.\n\n$$\\int_0^1 x^2 dx = \\frac{1}{3}$$\n"


@pytest.fixture(autouse=True)
def normal_size(qapp: QApplication) -> Iterator[None]:
    yield
    fonts.set_percent(100)
    qapp.setFont(fonts.text())


def measured(root: QWidget) -> list[str]:
    """Every widget below it: where it is in the tree, its font, and all that is made to the size of text."""
    found = []

    def walk(widget: QWidget, path: str) -> None:
        icon = widget.iconSize() if isinstance(widget, QAbstractButton) else None
        picture = widget.pixmap().width() if isinstance(widget, QLabel) else 0
        hint = widget.sizeHint() if isinstance(widget, (QAbstractButton, QComboBox, QLineEdit)) else None
        sizes = [widget.minimumSize(), widget.maximumSize(), hint, icon]
        font = widget.font()
        told = [font.pointSizeF(), font.weight(), picture, *(s.toTuple() for s in sizes if s is not None)]
        found.append(f"{path}: {told}")
        for child in widget.children():
            if isinstance(child, QWidget) and not child.isWindow() and not child.objectName().endswith("container"):
                walk(child, f"{path}/{type(child).__name__} {child.objectName()}")

    walk(root, type(root).__name__)
    return sorted(found)


def filled(qtbot: QtBot, underhill: Application, settings: SettingsDialog) -> None:
    """A chat with code, a table and a formula, its figures unfolded, files attached, a banner, all panels."""
    window = underhill.window
    window.composer.set_text("A draft\nof two lines")
    window.composer.set_attachments((Attachment("notes.txt", "Some notes."),))
    qtbot.waitUntil(lambda: all("·" in chip.text for chip in window.composer.attached.chips))
    window.banners.show_banner("warning", "Something is wrong.", "Do something.", "", ("Do it", lambda: None))
    window.transcript.toggle_details(underhill.conversation.messages[-1].id)
    settings.advanced.setChecked(True)
    qtbot.waitUntil(lambda: window.live.history.maps is not None)


def test_a_change_leaves_nothing_of_the_old_size(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch(script=lambda messages: LONG_ANSWER + FORMULA)
    window = underhill.window
    window.resize(1500, 900)
    for words in ("One", "Two", "Three"):
        ask(qtbot, underhill, words)
    settings = window.settings.open()
    filled(qtbot, underhill, settings)
    settle(qtbot, window)
    settings.look.font_size.setCurrentIndex(settings.look.font_size.findData(150))
    assert settings.look.note.isHidden()  # nothing to start again for
    settle(qtbot, window)
    settle(qtbot, settings)
    live = [measured(window), measured(settings)]
    size = settings.size()
    close(underhill)

    again = launch(script=lambda messages: LONG_ANSWER + FORMULA)
    again.window.resize(1500, 900)
    qtbot.waitUntil(lambda: len(again.window.transcript.items) == 6)
    assert again.window.preferences.font_percent == 150
    settings = again.window.settings.open()
    filled(qtbot, again, settings)
    settle(qtbot, again.window)
    settle(qtbot, settings)
    fresh = [measured(again.window), measured(settings)]
    assert live == fresh
    assert settings.size() == size


def chat(count: int) -> list[StoredMessage]:
    return [
        StoredMessage(
            id=n,
            chat_id=1,
            parent_id=None,
            role="assistant" if n % 2 else "user",
            content=(LONG_ANSWER + FORMULA) * 2,
            token_ids="whole",
        )
        for n in range(1, count + 1)
    ]


def top(view: TranscriptView) -> TextPosition:
    """What stands at the top of the page."""
    hit = hit_test(view, QPointF(view.origin(0).x() + 6, 14), exact=False)
    assert hit is not None
    return hit.place


def near(one: TextPosition, other: TextPosition) -> bool:
    """In the same block, and no more than a line apart."""
    return one[:2] == other[:2] and abs(one.position - other.position) < LINE


def sizes_on_the_page(view: TranscriptView) -> set[float]:
    return {
        round(block.document.defaultFont().pointSizeF() / scale, 1)
        for item in view.items
        for block in item.blocks()
        if block.document is not None
        for scale in [0.93 if block.is_code else 1.0]
    }


@pytest.mark.parametrize("message", [3, 150, 298])
def test_what_one_reads_stays_in_sight(theme: Theme, view: TranscriptView, message: int) -> None:
    view.set_messages(chat(300))
    view.go_to(ScrollPosition(message, 700))
    before = top(view)
    for percent in (150, 85, 175, 100):
        theme.set_percent(percent)
        assert near(top(view), before)
        assert sizes_on_the_page(view) == {round(fonts.BASE_POINTS * percent / 100, 1)}
    assert near(top(view), before)


def test_the_end_stays_in_sight_while_an_answer_streams(theme: Theme, view: TranscriptView) -> None:
    view.set_messages(
        [*chat(4), StoredMessage(id=5, chat_id=1, parent_id=4, role="assistant", content="", token_ids="streaming")]
    )
    half = len(LONG_ANSWER) // 2
    view.extend(5, LONG_ANSWER[:half], "")
    theme.set_percent(150)
    bar = view.verticalScrollBar()
    assert bar.value() == bar.maximum()
    view.extend(5, LONG_ANSWER[half:], "")
    assert bar.value() == bar.maximum()
    view.finish(StoredMessage(id=5, chat_id=1, parent_id=4, role="assistant", content=LONG_ANSWER, token_ids="whole"))
    assert sizes_on_the_page(view) == {round(1.5 * fonts.BASE_POINTS, 1)}
    shown = "\n".join(b.document.toPlainText() for b in view.items[4].blocks() if b.document is not None)
    assert shown.endswith("That is all there is to it.")


def test_one_reads_on_where_one_was_while_an_answer_streams_below(theme: Theme, view: TranscriptView) -> None:
    view.set_messages(
        [*chat(4), StoredMessage(id=5, chat_id=1, parent_id=4, role="assistant", content="", token_ids="streaming")]
    )
    view.extend(5, LONG_ANSWER, "")
    view.go_to(ScrollPosition(2, 900))
    before = top(view)
    theme.set_percent(130)
    view.extend(5, LONG_ANSWER, "")
    theme.set_percent(100)
    view.extend(5, LONG_ANSWER, "")
    assert near(top(view), before)


def test_formulas_are_set_anew(qtbot: QtBot, theme: Theme, view: TranscriptView) -> None:
    view.set_messages(
        [StoredMessage(id=1, chat_id=1, parent_id=None, role="assistant", content=FORMULA, token_ids="whole")]
    )

    def high() -> float:
        """Of the formula that stands alone; 0 until it is set."""
        block = view.items[0].blocks()[-1]
        return 0.0 if block.document is None or block.document.waiting else block.height

    qtbot.waitUntil(lambda: high() > 0)
    before = high()
    theme.set_percent(150)
    qtbot.waitUntil(lambda: high() > 1.35 * before)


def test_the_page_stays_where_it_is_when_the_window_gets_another_width(theme: Theme, view: TranscriptView) -> None:
    view.set_messages(chat(300))
    view.go_to(ScrollPosition(150, 700))
    before = top(view)
    for width in (600, 420, 780, 900):
        view.resize(width, 700)
        assert near(top(view), before)
    assert near(top(view), before)


@pytest.mark.parametrize("percent", [100, 150, 175])
def test_the_list_of_chats_is_never_narrower_than_its_buttons(qtbot: QtBot, launch: Launch, percent: int) -> None:
    underhill = launch()
    window = underhill.window
    window.resize(900, 600)
    underhill.theme.set_percent(percent)
    window.header.sidebar.setChecked(True)
    settle(qtbot, window)
    window.splitter.setSizes([10, 890])
    settle(qtbot, window)
    sidebar = window.sidebar
    assert sidebar.button.width() >= sidebar.button.sizeHint().width()
    assert sidebar.width() >= 190


def test_the_list_of_chats_grows_along_until_a_person_sets_its_width(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    underhill = launch()
    window = underhill.window
    screen = SimpleNamespace(availableGeometry=lambda: QRect(0, 0, 1280, 800))
    monkeypatch.setattr(Shell, "screen", lambda _: screen)
    window.resize(1280, 700)
    window.header.sidebar.setChecked(True)
    for percent, wide in ((150, 320), (100, 248), (130, 320)):
        underhill.theme.set_percent(percent)
        settle(qtbot, window)
        assert window.sidebar.width() == wide
    window.splitter.setSizes([300, 980])
    underhill.theme.set_percent(100)
    settle(qtbot, window)
    assert window.sidebar.width() == 300
