"""Which language the window speaks, and that it speaks it after a restart."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDialogButtonBox,
    QFileDialog,
    QLabel,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.application import Application
from app.i18n import languages
from app.i18n.translate import plural, tr
from app.settings.dialog import SettingsDialog
from app.settings.preferences import save
from tests.app.conftest import close
from tests.app.fake_engine import scripted
from tests.app.homes import lived_in


@pytest.fixture
def english_again(qapp: QApplication) -> Iterator[None]:
    yield
    languages.install("en")


@pytest.mark.usefixtures("english_again")
def test_texts_numbers_and_the_buttons_of_qt_follow(qtbot: QtBot) -> None:
    assert (tr("Dark"), plural("1 x", "%n xs", 1), plural("1 x", "%n xs", 2)) == ("Dark", "1 x", "2 xs")
    assert plural("1 chat", "%n chats", 1204) == "1,204 chats"
    languages.install("zh_CN")
    assert tr("Dark") == "深色"
    assert plural("1 chat", "%n chats", 1204) == "1,204 个对话"
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


@pytest.mark.parametrize("asked", [False, True], ids=["waits", "asked for at once"])
def test_another_language_waits_for_an_answer(qtbot: QtBot, launch: Callable[..., Application], asked: bool) -> None:
    underhill = launch(rate=5.0)
    underhill.conversation.send("Hello")
    qtbot.waitUntil(lambda: underhill.conversation.working)
    dialog = underhill.window.settings.open()
    assert dialog.look.note.isHidden()
    assert [dialog.look.language.itemText(i) for i in range(3)] == ["System", "English", "简体中文"]
    dialog.look.language.setCurrentIndex(dialog.look.language.findData("zh_CN"))
    QApplication.processEvents()
    assert underhill.window.preferences.language == "zh_CN"
    assert not dialog.look.note.isHidden()
    assert not underhill.again
    if asked:
        dialog.look.restart_requested.emit()
    else:
        dialog.reject()  # so the next window is opened without it
        assert underhill.conversation.working
        underhill.conversation.stop()
        qtbot.waitUntil(lambda: underhill.again)
    assert underhill.again
    assert underhill.in_settings is asked
    assert not underhill.window.isVisible()
    close(underhill)
    assert (underhill.engine is None) is asked
    if underhill.engine is not None:
        underhill.engine.engine.close()  # no window follows here


def settings_of(underhill: Application) -> SettingsDialog:
    """The dialog, which is opened where it is not open."""
    found = underhill.window.findChildren(SettingsDialog)
    return found[-1] if found else underhill.window.settings.open()


def texts(underhill: Application) -> set[str]:
    """Every text of every widget, of the window and of what is open beside it."""
    found: set[str] = set()
    window = underhill.window
    for widget in [window, *window.findChildren(QWidget)]:
        names = ("text", "title", "windowTitle", "placeholderText", "plainText")
        found |= {str(widget.property(name)) for name in names if widget.property(name)}
        found |= {widget.toolTip(), widget.accessibleName(), widget.accessibleDescription()}
        found |= {action.text() for action in widget.actions()}
        if isinstance(widget, QComboBox):
            found |= {widget.itemText(n) for n in range(widget.count())}
    return {text for text in found if text and not any(sign.isdigit() for sign in text)}  # figures may be others


@pytest.mark.usefixtures("english_again")
def test_all_texts_follow_at_once_and_the_engine_stays(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> None:
    paths = lived_in(tmp_path)
    opened = [Application(qapp, paths, scripted())]

    def shown() -> set[str]:
        underhill = opened[-1]
        qtbot.waitUntil(lambda: underhill.models.state == "ready" and bool(underhill.models.cards))
        dialog = settings_of(underhill)
        for page in range(len(dialog.pages)):
            dialog.show_page(page)
        qtbot.wait(400)
        return texts(underhill)

    def speak(language: str) -> set[str]:
        before = opened[-1]
        look = settings_of(before).look
        look.language.setCurrentIndex(look.language.findData(language))
        qtbot.waitUntil(lambda: before.again)
        before.close()
        assert before.engine is not None
        opened.append(Application(qapp, paths, scripted(), before.engine))
        opened[-1].open_again()
        return shown()

    opened[0].open()
    english = shown()
    engine = opened[0].link.engine
    chinese = speak("zh_CN")
    back = speak("en")
    assert opened[-1].link.engine is engine
    opened[-1].window.close()
    opened[-1].close()
    assert back == english
    assert len(english) > 200
    said = [text for text in english if any("\u4e00" <= sign <= "\u9fff" for sign in text)]
    assert said == ["简体中文"]
    assert len(chinese & english) < 40, sorted(chinese & english)  # names, and what both write alike
    preferences = opened[-1].window.preferences
    preferences.language = "zh_CN"
    save(preferences, paths.preferences)
    fresh = Application(qapp, paths, scripted())
    opened.append(fresh)
    fresh.open()
    assert shown() == chinese
    fresh.window.close()
    fresh.close()
