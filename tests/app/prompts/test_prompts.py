"""Prompts: written, inserted by "/" with their variables, imported and exported, and there after a restart."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from app.application import Application
from app.prompts.library import SavedPrompt, filled, variables
from app.prompts.picker import VariablesDialog
from engine import resources
from tests.app.acts import Launch
from tests.app.conftest import close

pytestmark = pytest.mark.long
TRANSLATE = SavedPrompt("Translate", "Translate to {{language}}, {{ tone }}:\n{{language}}")


def test_variables_are_found_once_and_filled_everywhere() -> None:
    assert variables(TRANSLATE.text) == ["language", "tone"]
    assert filled(TRANSLATE.text, {"language": "{{tone}}"}) == "Translate to {{tone}}, {{ tone }}:\n{{tone}}"
    assert variables("a {b} {{}} {{ }} {{c\n}}") == []


def typed(qtbot: QtBot, underhill: Application, text: str) -> list[str]:
    """Names in the list above the message, where it is shown."""
    edit = underhill.window.composer.edit
    edit.setFocus()
    edit.clear()
    qtbot.keyClicks(edit, text)
    rows = underhill.window.prompt_picker.list
    return [rows.item(row).text().split("\n")[0] for row in range(rows.count())] if rows.isVisible() else []


def test_a_prompt_is_inserted_by_a_slash_and_its_variables_are_asked_for(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    window, edit = underhill.window, underhill.window.composer.edit
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    for prompt in (TRANSLATE, SavedPrompt("Sum up", "Sum this up."), SavedPrompt("Explain", "Explain like I'm five.")):
        window.prompts.keep(prompt)
    assert typed(qtbot, underhill, "/") == ["Explain", "Sum up", "Translate", "Edit prompts…"]
    qtbot.keyClick(edit, Qt.Key.Key_Down)
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert edit.toPlainText() == "Sum this up."
    assert not underhill.conversation.messages  # Enter chose, and sent nothing
    assert typed(qtbot, underhill, "/tr") == ["Translate"]
    qtbot.keyClick(edit, Qt.Key.Key_Escape)
    assert not window.prompt_picker.list.isVisible()
    assert typed(qtbot, underhill, "/tr") == ["Translate"]
    qtbot.keyClick(edit, Qt.Key.Key_Tab)
    dialog = window.findChild(VariablesDialog)
    assert isinstance(dialog, VariablesDialog)
    dialog.fields["language"].setText("Welsh")
    dialog.fields["tone"].setText("kindly")
    dialog.accept()
    assert edit.toPlainText() == "Translate to Welsh, kindly:\nWelsh"
    assert typed(qtbot, underhill, "/etc/hosts is empty") == []  # a message like any other
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(underhill.conversation.messages))
    assert underhill.conversation.messages[0].content == "/etc/hosts is empty"
    qtbot.waitUntil(lambda: not underhill.conversation.working)


def test_prompts_are_written_renamed_deleted_imported_and_kept(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch()
    dialog, library = underhill.window.show_prompts(), underhill.window.prompts
    dialog.new.click()
    dialog.name.setText("Greet")
    dialog.name.editingFinished.emit()
    dialog.text.setPlainText("Say hello to {{whom}}.")
    dialog.new.click()  # what was typed is kept at once
    assert library.find("greet") == [SavedPrompt("Greet", "Say hello to {{whom}}.")]
    assert dialog.current == SavedPrompt("New prompt", "")
    dialog.name.setText("Greet")
    dialog.name.editingFinished.emit()
    assert dialog.note.text() == "There is another prompt with this name."
    dialog.delete.click()
    (box,) = dialog.findChildren(QMessageBox)
    next(b for b in box.buttons() if b.text() == "Delete").click()
    assert library.prompts == [SavedPrompt("Greet", "Say hello to {{whom}}.")]
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"prompts": [{"name": "Greet", "text": "Hi."}, {"name": "Bye", "text": "Bye."}]}))
    dialog.import_file(other)
    assert dialog.note.text() == "2 prompts imported"
    assert [p.text for p in library.prompts] == ["Bye.", "Hi."]
    other.write_text("[]")
    dialog.import_file(other)
    assert dialog.note.text() == "other.json is not a file of prompts. Choose a file that was exported here."
    library.export_file(tmp_path / "out.json", lambda problem: None)
    qtbot.waitUntil((tmp_path / "out.json").exists)
    dialog.reject()
    close(underhill)
    again = launch()
    qtbot.waitUntil(lambda: [p.name for p in again.window.prompts.prompts] == ["Bye", "Greet"])
    close(again)
    (tmp_path / "prompts.json").write_text("{")
    damaged = launch()
    damaged.window.prompts.keep(SavedPrompt("New", "text"))
    qtbot.waitUntil((tmp_path / "prompts.damaged.json").exists)
    qtbot.waitUntil(lambda: (tmp_path / "prompts.json").exists() and "New" in (tmp_path / "prompts.json").read_text())


@pytest.mark.slow
@pytest.mark.skipif(not resources.path("builtin", "model").is_dir(), reason="no built-in model here")
def test_the_real_engine_answers_a_prompt_that_was_kept_before_a_restart(
    qtbot: QtBot, launch_real: Callable[[], Application]
) -> None:
    underhill = launch_real()
    qtbot.waitUntil(lambda: underhill.models.state == "ready")  # else the next engine finds the model being made
    underhill.window.prompts.keep(SavedPrompt("Greet", "Hello! Who are you?"))
    underhill = launch_real()
    qtbot.waitUntil(lambda: underhill.models.state == "ready" and bool(underhill.window.prompts.prompts))
    underhill.conversation.sampling = {"temperature": 0.0, "max_tokens": 4}
    underhill.window.activateWindow()
    qtbot.waitUntil(underhill.window.isActiveWindow)
    assert typed(qtbot, underhill, "/gre") == ["Greet"]
    qtbot.keyClick(underhill.window.composer.edit, Qt.Key.Key_Return)
    qtbot.keyClick(underhill.window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(underhill.conversation.messages) == 2 and not underhill.conversation.working)
    assert underhill.conversation.messages[0].content == "Hello! Who are you?"
