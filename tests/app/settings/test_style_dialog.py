"""System prompt, sampling and stop texts of a chat, and presets of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from app.application import Application
from app.settings.style_dialog import StyleDialog
from app.storage.records import Style
from app.storage.store import ChatStore
from app.widgets.text import plain_tip
from engine import protocol
from tests.app.acts import Launch, ask, button
from tests.app.conftest import close, engine_of
from tests.app.places import settle

pytestmark = pytest.mark.long


def opened(qtbot: QtBot, underhill: Application) -> StyleDialog:
    underhill.window.composer.style_button.click()
    qtbot.waitUntil(lambda: any(d.isVisible() for d in underhill.window.findChildren(StyleDialog)))
    return next(d for d in underhill.window.findChildren(StyleDialog) if d.isVisible())


def last(underhill: Application) -> protocol.Generate:
    return [c for c in engine_of(underhill).received if isinstance(c, protocol.Generate)][-1]


def test_a_chat_is_answered_in_its_own_style(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    dialog = opened(qtbot, underhill)
    dialog.system.setPlainText("Be brief.")
    dialog.stop.setPlainText("END\n\\n\\n")
    editor = dialog.editors["temperature"]
    editor.control.setText("0.2")  # type: ignore[attr-defined]
    editor.control.editingFinished.emit()  # type: ignore[attr-defined]
    button(dialog, "Apply").click()
    assert underhill.window.composer.style_button.isChecked()
    ask(qtbot, underhill, "hello")
    command = last(underhill)
    assert [(m.role, m.content) for m in command.messages] == [("system", "Be brief."), ("user", "hello")]
    assert command.stop == ("END", "\n\n")
    assert command.sampling["temperature"] == 0.2
    assert set(command.sampling) == {s.name for s in protocol.settings.SAMPLING}
    underhill.window.navigator.new_chat()
    assert not underhill.window.composer.style_button.isChecked()
    ask(qtbot, underhill, "another chat")
    assert [m.role for m in last(underhill).messages] == ["user"]
    assert last(underhill).stop == ()


class Painted(QObject):
    """Counts how often a widget is painted."""

    times = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.times += event.type() == QEvent.Type.Paint
        return False


def test_the_button_looks_unmarked_as_soon_as_the_chat_has_no_style(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    button, painted = underhill.window.composer.style_button, Painted()
    underhill.conversation.set_style(Style("Be brief."))
    button.installEventFilter(painted)
    underhill.window.chats.mark_style()
    qtbot.waitUntil(lambda: button.isChecked() and painted.times > 0)
    QApplication.processEvents()
    before = painted.times
    underhill.conversation.set_style(None)
    underhill.window.chats.mark_style()
    qtbot.waitUntil(lambda: painted.times > before)
    assert not button.isChecked()


def test_the_style_of_a_chat_is_kept_and_can_be_dropped(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    ask(qtbot, underhill, "hello")
    dialog = opened(qtbot, underhill)
    dialog.system.setPlainText("Rhyme.")
    button(dialog, "Apply").click()
    close(underhill)
    again = launch()
    qtbot.waitUntil(lambda: again.conversation.chat is not None)
    dialog = opened(qtbot, again)
    assert dialog.system.toPlainText() == "Rhyme."
    button(dialog, "Use defaults").click()
    ask(qtbot, again, "and now")
    assert last(again).messages[0].role == "user"


def answer(dialog: StyleDialog, words: str) -> None:
    """Press a button of the question that is asked."""
    box = next(b for b in dialog.findChildren(QMessageBox) if b.isVisible())
    next(b for b in box.buttons() if b.text().replace("&", "") == words).click()


def name_it(qtbot: QtBot, dialog: StyleDialog, button: QAbstractButton, name: str) -> None:
    """Press a button that asks for a name, type one, and press Enter."""
    button.click()
    dialog.naming.setText(name)
    qtbot.keyClick(dialog.naming, Qt.Key.Key_Return)


def test_a_preset_is_not_replaced_unasked_and_may_have_any_name(qtbot: QtBot, launch: Launch) -> None:
    dialog = opened(qtbot, launch())
    width = dialog.minimumSizeHint().width()
    for name in ("None", "poet", "x" * 300, "🎉 <b>&amp;</b> شاعر"):
        dialog.system.setPlainText(f"Be {name}.")
        name_it(qtbot, dialog, dialog.keep, name)
        assert (dialog.names.currentText(), dialog.remove.isEnabled()) == (name, True)
        assert dialog.names.toolTip() == plain_tip(name)
    assert dialog.minimumSizeHint().width() == width
    name_it(qtbot, dialog, dialog.keep, "None")
    answer(dialog, "Cancel")
    assert dialog.naming.isVisible()  # for another name
    dialog.discard_name.click()
    dialog.names.setCurrentIndex(dialog.names.findData("None"))
    dialog.names.activated.emit(dialog.names.currentIndex())
    assert dialog.system.toPlainText() == "Be None."
    dialog.names.setCurrentIndex(dialog.names.findData("poet"))
    dialog.names.activated.emit(dialog.names.currentIndex())
    name_it(qtbot, dialog, dialog.keep, "None")
    answer(dialog, "Replace")
    assert dialog.names.currentData() == "None"
    assert dialog.presets["None"].system == "Be poet."
    dialog.reject()


def test_a_preset_is_named_in_place(qtbot: QtBot, launch: Launch) -> None:
    dialog = opened(qtbot, launch())
    settle(qtbot, dialog)
    before = dialog.size(), dialog.system.mapTo(dialog, QPoint())
    dialog.keep.click()
    assert dialog.focusWidget() is dialog.naming
    assert not dialog.names.isVisible()
    assert not button(dialog, "Apply").isEnabled()
    shown = [b.text() for b in dialog.findChildren(QAbstractButton) if b.isVisible()]
    assert (shown.count("Cancel"), shown.count("Discard")) == (1, 1)
    settle(qtbot, dialog)
    assert (dialog.size(), dialog.system.mapTo(dialog, QPoint())) == before
    qtbot.keyClick(dialog.naming, Qt.Key.Key_Return)
    assert dialog.naming.problem.text() == "Enter a name."
    qtbot.keyClicks(dialog.naming, "p")
    assert dialog.naming.problem.isHidden()
    qtbot.keyClick(dialog.naming, Qt.Key.Key_Escape)
    assert dialog.isVisible()
    assert dialog.names.isVisible()
    assert dialog.focusWidget() is dialog.keep
    assert button(dialog, "Apply").isEnabled()
    assert dialog.presets == {}
    dialog.reject()


def test_presets_are_kept_taken_and_deleted(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch()
    dialog = opened(qtbot, underhill)
    dialog.system.setPlainText("Rhyme.")
    name_it(qtbot, dialog, dialog.keep, " poet ")
    dialog.reject()
    dialog = opened(qtbot, underhill)
    assert dialog.system.toPlainText() == ""
    dialog.names.setCurrentIndex(dialog.names.findText("poet"))
    dialog.names.activated.emit(dialog.names.currentIndex())
    assert dialog.style_now().system == "Rhyme."
    dialog.presets["taken"] = Style()
    name_it(qtbot, dialog, dialog.rename, "taken")
    assert dialog.naming.problem.text() == "This name is taken."
    dialog.discard_name.click()
    assert dialog.names.currentText() == "poet"
    name_it(qtbot, dialog, dialog.rename, " bard ")
    assert dialog.names.currentText() == "bard"
    assert dialog.names.isVisible()
    del dialog.presets["taken"]
    dialog.remove.click()
    answer(dialog, "Cancel")
    assert dialog.names.currentText() == "bard"
    dialog.remove.click()
    answer(dialog, "Delete")
    assert dialog.names.count() == 1
    assert not dialog.rename.isEnabled()
    dialog.reject()
    close(underhill)
    store = ChatStore(tmp_path / "chats.db")
    assert store.presets() == {}
    store.keep_preset("a", Style("one"))
    store.keep_preset("a", Style("two", {"seed": None}, ("x",)))
    store.rename_preset("a", "b")
    assert store.presets() == {"b": Style("two", {"seed": None}, ("x",))}
    store.close()
