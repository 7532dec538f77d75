"""One setting's control, as the keyboard finds it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from tests.app.acts import Launch


def test_a_setting_that_was_reset_by_keys_keeps_the_keyboard(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    dialog.show_setting("temperature")
    editor = dialog.editors["temperature"]
    assert isinstance(editor.control, QLineEdit)
    editor.control.setText("0.1")
    editor.control.editingFinished.emit()
    editor.reset_button.setFocus()
    qtbot.keyClick(editor.reset_button, Qt.Key.Key_Space)
    assert dialog.focusWidget() is editor.control
    assert not editor.reset_button.isVisible()
    assert not editor.set
    dialog.reject()
