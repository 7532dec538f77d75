"""Code that is wider than the page: it scrolls sideways, or its long lines are wrapped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.application import Application
from app.storage.records import StoredMessage, new_id
from app.theme.theme import Theme
from app.transcript.blocks import BlockView
from app.transcript.code_controls import CodeControls
from app.transcript.view import TranscriptView, take_anchor
from tests.app.acts import ask
from tests.app.conftest import close

WIDE = "total = " + " + ".join(f"value_{n}" for n in range(60)) + "  # the end"
CODE = f"```py\n{WIDE}\nprint(total)\n```"
RIGHT_TO_LEFT = f"הנה הקוד:\n\n```py\n# {'הערה ארוכה מאוד ' * 12}\n{WIDE}\n```"


def answer(text: str, state: str = "complete") -> StoredMessage:
    return StoredMessage(id=new_id(), chat_id=1, parent_id=None, role="assistant", content=text, state=state)


def shown(view: TranscriptView, text: str = f"Here:\n\n{CODE}\n\nThat is all.") -> tuple[BlockView, CodeControls]:
    """The block of code of an answer that is shown alone, and its controls."""
    view.set_messages([answer(text)])
    block = next(b for b in view.items[0].blocks() if b.is_code)
    controls = view.code.of(block)
    assert controls is not None
    return block, controls


def in_sight(view: TranscriptView) -> list[CodeControls]:
    """Controls of blocks, from the top."""
    return sorted((c for c in view.findChildren(CodeControls) if c.view is not None), key=lambda c: c.y())


def wheel(view: TranscriptView, at: QPointF, turned: QPoint, modifiers: Qt.KeyboardModifier) -> None:
    event = QWheelEvent(
        at, view.viewport().mapToGlobal(at), QPoint(), turned, Qt.MouseButton.NoButton, modifiers,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(view.viewport(), event)


def lines(block: BlockView) -> int:
    assert block.document is not None
    return block.document.firstBlock().layout().lineCount()


def test_it_scrolls_sideways_and_the_page_does_not(view: TranscriptView) -> None:
    block, controls = shown(view)
    assert lines(block) == 1
    assert controls.bar.isVisible()
    place = QPointF(controls.bar.geometry().center()) - QPointF(0, 40)
    none, shift = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
    wheel(view, place, QPoint(-240, 0), none)
    assert block.shift > 0
    wheel(view, place, QPoint(0, -240), shift)
    there = block.shift
    wheel(view, place, QPoint(0, -240), none)
    assert block.shift == there
    wheel(view, QPointF(controls.bar.geometry().center()), QPoint(0, -240), none)
    assert block.shift == there
    controls.bar.setValue(controls.bar.maximum())
    assert block.document is not None
    rect = block.text_rect(view.items[0].text_width(view.layout_.column))
    assert rect.left() + block.document.idealWidth() <= rect.left() + block.shift + rect.width() + 1


def test_narrow_code_has_no_bar(view: TranscriptView) -> None:
    _, controls = shown(view, "```py\nx = 1\n```")
    assert controls.copy.isVisible()
    assert controls.bar.isHidden()
    assert controls.wrap.isHidden()


def test_the_end_of_a_long_line_can_be_selected(qtbot: QtBot, view: TranscriptView) -> None:
    block, controls = shown(view)
    controls.bar.setValue(controls.bar.maximum())
    width = view.items[0].text_width(view.layout_.column)
    at = view.origin(0) + QPointF(width - 20, block.text_rect(width).top() + 8)
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at.toPoint())
    view.copy()
    assert QGuiApplication.clipboard().text() == "end"


def test_dragging_past_the_edge_scrolls_on(qtbot: QtBot, view: TranscriptView) -> None:
    block, _ = shown(view)
    width = view.items[0].text_width(view.layout_.column)
    start = (view.origin(0) + QPointF(30, block.text_rect(width).top() + 8)).toPoint()
    qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(view.viewport(), QPoint(view.viewport().width() - 2, start.y()))
    qtbot.waitUntil(lambda: block.shift > 100)
    qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(view.viewport().width() - 2, start.y()))


def test_the_switch_wraps_all_code(qtbot: QtBot, view: TranscriptView) -> None:
    view.set_messages([answer(CODE), answer(CODE)])
    blocks = [item.blocks()[0] for item in view.items]
    controls = view.code.of(blocks[1])
    assert controls is not None
    with qtbot.waitSignal(view.wrap_toggled) as told:
        qtbot.mouseClick(controls.wrap, Qt.MouseButton.LeftButton)
    assert told.args == [True]
    assert all(lines(block) > 3 and block.beyond == 0 for block in blocks)
    assert controls.bar.isHidden()
    assert controls.wrap.isChecked()
    first = view.code.of(blocks[0])
    assert first is not None
    assert first.wrap.isChecked()
    qtbot.mouseClick(controls.wrap, Qt.MouseButton.LeftButton)
    assert all(lines(block) == 1 for block in blocks)


@pytest.mark.parametrize("at", [0.0, 0.5, 1.0])
def test_what_is_looked_at_stays_in_its_place(qtbot: QtBot, view: TranscriptView, at: float) -> None:
    prose = "Some prose between the blocks of code, of which there are many. " * 4
    view.set_messages([answer(f"{prose}\n\n{CODE}\n\n{prose}") for _ in range(30)])
    bar = view.verticalScrollBar()
    bar.setValue(round(at * bar.maximum()))
    seen = [(c, c.view) for c in in_sight(view) if 0 < c.y() < view.viewport().height() - 30]
    controls, block = seen[0]
    before = controls.y()
    for _ in range(2):
        qtbot.mouseClick(controls.wrap, Qt.MouseButton.LeftButton)
        assert view.code.of(block) is controls
        assert abs(controls.y() - before) <= 1
    anchor = take_anchor(view)
    view.wrap_code(True)  # as the settings do
    view.wrap_code(False)
    assert take_anchor(view) == anchor


def test_an_answer_that_is_written_is_followed_all_the_same(qtbot: QtBot, view: TranscriptView) -> None:
    view.set_messages([answer(f"{CODE}\n\n" * 8, "streaming")])
    bar = view.verticalScrollBar()
    controls = in_sight(view)[0]
    qtbot.mouseClick(controls.wrap, Qt.MouseButton.LeftButton)
    view.extend(view.items[0].message.id, "\n\nmore\n\n" * 20, "")
    assert bar.value() == bar.maximum() > 0


def test_long_lines_as_they_are_written(view: TranscriptView) -> None:
    view.set_messages([answer("```py\n", "streaming")])
    for n in range(200):
        view.extend(view.items[0].message.id, f"name_{n} + ", "")
    block = next(b for b in view.items[0].blocks() if b.is_code)
    controls = view.code.of(block)
    assert controls is not None
    assert lines(block) == 1
    assert controls.bar.isVisible()
    assert controls.copy.isHidden()
    view.extend(view.items[0].message.id, "end\n```\n", "")
    block = next(b for b in view.items[0].blocks() if b.is_code)
    controls = view.code.of(block)
    assert controls is not None
    assert controls.copy.isVisible()


def test_the_next_block_begins_at_its_left(view: TranscriptView) -> None:
    _, controls = shown(view)
    controls.bar.setValue(controls.bar.maximum())
    shorter = WIDE[: len(WIDE) // 2]
    block, again = shown(view, f"```py\n{shorter}\n```")
    assert again.bar.maximum() > 0
    assert block.shift == again.bar.value() == 0


def test_by_keyboard_and_for_screen_readers(qtbot: QtBot, view: TranscriptView) -> None:
    block, controls = shown(view)
    view.setFocus()
    for part in (controls.wrap, controls.copy, controls.bar):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        assert QApplication.focusWidget() is part
    qtbot.keyClick(controls.bar, Qt.Key.Key_Right)
    assert block.shift > 0
    controls.wrap.setFocus()
    qtbot.keyClick(controls.wrap, Qt.Key.Key_Space)
    assert view.builder.wraps_code
    assert QApplication.focusWidget() is controls.wrap
    told = QAccessible.queryAccessibleInterface(controls.wrap)
    assert told.text(QAccessible.Text.Name) == "Wrap lines"
    state: Any = told.state()
    assert state.checkable
    assert state.checked
    assert QAccessible.queryAccessibleInterface(controls.copy).text(QAccessible.Text.Name) == "Copy code"
    controls.copy.setFocus()
    qtbot.keyClick(controls.copy, Qt.Key.Key_Space)
    assert QGuiApplication.clipboard().text() == f"{WIDE}\nprint(total)"
    assert controls.copy.text() == "Copied"


def test_tab_goes_from_top_to_bottom_also_after_scrolling_up(qtbot: QtBot, view: TranscriptView) -> None:
    view.set_messages([answer(f"{CODE}\n\n{CODE}") for _ in range(20)])
    view.verticalScrollBar().setValue(0)
    view.setFocus()
    reached = []
    for _ in range(6):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        reached.append(QApplication.focusWidget().mapTo(view, QPoint()).y())
    assert reached == sorted(reached)
    assert reached[-1] > reached[0]


def test_code_out_of_sight_leaves_no_widgets(view: TranscriptView) -> None:
    view.set_messages([answer(f"{CODE}\n\n{CODE}") for _ in range(60)])
    for share in (0.0, 0.3, 0.6, 1.0):
        view.verticalScrollBar().setValue(round(share * view.verticalScrollBar().maximum()))
    assert len(view.findChildren(CodeControls)) < 20
    view.set_messages([answer("No code.")])
    assert not any(controls.isVisible() for controls in view.findChildren(CodeControls))


@pytest.mark.parametrize("percent", [100, 150])
@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("text", [f"Here:\n\n{CODE}", RIGHT_TO_LEFT])
def test_sizes_themes_and_directions(view: TranscriptView, theme: Theme, percent: int, mode: str, text: str) -> None:
    theme.set_mode(mode)
    theme.set_percent(percent)
    block, controls = shown(view, text)
    width = view.items[0].text_width(view.layout_.column)
    panel_left, panel_right = view.origin(0).x(), view.origin(0).x() + width
    assert panel_left < controls.x()
    assert controls.geometry().right() < panel_right
    assert controls.y() >= view.origin(0).y() + block.top
    assert controls.geometry().bottom() < view.origin(0).y() + block.text_rect(width).top() + 2
    assert controls.wrap.width() >= controls.wrap.fontMetrics().horizontalAdvance("Wrap lines")
    assert block.document is not None
    for number in range(block.document.blockCount()):  # each begins at the left, and ends where one can scroll to
        line = block.document.findBlockByNumber(number).layout().lineAt(0)
        assert abs(line.naturalTextRect().left()) <= 1
        assert line.naturalTextRect().right() <= width - 28 + block.beyond + 1


def test_a_match_in_a_long_line_is_brought_into_sight(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    underhill = launch(script=lambda messages: CODE)
    ask(qtbot, underhill, "Hello")
    window = underhill.window
    window.find_controller.open()
    window.find_bar.edit.setText("the end")
    block = next(b for b in window.transcript.items[-1].blocks() if b.is_code)
    qtbot.waitUntil(lambda: block.shift > 0)


def test_the_choice_is_kept_and_the_settings_say_it(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    underhill = launch(script=lambda messages: CODE)
    ask(qtbot, underhill, "Hello")
    window = underhill.window
    dialog = window.settings.open()
    assert not dialog.look.wrap_code.switch.isChecked()
    controls = in_sight(window.transcript)[0]
    qtbot.mouseClick(controls.wrap, Qt.MouseButton.LeftButton)
    assert dialog.look.wrap_code.switch.isChecked()
    assert window.preferences.wrap_code
    dialog.look.wrap_code.switch.click()
    assert not window.preferences.wrap_code
    assert not controls.wrap.isChecked()
    dialog.look.wrap_code.switch.click()
    assert controls.wrap.isChecked()
    close(underhill)
    again = launch(script=lambda messages: CODE)
    assert again.window.preferences.wrap_code
    assert again.window.transcript.builder.wraps_code
