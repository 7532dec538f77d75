"""The window in Chinese: every text that a widget shows or says has been translated."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDockWidget,
    QGroupBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QMenu,
    QPlainTextEdit,
    QTabWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.application import Application
from app.i18n import languages
from app.library.dialogs import ImportDialog
from app.library.entries import LibraryEntry
from app.platform.logs import AppPaths
from app.settings import preferences
from app.widgets.keyboard import key_names
from app.widgets.menus import make_menu
from engine import protocol
from tests.app.conftest import close
from tests.app.fake_cards import BUILTIN, COMPUTER, LARGE
from tests.app.fake_engine import scripted
from tests.app.fake_hub import CATALOGUE
from tests.app.homes import lived_in

pytestmark = pytest.mark.long

CJK = re.compile(r"[\u3400-\u9fff]")
# Of the models, licences and folders that the scripted engine has.
NAMES = re.compile(
    "|".join(
        re.escape(name)
        for name in sorted(
            {c.title for c in (BUILTIN, LARGE)}
            | {word for m in CATALOGUE for word in (m.title, m.licence, m.repo, m.repo.partition("/")[0])}
            | {COMPUTER.processor.name},
            key=len,
            reverse=True,
        )
    )
)
# Names, units and keys, which are the same in every language.
ALLOWED = re.compile(
    r"^[^()]+ \([a-z]{2,3}(?:_[A-Z]{2})?\)$|"  # languages of dictionaries, by their own names
    r"HOBBIT|EdgeMoE|LRU|LFU|torch|float32|bf16|"
    r"Underhill|English|Markdown|JSON|GGUF|Python|Inter|JetBrains Mono|Droid Sans Fallback|T1|T2|Top [PK]|Min P|[CG]PU|"
    r"https?://\S+|/\S+|\b(?:Ctrl|Shift|Alt|Esc|Enter|Del|Tab|F\d+|[kMGT]?B|Mbit|s)\b|\b[A-Z]\b"
)


def english_left(text: str) -> bool:
    """Whether a text has Latin words, and nothing of Chinese, apart from names."""
    plain = re.sub(r"<[^>]*>|&\w+;", " ", text)
    return not CJK.search(plain) and bool(re.search(r"[A-Za-z]{2,}", ALLOWED.sub(" ", plain)))


def test_what_counts_as_english() -> None:
    assert english_left("Close")
    assert english_left("512 tokens")
    assert not english_left("关闭 Close")
    assert not english_left("Underhill")
    assert not english_left("Ctrl+N 1.2 GB/s")


def said(widget: QWidget) -> Iterator[str]:
    """What a widget shows, and what it tells a screen reader."""
    yield from (widget.windowTitle(), widget.toolTip(), widget.accessibleName(), widget.accessibleDescription())
    yield from (action.text() for action in widget.actions())
    match widget:
        case QLabel() | QAbstractButton():
            yield widget.text()
        case QLineEdit() | QPlainTextEdit():
            yield widget.placeholderText()
        case QComboBox():
            yield from (widget.itemText(i) for i in range(widget.count()))
        case QListWidget():
            yield from (widget.item(i).text() for i in range(widget.count()))
        case QMenu() | QGroupBox():
            yield widget.title()
        case QTabWidget():
            yield from (widget.tabText(i) for i in range(widget.count()))
        case _:
            pass


class Walk:
    """Gathers what is English, whoever said it: the engine's own sentences come translated."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def __call__(self, root: QWidget) -> None:
        for widget in (root, *root.findChildren(QWidget)):
            self.found.update(text for text in said(widget) if english_left(NAMES.sub(" ", text)))


@pytest.fixture
def chinese(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Callable[[bool], Application]]:
    """chinese(new): a window in Chinese with its model open; new: it is the first run."""
    running: list[Application] = []

    def make(new: bool) -> Application:
        paths = AppPaths(tmp_path) if new else lived_in(tmp_path)
        preferences.save(preferences.Preferences(language="zh_CN", toured=not new), paths.preferences)
        underhill = Application(qapp, paths, scripted())
        running.append(underhill)
        underhill.open()
        qtbot.waitUntil(lambda: underhill.models.state == "ready")
        return underhill

    yield make
    try:
        for underhill in running:
            close(underhill)
    finally:
        languages.install(languages.ENGLISH)


def test_the_first_run(qtbot: QtBot, chinese: Callable[[bool], Application]) -> None:
    underhill = chinese(True)
    walk = Walk()
    tour = underhill.onboarding.tour
    assert tour is not None
    for step in range(3):
        tour.show_step(step)
        qtbot.waitUntil(lambda: not underhill.onboarding.probe.running)
    walk(tour)
    assert walk.found == set()


def test_the_window_its_panels_and_its_dialogs(qtbot: QtBot, chinese: Callable[[bool], Application]) -> None:
    underhill = chinese(False)
    window = underhill.window
    walk = Walk()
    walk(window.welcome)
    underhill.conversation.send("一加一等于几？")
    qtbot.waitUntil(lambda: underhill.conversation.working)
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    qtbot.waitUntil(lambda: bool(window.live.history.samples))
    qtbot.waitUntil(lambda: len(window.sidebar.model.rows) == 2)  # a section and the chat, read back from the disk
    window.live.repaint()
    facts = protocol.ExpertFacts(
        layer=1,
        expert=2,
        uses=4,
        answer=3,
        gate=0.5,
        mean_gate=0.4,
        coarse=1,
        skipped=0,
        tier=4,
        place=1,
        coming=8,
        nbytes=1000,
        stored=2000,
    )
    window.live.experts.inspector.show_expert(facts)
    window.header.fill_menu()
    for part in (window.sidebar, window.header, window.composer, *window.findChildren(QDockWidget)):
        walk(part)
    menu = make_menu(window.sidebar, once=True)
    window.sidebar.fill_chat_menu(menu, window.sidebar.model.rows[1])
    walk(menu)
    menu.deleteLater()
    page = window.library.show()
    qtbot.waitUntil(lambda: len(page.findChildren(LibraryEntry)) > 3)
    walk(page)
    settings = window.settings.open()
    qtbot.waitUntil(lambda: settings.shared.folders.list.count() > 0)
    sheet, about, privacy = window.show_shortcuts(), window.show_about(), window.network_controller.show_privacy()
    assert key_names("Shift+Return") == "Shift+Enter"  # as it is on the keyboard, and in every other text
    importing = ImportDialog("/models/some", window)
    for dialog in (settings, sheet, about, privacy, importing):
        walk(dialog)
        dialog.reject()
    importing.deleteLater()
    assert "不检查更新" in privacy.page.toPlainText()
    assert walk.found == set()
