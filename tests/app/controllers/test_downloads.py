"""Models on their way are seen from everywhere in the window, and nobody loses one by a slip of the mouse."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QButtonGroup, QMessageBox, QSystemTrayIcon
from pytestqt.qtbot import QtBot

from app.application import Application
from engine import protocol
from tests.app.acts import Launch
from tests.app.conftest import engine_of
from tests.app.fake_hub import GB, QWEN, FakeHub

pytestmark = pytest.mark.long

HALF = protocol.Transfer(
    id="t9",
    repo=QWEN.repo,
    revision="",
    name="Qwen3-30B-A3B",
    top=4,
    endpoint="https://hub.invalid",
    state=protocol.PAUSED,
    done=30 * GB,
    total=61 * GB,
)


def under_way(qtbot: QtBot, underhill: Application) -> FakeHub:
    """One download, a quarter of which is here."""
    hub = engine_of(underhill).hub
    underhill.library.pull(QWEN, 4)
    qtbot.waitUntil(lambda: "t1" in underhill.library.transfers)
    hub.tell("t1", state=protocol.RUNNING, done=15 * GB, total=60 * GB)
    qtbot.waitUntil(lambda: underhill.library.transfers["t1"].done == 15 * GB)
    return hub


def box_of(underhill: Application) -> QMessageBox:
    return underhill.window.findChildren(QMessageBox)[-1]


def press(box: QMessageBox, words: str) -> None:
    next(button for button in box.buttons() if button.text() == words).click()


def test_the_strip_at_the_top_says_how_far_it_is_and_leads_there(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    header = underhill.window.header
    assert not header.downloads.isVisible()
    hub = under_way(qtbot, underhill)
    assert header.downloads.isVisible()
    assert header.downloads.text() == "↓ 25%"
    assert header.downloads.accessibleName() == "Downloading 25%"
    header.downloads.click()
    page = underhill.window.library.page
    assert page is not None
    assert underhill.window.pages.currentWidget() is page
    assert page.pages.currentWidget() is page.downloads
    hub.tell("t1", state=protocol.FINISHED)
    qtbot.waitUntil(lambda: not header.downloads.isVisible())


def test_a_download_that_closing_has_halted_is_not_forgotten(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeHub, "_transfer", lambda hub, command: _remembering(hub, command))
    underhill = launch()
    banners = underhill.window.banners
    qtbot.waitUntil(lambda: bool(banners.banners))
    assert banners.banners[0].sentence == "Unfinished download: Qwen3-30B-A3B (30.0 GB of 61.0 GB)"
    banners.banners[0].act()
    qtbot.waitUntil(lambda: underhill.library.transfers["t9"].state == protocol.RUNNING)


def test_a_download_that_failed_is_seen_from_the_chat_until_it_is_tried_again(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    window = underhill.window
    header, banners, hub = window.header, window.banners, under_way(qtbot, underhill)
    hub.tell("t1", state=protocol.FAILED, problem="The connection was lost.", action="Try again later.")
    qtbot.waitUntil(lambda: bool(banners.banners))
    banner = banners.banners[0]
    assert banner.sentence == "Download failed: Qwen3-30B-A3B"
    assert header.downloads.isVisible()
    assert header.downloads.accessibleName() == "1 download failed"
    assert header.downloads.property("level") == "failed"
    page = window.library.show()
    assert page.findChild(QButtonGroup).button(3).text() == "Downloads (1 failed)"
    hub.tell("t1", state=protocol.FAILED, problem="The connection was lost.", action="")  # said once
    banner.act()
    qtbot.waitUntil(lambda: underhill.library.transfers["t1"].state == protocol.RUNNING)
    assert not banners.banners
    assert header.downloads.property("level") == ""
    assert header.downloads.accessibleName() == "Downloading 25%"
    hub.tell("t1", state=protocol.FAILED, problem="The disk is full.", action="")
    qtbot.waitUntil(lambda: bool(banners.banners))
    underhill.library.cancel("t1")
    qtbot.waitUntil(lambda: not banners.banners)
    assert not header.downloads.isVisible()


_transfer = FakeHub._transfer


def _remembering(hub: FakeHub, command: protocol.Command) -> object:
    hub.transfers.setdefault("t9", HALF)
    return _transfer(hub, command)


def test_what_took_long_to_arrive_is_cancelled_only_when_one_is_sure(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    underhill.window.library.show_downloads()
    under_way(qtbot, underhill)
    page = underhill.window.library.page
    assert page is not None
    page.downloads.entries[0].buttons["Cancel"].click()
    assert "15.0 GB" in box_of(underhill).informativeText()
    press(box_of(underhill), "Cancel")
    assert "t1" in underhill.library.transfers
    page.downloads.entries[0].buttons["Cancel"].click()
    press(box_of(underhill), "Cancel download")
    qtbot.waitUntil(lambda: "t1" not in underhill.library.transfers)


def test_the_trash_is_emptied_only_when_one_is_sure(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    hub = engine_of(underhill).hub
    hub.deleted = (protocol.DeletedModel("old-model", "/models", 3 * GB, 0.0, 1e9),)
    page = underhill.window.library.show()
    qtbot.waitUntil(lambda: bool(underhill.library.deleted))
    page.yours.empty_trash()
    assert "3.0 GB" in box_of(underhill).informativeText()
    press(box_of(underhill), "Cancel")
    assert not any(isinstance(c, protocol.EmptyTrash) for c in engine_of(underhill).received)
    page.yours.empty_trash()
    press(box_of(underhill), "Empty trash")
    qtbot.waitUntil(lambda: not underhill.library.deleted)


def test_the_tray_tells_of_downloads(qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: True))
    monkeypatch.setattr(QSystemTrayIcon, "supportsMessages", staticmethod(lambda: True))
    monkeypatch.setattr(QSystemTrayIcon, "show", lambda self: None)
    monkeypatch.setattr(QSystemTrayIcon, "showMessage", lambda self, title, text, icon: said.append(text))
    monkeypatch.setattr(QApplication, "activeWindow", staticmethod(lambda: None))
    underhill = launch()
    tray = underhill.tray_controller.tray
    assert tray is not None
    hub = under_way(qtbot, underhill)
    assert tray.toolTip() == "Underhill – downloading, 25%"
    hub.tell("t1", state=protocol.FINISHED)
    qtbot.waitUntil(lambda: said == ["Qwen3-30B-A3B downloaded"])
    assert tray.toolTip() == "Underhill"
