"""Every page and dialog of the window: named, reachable by Tab in reading order, and nothing cut at any size."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.application import Application
from app.i18n import languages
from app.platform.logs import AppPaths
from app.settings import preferences
from app.settings.preferences import Preferences
from app.theme import fonts
from app.transcript.details import AnswerDetails
from app.widgets.keyboard import SHORTCUTS
from tests.app import focus, places, walking
from tests.app.acts import Launch

pytestmark = pytest.mark.long


def everywhere(qtbot: QtBot, underhill: Application) -> Iterator[tuple[str, QWidget]]:
    return chain(places.pages(qtbot, underhill), places.dialogs(qtbot, underhill))


def found(check: Callable[[QWidget], Iterator[str]], where: Iterator[tuple[str, QWidget]]) -> list[str]:
    """Each fault once, with the place it was first seen at."""
    faults: dict[str, str] = {}
    for name, root in where:
        for fault in check(root):
            faults.setdefault(fault, f"{name}: {fault}")
    return list(faults.values())


def test_everything_has_a_name_and_tab_reads_the_page(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(**places.ENGINE)

    def check(root: QWidget) -> Iterator[str]:
        steps = walking.tabbed(root)
        yield from walking.unnamed(steps)
        yield from walking.misplaced(root, steps)

    faults = found(check, everywhere(qtbot, underhill))
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(("mode", "contrast"), [("light", "off"), ("dark", "off"), ("light", "on"), ("dark", "on")])
def test_one_sees_where_the_keyboard_is(mode: str, contrast: str, qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(**places.ENGINE)
    underhill.theme.set_mode(mode)
    underhill.theme.set_contrast(contrast)

    def check(root: QWidget) -> Iterator[str]:
        root.activateWindow()
        qtbot.waitUntil(root.isActiveWindow)
        yield from focus.unseen(root)

    faults = found(check, everywhere(qtbot, underhill))
    assert not faults, "\n".join(faults)


@pytest.fixture
def normal_size() -> Iterator[None]:
    yield
    fonts.set_percent(100)
    languages.install("en")


@pytest.mark.parametrize(("percent", "language"), [(100, "en"), (130, "en"), (150, "en"), (150, "zh_CN")])
def test_nothing_is_cut(
    qtbot: QtBot, launch: Launch, tmp_path: Path, percent: int, language: str, normal_size: None
) -> None:
    remembered = Preferences(toured=True, font_percent=percent, language=language)
    preferences.save(remembered, AppPaths(tmp_path).preferences)
    underhill = launch(**places.ENGINE)
    window = underhill.window

    def small() -> Iterator[tuple[str, QWidget]]:
        for name, root in everywhere(qtbot, underhill):
            if root is window:
                for size in ((900, 600), (1180, 760)):
                    root.resize(*size)
                    places.settle(qtbot, root)
                    assert (root.width(), root.height()) == size, f"{name}: is as small as it gets"
                    yield f"{name} at {size[0]}", root
            else:
                places.settle(qtbot, root)
                yield name, root

    faults = found(walking.cut, small())
    assert not faults, "\n".join(faults)


def test_what_was_closed_hears_of_no_change_of_colours_or_size(qtbot: QtBot, launch: Launch, normal_size: None) -> None:
    """A slot of a dialog that is gone raises, which fails the test."""
    underhill = launch(**places.ENGINE)
    for _ in everywhere(qtbot, underhill):
        pass
    for dialog in underhill.window.findChildren(QDialog):
        dialog.done(0)
        dialog.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert not underhill.window.findChildren(QDialog)
    for mode in ("dark", "light"):
        underhill.theme.set_mode(mode)
    for percent in (130, 100):
        underhill.theme.set_percent(percent)
    underhill.models.changed.emit()


def test_menus_say_what_they_do_and_no_key_that_is_not_on_the_sheet(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(**places.ENGINE)
    for _ in places.pages(qtbot, underhill):
        pass
    on_sheet = {s.keys for s in SHORTCUTS}
    for name, menu in places.menus(underhill):
        texts = [action.text() for action in menu.actions() if not action.isSeparator()]
        assert texts, name
        words, keys = zip(*(text.partition("\t")[::2] for text in texts))
        assert all(words), name
        assert len(set(words)) == len(words), name
        assert {key for key in keys if "+" in key or key[:1] == "F"} <= on_sheet, name
    told = {key for w in underhill.window.findChildren(QWidget) for key in re.findall(r"  \((\S+)\)$", w.toolTip())}
    assert told - {"Enter", "End"} <= on_sheet
    assert {"Ctrl+N", "Ctrl+L"} <= told


@pytest.mark.qt_log_ignore("This plugin does not support")  # menus, on a platform without windows
def test_keys_that_a_widget_answers_by_itself(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(script=lambda messages: places.THOUGHT)
    window = underhill.window
    chats, page, edit = window.sidebar.list, window.transcript, window.composer.edit

    def press(widget: QWidget, keys: str) -> None:
        pressed.add(keys)
        combination = QKeySequence(keys)[0]
        qtbot.keyClick(widget, combination.key(), combination.keyboardModifiers())

    pressed: set[str] = set()
    qtbot.keyClicks(edit, "one")
    press(edit, "Shift+Return")
    qtbot.keyClicks(edit, "two")
    press(edit, "Return")
    qtbot.waitUntil(lambda: not underhill.conversation.working and len(page.items) == 2)
    assert page.items[0].message.content == "one\ntwo"
    press(page, "Alt+Up")
    assert page.current == 0
    press(page, "Alt+Down")
    folded = page.items[1].folded
    press(page, "Ctrl+T")
    assert page.items[1].folded is not folded
    press(page, "Ctrl+I")
    assert page.viewport().findChild(AnswerDetails).isVisible()
    press(page, "Ctrl+I")
    assert not page.items[1].details_height
    press(edit, "Up")
    assert edit.toPlainText() == "one\ntwo"
    qtbot.waitUntil(lambda: window.sidebar.model.rowCount() == 2)
    chats.setCurrentIndex(window.sidebar.model.index(1))
    press(chats, "F2")
    assert isinstance(QApplication.focusWidget(), QLineEdit)
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    press(chats, "Ctrl+Shift+F")
    assert isinstance(QApplication.activePopupWidget(), QMenu)
    QApplication.activePopupWidget().close()
    press(chats, "Del")
    qtbot.waitUntil(lambda: window.sidebar.model.rowCount() == 0)
    assert pressed - {"Alt+Down"} == {s.keys for s in SHORTCUTS if not s.name}
