"""The page of network and folders: the engine keeps it all, and the token is never shown."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLineEdit
from pytestqt.qtbot import QtBot

from app.application import Application
from app.settings.dialog import SettingsDialog
from engine import protocol
from tests.app.conftest import engine_of

pytestmark = pytest.mark.long
FOLDERS = ("/data/models", "/media/disk/models")


def opened(qtbot: QtBot, underhill: Application) -> SettingsDialog:
    dialog = underhill.window.settings.open()
    dialog.show_page(len(dialog.pages) - 1)
    qtbot.waitUntil(
        lambda: dialog.shared.folders.list.count() == 2 and "No token for" in dialog.shared.token.state.text()
    )
    return dialog


def test_what_the_engine_keeps_is_shown_and_changed(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    underhill = launch(
        folders=list(FOLDERS),
        shared={s.name: s.default for s in protocol.settings.SHARED} | {"proxy": "http://proxy:8080"},
    )
    dialog = opened(qtbot, underhill)
    editors = {e.setting.name: e for e in dialog.shared.editors}
    assert set(editors) == {"endpoint", "proxy", "offline", "import_battery"}
    proxy, offline = editors["proxy"].control, editors["offline"].control
    assert isinstance(proxy, QLineEdit)
    assert isinstance(offline, QCheckBox)
    assert proxy.text() == "http://proxy:8080"
    assert proxy.placeholderText() == "http://proxy.example:8080"
    endpoint = editors["endpoint"].control
    assert isinstance(endpoint, QLineEdit)
    qtbot.waitUntil(lambda: endpoint.placeholderText() == "https://huggingface.co")
    offline.setChecked(True)
    qtbot.waitUntil(lambda: bool(engine_of(underhill).shared["offline"]))
    engine_of(underhill).fail[protocol.KeepSettings] = protocol.Failed(
        "", protocol.Kind.DISK_FULL, "The disk is full.", "Free some."
    )
    editors["import_battery"].reset()
    qtbot.waitUntil(lambda: editors["import_battery"].note.text() == "The disk is full. Free some.")
    dialog.reject()


def test_a_token_is_tried_kept_and_forgotten_and_never_shown(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    underhill = launch(folders=list(FOLDERS))
    dialog = opened(qtbot, underhill)
    token = dialog.shared.token
    assert token.line.echoMode() == QLineEdit.EchoMode.Password
    assert not token.keep.isEnabled()
    engine_of(underhill).fail[protocol.KeepToken] = protocol.Failed(
        "", protocol.Kind.NO_ACCESS, "The hub does not know it.", ""
    )
    qtbot.keyClicks(token.line, "hf_wrong")
    qtbot.keyClick(token.line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: token.state.text() == "The hub does not know it.")
    qtbot.keyClicks(token.line, "hf_secret")
    token.keep.click()
    qtbot.waitUntil(lambda: "in the system keyring" in token.state.text())
    assert token.line.text() == ""
    assert "hf_secret" not in token.state.text()
    token.forget.click()
    qtbot.waitUntil(lambda: "No token for" in token.state.text())
    dialog.reject()


def test_folders_are_put_first_and_taken_out_but_not_the_own_one(
    qtbot: QtBot, launch: Callable[..., Application]
) -> None:
    underhill = launch(folders=list(FOLDERS))
    dialog = opened(qtbot, underhill)
    folders = dialog.shared.folders
    folders.list.setCurrentRow(0)
    assert not folders.first.isEnabled()
    assert not folders.remove.isEnabled()
    folders.list.setCurrentRow(1)
    folders.first.click()
    qtbot.waitUntil(lambda: engine_of(underhill).folders == ["/media/disk/models", "/data/models"])
    qtbot.waitUntil(lambda: folders.list.item(0).text().startswith("/media/disk/models"))
    folders.list.setCurrentRow(0)
    folders.remove.click()
    qtbot.waitUntil(lambda: folders.list.count() == 1)
    dialog.reject()


def test_an_answer_that_comes_after_the_page_has_gone_is_not_heard(
    qtbot: QtBot, launch: Callable[..., Application]
) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    dialog.reject()  # before anything was answered
    qtbot.wait(50)
    assert any(isinstance(c, protocol.ReadSettings) for c in engine_of(underhill).received)


def test_the_keyring_is_not_asked_before_one_looks_at_its_page(
    qtbot: QtBot, launch: Callable[..., Application]
) -> None:
    underhill = launch(folders=list(FOLDERS))
    dialog = underhill.window.settings.open()
    qtbot.waitUntil(lambda: dialog.shared.folders.list.count() == 2)  # asked for after ReadSettings
    asked = engine_of(underhill).received
    assert not any(isinstance(c, protocol.AskToken) for c in asked)
    dialog.show_page(len(dialog.pages) - 1)
    qtbot.waitUntil(lambda: "No token for" in dialog.shared.token.state.text())
    dialog.show_page(0)
    dialog.show_page(len(dialog.pages) - 1)
    assert sum(isinstance(c, protocol.AskToken) for c in asked) == 1
    dialog.reject()
