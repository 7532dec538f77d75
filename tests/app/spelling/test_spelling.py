"""Misspelled words of a message are marked, explained and learned; what is no prose is left alone."""

from __future__ import annotations

import importlib.util
import platform
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtGui import QTextCharFormat, QTextCursor
from pytestqt.qtbot import QtBot

from app.application import Application
from app.spelling import checker
from app.spelling.enchant import Enchant
from app.spelling.marks import words
from tests.app.acts import Launch

WORDS = {"The", "message", "is", "here", "it", "doesn't", "matter"}


class Words:
    """A dictionary of a few words."""

    def __init__(self) -> None:
        self.added: list[str] = []

    def knows(self, word: str) -> bool:
        return word in WORDS or word in self.added

    def suggest(self, word: str) -> list[str]:
        return ["message"] if word.startswith("mes") else []

    def add(self, word: str) -> None:
        self.added.append(word)


class FewWords:
    """Stands for Enchant, with one dictionary in two languages."""

    def __init__(self) -> None:
        self.words = Words()

    def languages(self) -> list[str]:
        return ["de_DE", "en_US"]

    def open(self, language: str) -> Words | None:
        return self.words if language == "en_US" else None


class Nothing:
    def __init__(self) -> None:
        raise OSError("no such library")


def marked(underhill: Application) -> list[str]:
    """The words with a wave below them."""
    found, block = [], underhill.window.composer.edit.document().begin()
    while block.isValid():
        for run in block.layout().formats():
            if run.format.underlineStyle() == QTextCharFormat.UnderlineStyle.WaveUnderline:
                found.append(block.text()[run.start : run.start + run.length])
        block = block.next()
    return found


def test_what_is_prose() -> None:
    text = "See https://a.org/teh, ./teh.py and `teh` or teh_name, camelCase, NASA, it’s 3rd. Teh end 你好 <teh>"
    assert [word for _, word in words(text)] == ["See", "and", "or", "it's", "Teh", "end"]


def test_the_language_is_that_of_the_system_or_the_chosen_one(monkeypatch: pytest.MonkeyPatch) -> None:
    there = ("de_DE", "en_GB", "en_US", "fr")
    monkeypatch.setattr(QLocale, "uiLanguages", lambda _: ["en-GB", "de"])
    assert checker.pick(checker.SYSTEM, there) == "en_GB"
    monkeypatch.setattr(QLocale, "uiLanguages", lambda _: ["fr-CA", "en"])
    assert checker.pick(checker.SYSTEM, there) == "fr"
    assert [checker.pick(choice, there) for choice in ("de_DE", "it_IT", checker.OFF)] == ["de_DE", "", ""]


def test_typing_marks_and_the_menu_corrects_and_learns(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "Enchant", FewWords)
    underhill = launch()
    edit = underhill.window.composer.edit
    edit.setFocus()
    qtbot.keyClicks(edit, "The mesage is heer")
    qtbot.waitUntil(lambda: underhill.spelling.language == "en_US")
    assert marked(underhill) == ["mesage"]  # the last one is still being typed
    qtbot.keyClicks(edit, " ")
    assert marked(underhill) == ["mesage", "heer"]
    changes: list[str] = []
    underhill.window.composer.changed.connect(lambda: changes.append(edit.toPlainText()))
    qtbot.keyClicks(edit, "it ")
    underhill.theme.set_mode("dark")  # marked anew, which is no change of the text
    assert changes == [f"The mesage is heer {typed}" for typed in ("i", "it", "it ")]
    correct(underhill, "mesage", "message")
    assert edit.toPlainText() == "The message is heer it "
    correct(underhill, "heer", "Add to dictionary")
    assert marked(underhill) == []
    edit.setPlainText("The mesage\n```\nmesage\n```\nmesage")
    assert marked(underhill) == ["mesage", "mesage"]
    look = underhill.window.settings.open().look
    choice = look.spelling.choice
    assert [choice.itemData(n) for n in range(choice.count())] == ["system", "off", "de_DE", "en_US"]
    choice.setCurrentIndex(choice.findData("off"))
    assert marked(underhill) == []
    assert look.spelling.note.isHidden()
    choice.setCurrentIndex(choice.findData("de_DE"))  # which cannot be read
    assert look.spelling.note.text() == "No dictionary is installed for this language."
    choice.setCurrentIndex(choice.findData("en_US"))
    assert marked(underhill) == ["mesage", "mesage"]
    assert underhill.window.preferences.spelling == "en_US"


def test_the_box_of_dictionaries_is_as_wide_as_its_like(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "Enchant", FewWords)
    underhill = launch()
    look = underhill.window.settings.open().look
    choice = look.spelling.choice
    qtbot.waitUntil(lambda: choice.count() == 4)
    choice.setCurrentIndex(choice.findData("en_US"))
    assert choice.currentText() == "American English (en_US)"
    assert choice.currentText() in choice.toolTip()
    assert choice.fontMetrics().horizontalAdvance(choice.currentText()) > choice.width() - 40  # it is cut
    boxes = (look.theme, look.contrast, look.motion, look.font_size, choice, look.language)
    for percent in (150, 100):
        underhill.theme.set_percent(percent)
        qtbot.waitUntil(lambda: len({box.width() for box in boxes}) == 1)
    assert choice.view().minimumWidth() > choice.view().sizeHintForColumn(0)  # the list that it opens has all of it


def correct(underhill: Application, word: str, what: str) -> None:
    """Choose an entry in the menu of a word."""
    edit = underhill.window.composer.edit
    cursor = edit.document().find(word)
    cursor.setPosition(cursor.selectionStart() + 2)
    menu = edit.make_menu(edit.cursorRect(cursor).center())
    next(action for action in menu.actions() if action.text() == what).trigger()
    menu.deleteLater()


def test_without_a_dictionary_the_settings_say_so(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "Enchant", Nothing)
    underhill = launch()
    row = underhill.window.settings.open().look.spelling
    qtbot.waitUntil(lambda: not row.note.isHidden())
    edit = underhill.window.composer.edit
    edit.setPlainText("mesage")
    assert marked(underhill) == []
    menu = edit.make_menu(edit.cursorRect(QTextCursor(edit.document())).center())
    assert "Add to dictionary" not in [action.text() for action in menu.actions()]
    menu.deleteLater()


def test_where_the_package_for_windows_is_missing_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Windows")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(OSError, match="pyenchant"):
        Enchant()


def test_the_dictionaries_that_are_installed_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENCHANT_CONFIG_DIR", str(tmp_path))
    try:
        enchant = Enchant()
    except OSError:
        pytest.skip("no Enchant here")
    if "en_US" not in enchant.languages():
        pytest.skip("no English dictionary here")
    english = enchant.open("en_US")
    assert english is not None
    assert english.knows("message")
    assert not english.knows("mesage")
    assert "message" in english.suggest("mesage")
    english.add("Underhillish")
    assert english.knows("Underhillish")
    assert "Underhillish" in (tmp_path / "en_US.dic").read_text(encoding="utf-8")
    assert enchant.open("xx_YY") is None
