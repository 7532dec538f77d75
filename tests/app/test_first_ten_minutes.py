"""A person's first ten minutes, with the real engine and a hub of this computer's own.

The tour, a look at this computer, a chat with the built-in model, another model from the hub, a chat with it about a
file, one question answered by two qualities, a setting, the panels; and all of it is there at the next start.
Installing it is another test's: tests/installers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QToolButton
from pytestqt.qtbot import QtBot

from app.application import Application
from app.library.entries import LibraryEntry, LibrarySection
from app.library.page import LibraryPage
from app.onboarding import Tour
from app.platform.logs import AppPaths
from app.storage.store import ChatStore
from engine import protocol, resources
from tests.app.acts import ask
from tests.app.conftest import close
from tests.hubserver import HubServer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not resources.path("builtin", "model").is_dir(), reason="no built-in model here"),
]

MEASURED = 240_000  # milliseconds: a busy computer is waited for, then measured slowly
SHORT = {"temperature": 0.0, "max_tokens": 16}
REPO = "friends/small-moe"


@pytest.fixture
def hub() -> Iterator[HubServer]:
    """Which has the built-in model's checkpoint under another name: it is small, and answers."""
    with HubServer() as running:
        running.add(REPO, resources.path("builtin", "model"), downloads=10)
        yield running


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: HubServer) -> Path:
    """An empty one, of a computer with a network."""
    for name in ("HF_HUB_OFFLINE", "HF_TOKEN", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "UNDERHILL_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    return tmp_path


def started(qtbot: QtBot, qapp: QApplication, home: Path) -> Application:
    """The app, as a double-click starts it."""
    underhill = Application(qapp, AppPaths(home / "window"))
    underhill.window.resize(1280, 820)
    underhill.open()
    return underhill


def test_from_the_first_start_to_a_second_model(qtbot: QtBot, qapp: QApplication, home: Path) -> None:
    underhill = started(qtbot, qapp, home)
    try:
        _welcome(qtbot, underhill)
        underhill.conversation.sampling = SHORT
        _first_question(qtbot, underhill)
        _another_model(qtbot, underhill)
        _about_a_file(qtbot, underhill, home)
        _two_qualities(qtbot, underhill)
        _a_setting(qtbot, underhill)
        _panels(qtbot, underhill)
        assert not underhill.window.banners.banners
    finally:
        close(underhill)

    again = started(qtbot, qapp, home)
    try:
        assert again.window.pages.currentWidget() is not again.onboarding.tour
        assert again.theme.palette.dark
        qtbot.waitUntil(lambda: len(again.conversation.messages) == 4)
        qtbot.waitUntil(lambda: again.models.state == "ready" and _named(again) == "small-moe")
        ask(qtbot, again, "And now?")
    finally:
        close(again)
    kept = ChatStore(home / "window" / "chats.db")
    asked = [[m.content for m in kept.path(chat.id) if m.role == "user"] for chat in kept.chats()]
    files = [a.name for chat in kept.chats() for m in kept.path(chat.id) for a in m.attachments]
    kept.close()
    assert sorted(asked) == [
        ["Count to five.", "Thank you.", "And now?"], ["Hello! Who are you?"], ["What is on the list?"],
    ]  # fmt: skip
    assert files == ["list.txt"]


def _welcome(qtbot: QtBot, underhill: Application) -> None:
    """Through the tour with the keyboard's Return, to the built-in model."""
    tour = underhill.onboarding.tour
    assert isinstance(tour, Tour)
    assert underhill.window.pages.currentWidget() is tour
    qtbot.keyClick(tour.next, Qt.Key.Key_Return)
    probe = underhill.onboarding.probe
    qtbot.waitUntil(lambda: probe.computer is not None or probe.problem is not None, timeout=MEASURED)
    assert probe.problem is None
    qtbot.waitUntil(lambda: tour.computer.verdict.isVisible())
    assert "free on disk" in tour.computer.facts.text()
    qtbot.keyClick(tour.next, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "" in tour.choice.entries)  # the built-in model is there without a network
    qtbot.waitUntil(lambda: underhill.models.state == "ready")
    qtbot.keyClick(tour.next, Qt.Key.Key_Return)
    assert underhill.window.pages.currentWidget() is underhill.window.welcome


def _first_question(qtbot: QtBot, underhill: Application) -> None:
    ask(qtbot, underhill, "Hello! Who are you?")
    answer = underhill.conversation.messages[-1]
    assert (answer.state, answer.model) == ("whole", underhill.models.card.title if underhill.models.card else "")
    assert len(answer.content.split()) > 2


def _another_model(qtbot: QtBot, underhill: Application) -> None:
    """Found on the hub, downloaded, and in use."""
    page = underhill.window.library.show()
    page.show_section(1)
    qtbot.waitUntil(lambda: underhill.library.catalogue is not None)
    qtbot.keyClicks(page.discover.search, "small-moe")
    qtbot.keyClick(page.discover.search, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not underhill.library.searching and bool(page.discover.entries))
    (found,) = page.discover.entries
    found.buttons["Download"].click()
    qtbot.waitUntil(lambda: any(t.state == protocol.FINISHED for t in underhill.library.transfers.values()))
    _tab(page, "My models").click()
    qtbot.waitUntil(lambda: len(page.yours.entries) == 2)
    _entry(page.yours, "small-moe").buttons["Use"].click()
    qtbot.waitUntil(lambda: underhill.models.state == "ready" and _named(underhill) == "small-moe")


def _about_a_file(qtbot: QtBot, underhill: Application, home: Path) -> None:
    (home / "list.txt").write_text("Milk, bread and apples.\n", encoding="utf-8")
    window = underhill.window
    window.sidebar.button.click()
    window.composer.files.emit([home / "list.txt"])
    qtbot.waitUntil(lambda: len(window.composer.attachments) == 1)
    ask(qtbot, underhill, "What is on the list?")
    question, answer = underhill.conversation.messages
    assert [a.name for a in question.attachments] == ["list.txt"]
    assert answer.state == "whole"
    assert answer.stats["prompt_tokens"] > 12  # the file's are among them
    assert underhill.models.card is not None
    assert answer.model == underhill.models.card.title


def _two_qualities(qtbot: QtBot, underhill: Application) -> None:
    """Exact beside Fast; the one that is chosen begins a chat."""
    underhill.window.header.compare.trigger()
    page = underhill.window.compare.page
    assert page is not None
    qtbot.waitUntil(lambda: page.isVisible() and page.columns[0].model.count() > 0)
    name = _named(underhill)
    page.columns[0].choose(name, "exact")
    page.columns[1].choose(name, "fast")
    qtbot.keyClicks(page.edit, "Count to five.")
    qtbot.keyClick(page.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(page.run.answers) == 2 and not page.run.busy)
    assert all("tok/" in column.figures.text() for column in page.columns)
    page.columns[0].use.click()
    qtbot.waitUntil(lambda: [m.content for m in underhill.conversation.messages][:1] == ["Count to five."])


def _a_setting(qtbot: QtBot, underhill: Application) -> None:
    dialog = underhill.window.settings.open()
    assert underhill.window.isVisible()  # beside it
    dialog.look.theme.setCurrentIndex(dialog.look.theme.findData("dark"))
    assert underhill.theme.palette.dark
    dialog.reject()


def _panels(qtbot: QtBot, underhill: Application) -> None:
    live = underhill.window.live
    qtbot.waitUntil(lambda: live.history.last is not None and bool(live.history.last.activations))
    ask(qtbot, underhill, "Thank you.")
    live.experts.heatmap.chosen.emit(1, 4)
    qtbot.waitUntil(live.experts.inspector.isVisible)
    assert "Layer 1, expert 4" in live.experts.inspector.text()


def _named(underhill: Application) -> str:
    return underhill.models.card.name if underhill.models.card is not None else ""


def _tab(page: LibraryPage, text: str) -> QToolButton:
    return next(tab for tab in page.findChildren(QToolButton) if tab.text().startswith(text))


def _entry(section: LibrarySection, title: str) -> LibraryEntry:
    return next(entry for entry in section.entries if entry.title == title)
