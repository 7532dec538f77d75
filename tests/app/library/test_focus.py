"""The keyboard stays where it was on the page of models while its lists are made again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from app.application import Application
from app.library.dialogs import ModelDetailsDialog
from app.library.entries import Action, LibraryEntry, LibrarySection
from app.library.page import LibraryPage

pytestmark = pytest.mark.long

Launch = Callable[..., Application]


def opened(qtbot: QtBot, underhill: Application, section: int) -> LibraryPage:
    page = underhill.window.library.show()
    page.show_section(section)
    qtbot.waitUntil(lambda: underhill.library.catalogue is not None and bool(underhill.library.folders))
    return page


def focused(page: LibraryPage) -> str:
    now = page.window().focusWidget()
    return now.accessibleName() or now.text() if isinstance(now, QAbstractButton) else ""


def entry(title: str, *words: str) -> LibraryEntry:
    return LibraryEntry(title, "", actions=[Action(word, lambda: None) for word in words])


def test_it_stays_on_the_row_of_a_model_that_is_downloaded(qtbot: QtBot, launch: Launch) -> None:
    page = opened(qtbot, launch(), 1)
    made = page.discover.entries[0]
    button = made.buttons["Download"]
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.discover.entries[0] is not made)
    assert focused(page) == f"Details: {made.title}"


def test_it_goes_to_the_tab_where_details_begin_a_download(qtbot: QtBot, launch: Launch) -> None:
    page = opened(qtbot, launch(), 1)
    page.discover.entries[0].buttons["Details"].setFocus()
    page.discover.entries[0].buttons["Details"].click()
    qtbot.waitUntil(lambda: bool(page.findChildren(ModelDetailsDialog)))
    dialog = page.findChildren(ModelDetailsDialog)[0]
    dialog.reject()
    assert focused(page).startswith("Details: ")
    page.show_section(3)
    assert focused(page).startswith("Downloads")


def test_it_goes_to_the_next_row_where_a_model_is_deleted(qtbot: QtBot, launch: Launch) -> None:
    page = opened(qtbot, launch(), 2)
    section: LibrarySection = page.elsewhere
    section.show_entries([entry(title, "Open", "More") for title in "ABC"], "")
    section.entries[1].buttons["More"].setFocus()
    section.show_entries([entry(title, "Open", "More") for title in "AC"], "")
    assert focused(page) == "More: C"


def test_of_models_with_one_title_it_stays_on_its_own(qtbot: QtBot, launch: Launch) -> None:
    page = opened(qtbot, launch(), 2)
    section: LibrarySection = page.elsewhere
    section.show_entries([entry("A", "x", "y"), entry("B", "x", "y"), entry("A", "x", "y")], "")
    section.entries[2].buttons["y"].setFocus()
    section.show_entries([entry("A", "x", "y"), entry("B", "x", "y"), entry("A", "x", "y")], "")
    assert section.entries[2].buttons["y"].hasFocus()


def test_it_passes_over_rows_without_buttons_and_goes_to_the_tab_at_the_end(qtbot: QtBot, launch: Launch) -> None:
    page = opened(qtbot, launch(), 2)
    section: LibrarySection = page.elsewhere
    section.show_entries([entry("A", "x"), entry("B", "x")], "")
    section.entries[1].buttons["x"].setFocus()
    section.show_entries([entry("A", "x"), entry("C")], "")
    assert focused(page) == "x: A"
    section.show_entries([], "None")
    assert focused(page) == "From other apps"
