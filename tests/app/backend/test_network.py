"""What the window says of the network."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox
from pytestqt.qtbot import QtBot

from app import dialogs
from app.settings.dialog import SettingsDialog
from engine import protocol
from tests.app.acts import Launch
from tests.app.conftest import engine_of

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def free_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)


def settings(underhill: object) -> SettingsDialog:
    return underhill.window.findChildren(SettingsDialog)[-1]  # type: ignore[attr-defined, no-any-return]


def test_staying_offline_is_seen_and_one_click_from_its_setting(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(shared={s.name: s.default for s in protocol.settings.SHARED} | {"offline": True})
    label = underhill.window.header.offline
    qtbot.waitUntil(label.isVisible)
    qtbot.mouseClick(label, Qt.MouseButton.LeftButton)
    dialog = settings(underhill)
    editor = next(e for e in dialog.shared.editors if e.setting.name == "offline")
    qtbot.waitUntil(editor.isEnabled)
    assert dialog.pages[dialog.stack.currentIndex()] is dialog.shared
    assert isinstance(editor.control, QCheckBox)
    assert editor.control.isChecked()
    editor.control.click()
    qtbot.waitUntil(lambda: not label.isVisible())
    assert engine_of(underhill).shared["offline"] is False
    editor.control.click()
    dialog.reject()  # before the engine has answered
    qtbot.waitUntil(label.isVisible)


def test_nothing_is_said_while_the_network_may_be_used(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    assert not underhill.window.header.offline.isVisible()


def test_what_the_environment_says_counts(qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    underhill = launch()
    assert underhill.window.header.offline.isVisible()
    assert "HF_HUB_OFFLINE" in underhill.window.header.offline.toolTip()


def test_the_privacy_page_is_that_of_the_docs(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    underhill.window.header.privacy.trigger()
    page = underhill.window.findChildren(dialogs.PrivacyDialog)[-1]
    shown = page.page.document().toPlainText()
    assert "no update check unless you turn it on" in shown
    assert "Offline mode" in shown
    assert "**" not in shown
    page.reject()
    assert (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8").startswith(dialogs.privacy_text())
