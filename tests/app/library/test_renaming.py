"""An installed model is renamed in its place in the list, and called so wherever it is named."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from app.application import Application
from app.library.entries import LibraryEntry
from app.library.installed import InstalledModels
from app.library.view_model import Job
from app.widgets.name_editor import NameEditor
from engine import protocol
from engine.translatable import translated
from tests.app.conftest import engine_of
from tests.app.fake_cards import BUILTIN, LARGE

pytestmark = pytest.mark.long

Launch = Callable[..., Application]
OTHER = dataclasses.replace(LARGE, name="other", title="Other", path="/models/other")


def opened(qtbot: QtBot, underhill: Application) -> InstalledModels:
    page = underhill.window.library.show()
    page.show_section(0)
    qtbot.waitUntil(lambda: bool(underhill.library.folders) and bool(page.yours.entries))
    return page.yours


def entry(section: InstalledModels, title: str) -> LibraryEntry:
    return next(e for e in section.entries if e.title == title)


def begin(of: LibraryEntry) -> NameEditor:
    """Choose Rename in the menu."""
    menu = of.buttons["More"].menu()
    assert isinstance(menu, QMenu)
    of.buttons["More"].setFocus()
    next(action for action in menu.actions() if action.text() == "Rename\tF2").trigger()
    assert of.editor is not None
    return of.editor


def write(qtbot: QtBot, editor: NameEditor, text: str) -> None:
    editor.selectAll()
    qtbot.keyClicks(editor, text)


def titles(section: InstalledModels) -> list[str]:
    return [e.title for e in section.entries]


def asked(underhill: Application) -> list[tuple[str, str]]:
    """What was to be renamed, and how."""
    return [(c.name, c.title) for c in engine_of(underhill).received if isinstance(c, protocol.RenameModel)]


def test_it_is_called_so_in_the_list_the_header_and_answers(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    underhill.models.load(LARGE.name, {})
    qtbot.waitUntil(lambda: underhill.models.state == "ready" and underhill.models.wanted == LARGE.name)
    section = opened(qtbot, underhill)
    editor = begin(entry(section, str(LARGE.title)))
    assert editor.hasFocus()
    assert editor.selectedText() == LARGE.title
    assert editor.accessibleName() == f"New name of {LARGE.title}"
    write(qtbot, editor, "Writer")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: titles(section) == [BUILTIN.title, "Writer"])
    assert asked(underhill) == [(LARGE.name, "Writer")]
    assert section.entries[1].buttons["More"].hasFocus()
    header = underhill.window.header
    qtbot.waitUntil(lambda: header.model.accessibleName() == "Model: Writer")
    header.fill_menu()
    assert any(action.text().startswith("Writer\t") for action in header.menu.actions())
    underhill.window.navigator.show_chat()
    underhill.conversation.send("Hello")
    qtbot.waitUntil(lambda: not underhill.conversation.working and len(underhill.conversation.messages) == 2)
    assert underhill.conversation.messages[-1].model == "Writer"


def test_a_chat_that_waits_for_the_model_finds_it(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    underhill.window.navigator.new_chat()
    underhill.conversation.set_model(LARGE.name)
    underhill.models.choose(LARGE.name)
    section = opened(qtbot, underhill)
    editor = begin(entry(section, str(LARGE.title)))
    write(qtbot, editor, "Writer")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: underhill.window.header.model.accessibleName() == "Model: Writer")
    assert underhill.models.to_load == LARGE.name
    assert not underhill.models.missing


def test_an_answer_of_before_is_known_by_the_own_name(launch: Launch, qtbot: QtBot) -> None:
    named = dataclasses.replace(LARGE, name="m", title="Writer")
    models = launch(cards=(BUILTIN, named)).models
    qtbot.waitUntil(lambda: len(models.cards) == 2)
    assert models.key_of("Writer") == models.key_of("m") == "m"
    assert models.key_of("gone") == ""


def test_escape_and_leaving_it_as_it_was_change_nothing(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    section = opened(qtbot, underhill)
    made = entry(section, str(LARGE.title))
    editor = begin(made)
    write(qtbot, editor, "Writer")
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert made.editor is None
    assert made.buttons["More"].hasFocus()
    assert underhill.window.pages.currentWidget() is underhill.window.library_page  # Esc did not go back to the chat
    for text in (str(LARGE.title), "  "):
        write(qtbot, begin(made), text)
        section.entries[0].buttons["More"].setFocus()
        assert made.editor is None
    qtbot.keyClick(begin(made), Qt.Key.Key_Return)
    assert made.editor is None
    assert asked(underhill) == []
    assert titles(section) == [BUILTIN.title, LARGE.title]


def test_leaving_it_keeps_another_name(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    section = opened(qtbot, underhill)
    write(qtbot, begin(entry(section, str(LARGE.title))), "Writer")
    section.entries[0].buttons["More"].setFocus()
    qtbot.waitUntil(lambda: titles(section) == [BUILTIN.title, "Writer"])
    assert section.entries[0].buttons["More"].hasFocus()


def test_a_name_that_cannot_be_says_why_beside_it(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    section = opened(qtbot, underhill)
    made = entry(section, str(LARGE.title))
    refusal = protocol.Failed("", protocol.Kind.BAD_REQUEST, "A model named X already exists.", "Choose another name.")
    engine_of(underhill).fail[protocol.RenameModel] = refusal
    editor = begin(made)
    write(qtbot, editor, "X")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(made.refusal.isVisible)
    assert made.refusal.text() == "A model named X already exists. Choose another name."
    assert editor.hasFocus()
    underhill.models.refresh()  # which leaves what is written
    write(qtbot, editor, "Y")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: titles(section) == [BUILTIN.title, "Y"])


def test_a_name_that_cannot_be_says_why_after_it_was_left(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    section = opened(qtbot, underhill)
    refusal = protocol.Failed("", protocol.Kind.BAD_REQUEST, "A model named X already exists.", "Choose another name.")
    engine_of(underhill).fail[protocol.RenameModel] = refusal
    write(qtbot, begin(entry(section, str(LARGE.title))), "X")
    section.entries[0].buttons["More"].setFocus()
    qtbot.waitUntil(lambda: bool(underhill.window.banners.banners))
    assert titles(section) == [BUILTIN.title, LARGE.title]


def test_f2_renames_the_model_that_has_the_focus(qtbot: QtBot, launch: Launch) -> None:
    section = opened(qtbot, launch())
    own, made = section.entries
    own.buttons["More"].setFocus()
    qtbot.keyClick(own.buttons["More"], Qt.Key.Key_F2)
    assert own.editor is None
    made.buttons["More"].setFocus()
    qtbot.keyClick(made.buttons["More"], Qt.Key.Key_F2)
    assert made.editor is not None


def test_what_is_written_stays_while_the_list_changes(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    section = opened(qtbot, underhill)
    made = entry(section, str(LARGE.title))
    editor = begin(made)
    write(qtbot, editor, "Wri")
    engine_of(underhill).cards = (BUILTIN, LARGE, OTHER)
    underhill.models.refresh()
    qtbot.waitUntil(lambda: len(underhill.models.cards) == 3)
    assert made.editor is editor
    assert editor.text() == "Wri"
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert titles(section) == [BUILTIN.title, LARGE.title, "Other"]


def test_where_it_cannot_be_renamed_it_says_why(qtbot: QtBot, launch: Launch) -> None:
    away = dataclasses.replace(OTHER, state="missing_disk", problem="The folder is not there now.", action="Connect.")
    underhill = launch(cards=(BUILTIN, LARGE, away))
    section = opened(qtbot, underhill)
    qtbot.waitUntil(lambda: len(section.entries) == 3)
    progress = protocol.Progress(id="1", text=translated(""))
    underhill.library.jobs["1"] = Job("1", LARGE.title, "Verifying…", progress)
    underhill.library.jobs_changed.emit()
    why = []
    for made in section.entries:
        menu = made.buttons["More"].menu()
        assert isinstance(menu, QMenu)
        (rename,) = (action for action in menu.actions() if action.text() == "Rename\tF2")
        assert not rename.isEnabled()
        why.append(rename.toolTip())
    for said, words in zip(why, ("Built-in model", "Another job is running", "Folder not connected")):
        assert words in said


def test_the_trash_calls_it_so(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    section = opened(qtbot, underhill)
    gone = protocol.DeletedModel("m", "/models", 3_000_000_000, 0.0, 1e9, "Writer")
    engine_of(underhill).hub.deleted = (gone,)
    underhill.models.refresh()
    qtbot.waitUntil(lambda: any(e.title == "Writer" for e in section.findChildren(LibraryEntry)))


def test_a_deleted_model_is_named_as_it_was_shown(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    opened(qtbot, underhill)
    underhill.library.delete(LARGE.name)
    qtbot.waitUntil(underhill.window.toast.isVisible)
    assert str(LARGE.title) in underhill.window.toast.accessibleName()
