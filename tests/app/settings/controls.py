"""Typing into controls of the settings dialog."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.settings.dialog import SettingsDialog


def type_into(qtbot: QtBot, dialog: SettingsDialog, name: str, text: str) -> None:
    """Type a text into the line of a setting, and leave it."""
    line = dialog.editors[name].control
    assert isinstance(line, QLineEdit)
    line.setText(text)
    qtbot.keyClick(line, Qt.Key.Key_Tab)
    line.editingFinished.emit()
