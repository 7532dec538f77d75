"""Which language the window speaks, and that it speaks it after a restart."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialogButtonBox, QFileDialog, QLabel
from pytestqt.qtbot import QtBot

from app.application import Application
from app.i18n import languages
from app.i18n.translate import plural, tr


@pytest.fixture
def english_again(qapp: QApplication) -> Iterator[None]:
    yield
    languages.install("en")


@pytest.mark.usefixtures("english_again")
def test_texts_numbers_and_the_buttons_of_qt_follow(qtbot: QtBot) -> None:
    assert (tr("Dark"), plural("1 x", "%n xs", 1), plural("1 x", "%n xs", 2)) == ("Dark", "1 x", "2 xs")
    languages.install("zh_CN")
    assert tr("Dark") == "深色"
    assert QLocale().language() == QLocale.Language.Chinese
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
    qtbot.addWidget(buttons)
    assert buttons.button(QDialogButtonBox.StandardButton.Cancel).text() == "取消"
    languages.install("en")
    assert tr("Dark") == "Dark"


@pytest.mark.usefixtures("english_again")
def test_no_word_of_the_file_dialog_of_qt_stays_english(qtbot: QtBot) -> None:
    languages.install("zh_CN")
    dialog = QFileDialog()
    qtbot.addWidget(dialog)
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    words = [w for kind in (QLabel, QAbstractButton) for w in dialog.findChildren(kind)]
    said = [text for w in words for text in (w.text(), w.toolTip()) if text]
    assert len(said) >= 10
    assert [text for text in said if text.isascii()] == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the variables are those of Linux")
@pytest.mark.parametrize(
    ("system", "language"),
    [("zh_CN.UTF-8", "zh_CN"), ("zh_TW.UTF-8", "zh_CN"), ("de_DE.UTF-8", "en"), ("C.UTF-8", "en")],
)
def test_the_language_of_the_system_is_taken(system: str, language: str) -> None:
    code = "from app.i18n.languages import resolve; print(resolve('system'), resolve('zh_CN'), resolve('xx'))"
    surroundings = {k: v for k, v in os.environ.items() if k not in ("LANGUAGE", "LANG")} | {"LC_ALL": system}
    done = subprocess.run([sys.executable, "-c", code], env=surroundings, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [language, "zh_CN", language]


def test_a_language_is_kept_and_a_restart_offered(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    assert dialog.look.note.isHidden()
    assert [dialog.look.language.itemText(i) for i in range(3)] == ["System", "English", "简体中文"]
    dialog.look.language.setCurrentIndex(dialog.look.language.findData("zh_CN"))
    assert underhill.window.preferences.language == "zh_CN"
    assert not dialog.look.note.isHidden()
    assert not underhill.again
    dialog.look.restart_requested.emit()
    assert underhill.again
    assert not underhill.window.isVisible()
