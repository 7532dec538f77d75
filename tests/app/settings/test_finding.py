"""A search for settings that finds none leaves the dialog as it was."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.settings import preferences
from app.settings.dialog import SettingsDialog
from app.theme.theme import Theme


def test_what_is_around_the_settings_stays_in_its_place(qtbot: QtBot, theme: Theme) -> None:
    dialog = SettingsDialog(preferences.Preferences(), theme)
    qtbot.addWidget(dialog)
    dialog.show_setting("dial")
    dialog.show()

    def places() -> list[QPoint]:
        return [widget.mapTo(dialog, QPoint()) for widget in (dialog.scope, dialog.reset_all)]

    qtbot.waitUntil(lambda: dialog.scope.isVisible() and dialog.reset_all.y() > 0)
    before = places()
    dialog.search.setText("no such thing")
    said = next(label for label in dialog.findChildren(QLabel) if label.text() == "No matching settings")
    qtbot.waitUntil(lambda: said.isVisible() and said.height() > 100)
    assert places() == before
    dialog.search.clear()
    qtbot.waitUntil(lambda: not said.isVisible())
    assert places() == before
