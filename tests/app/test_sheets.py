"""The sheet of keys and the page about the program say what is so."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app import dialogs
from app.application import Application
from app.widgets.keyboard import SHORTCUTS, key_names

ROOT = Path(__file__).parents[2]
Launch = Callable[..., Application]


def test_every_key_of_the_window_is_on_the_sheet(qtbot: QtBot, launch: Launch) -> None:
    window = launch().window
    connected = {s.key().toString() for s in window.findChildren(QShortcut)}
    assert connected == {QKeySequence(s.keys).toString() for s in SHORTCUTS if s.name}
    assert len({s.keys for s in SHORTCUTS}) == len(SHORTCUTS)  # no key does two things
    sheet = window.show_shortcuts()
    shown = [label.text() for label in sheet.findChildren(QLabel)]
    for shortcut in SHORTCUTS:
        assert shortcut.words in shown
        assert key_names(shortcut.keys) in shown
    assert {"Enter", "Shift+Enter", "↑", "Alt+↑", "Ctrl+N", "F2"} <= set(shown)
    sheet.close()


def test_about_names_versions_folder_and_licences(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    window = launch().window
    page = window.show_about()
    assert str(tmp_path) in page.details
    assert "fit in memory" in page.details
    next(b for b in page.findChildren(QPushButton) if b.text() == "Copy details").click()
    assert QGuiApplication.clipboard().text() == page.details
    rows = [page.parts.topLevelItem(i) for i in range(page.parts.topLevelItemCount())]
    parts = {row.text(0).lower(): row for row in rows if row is not None}
    assert parts["torch"].text(1)
    assert all(row.text(2) for row in parts.values())
    page.close()


def test_about_leaves_out_no_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(dialogs.DEPENDENCIES) == {re.split(r"[ ;<>=!\[]", line)[0] for line in project["dependencies"]}
