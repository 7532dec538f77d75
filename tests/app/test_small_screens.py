"""On a small screen, with large text, what can be clicked or read is in sight."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QListWidget
from pytestqt.qtbot import QtBot

from app.i18n import languages
from app.platform.logs import AppPaths
from app.settings import preferences
from app.settings.preferences import Preferences
from app.theme import fonts
from tests.app.acts import Launch
from tests.app.places import settle

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def normal_size() -> Iterator[None]:
    yield
    fonts.set_percent(100)
    languages.install("en")


def large(tmp_path: Path, percent: int, language: str = "en") -> None:
    """What the window remembers."""
    preferences.save(Preferences(toured=True, font_percent=percent, language=language), AppPaths(tmp_path).preferences)


@pytest.mark.parametrize("size", [(900, 600), (1280, 780)])
@pytest.mark.parametrize("percent", [100, 150])
def test_an_empty_chat_shows_its_examples_without_scrolling(
    qtbot: QtBot, launch: Launch, tmp_path: Path, percent: int, size: tuple[int, int]
) -> None:
    large(tmp_path, percent)
    window = launch().window
    window.resize(*size)
    settle(qtbot, window)
    for example in window.welcome.examples:
        assert example.visibleRegion().boundingRect() == example.rect()
    assert window.welcome.logo.isVisible() == (percent == 100)


def test_the_sheet_of_keys_shows_every_key(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    large(tmp_path, 150)
    sheet = launch().window.show_shortcuts()
    settle(qtbot, sheet)
    keys = [label for label in sheet.findChildren(QLabel) if label.objectName() == "key"]
    assert keys
    for key in keys:
        assert key.mapTo(sheet, key.rect().bottomRight()).x() < sheet.width(), key.text()
    sheet.reject()


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_the_pages_of_the_settings_have_room_for_their_names(
    qtbot: QtBot, launch: Launch, tmp_path: Path, language: str
) -> None:
    large(tmp_path, 150, language)
    dialog = launch().window.settings.open()
    settle(qtbot, dialog)
    pages = dialog.findChild(QListWidget, "pages")
    assert isinstance(pages, QListWidget)
    assert pages.horizontalScrollBar().maximum() == 0
    dialog.reject()
