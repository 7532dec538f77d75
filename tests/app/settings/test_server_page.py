"""The page of the local server: switched on and off, given a key, and told who asks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from app import local_server
from app.application import Application
from app.settings import preferences
from app.settings.dialog import SettingsDialog
from app.settings.preferences import Preferences
from engine import protocol
from engine.translatable import msg
from tests.app.acts import button
from tests.app.conftest import close, engine_of
from tests.app.homes import lived_in

pytestmark = pytest.mark.long
Launch = Callable[..., Application]

IN_USE = protocol.Failed(
    "", protocol.Kind.BUSY, msg("Another app uses port {port}.", port=11535), msg("Choose another.")
)
NO_KEYRING = protocol.Failed("", protocol.Kind.DISK_ERROR, msg("No keyring works."), msg("Install one."))


def opened(qtbot: QtBot, underhill: Application) -> SettingsDialog:
    underhill.window.server_requested.emit()
    return shown(qtbot, underhill)


def shown(qtbot: QtBot, underhill: Application) -> SettingsDialog:
    """The dialog that is open, at the page of the server."""
    (dialog,) = (found for found in underhill.window.findChildren(SettingsDialog) if found.isVisible())
    assert dialog.pages[dialog.page] is dialog.server
    qtbot.waitUntil(lambda: underhill.window.server.key is not None or bool(underhill.window.server.key_note))
    return dialog


def switch(qtbot: QtBot, underhill: Application, dialog: SettingsDialog) -> None:
    dialog.server.switch.click()
    qtbot.waitUntil(lambda: not underhill.window.server.busy)


def choose(dialog: SettingsDialog, name: str, value: object) -> None:
    """Set one of the settings of the server as a person does."""
    editor = next(e for e in dialog.server.editors if e.setting.name == name)
    control = editor.control
    if isinstance(control, QCheckBox):
        control.setChecked(bool(value))
    elif isinstance(control, QComboBox):
        control.setCurrentIndex(control.findData(value))
    else:
        assert isinstance(control, QLineEdit)
        control.setText(str(value))
        control.editingFinished.emit()


def starts(underhill: Application) -> list[protocol.StartServer]:
    return [c for c in engine_of(underhill).received if isinstance(c, protocol.StartServer)]


def test_switched_on_and_off_with_the_address_to_copy(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    dialog, badge = opened(qtbot, underhill), underhill.window.header.server
    page = dialog.server
    assert not page.switch.isChecked()
    assert not badge.isVisible()
    assert not page.addresses.isVisible()
    switch(qtbot, underhill, dialog)
    assert page.switch.isChecked()
    assert page.addresses.shown == ["http://127.0.0.1:11535/v1"]
    button(page.addresses, "Copy http://127.0.0.1:11535/v1").click()
    assert QGuiApplication.clipboard().text() == "http://127.0.0.1:11535/v1"
    assert badge.isVisible()
    assert "http://127.0.0.1:11535" in badge.toolTip()
    switch(qtbot, underhill, dialog)
    assert page.state.text().startswith("Off")
    assert not page.addresses.isVisible()
    assert not badge.isVisible()
    assert any(isinstance(command, protocol.StopServer) for command in engine_of(underhill).received)


def test_the_badge_opens_the_page(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    dialog = opened(qtbot, underhill)
    switch(qtbot, underhill, dialog)
    dialog.show_page(0)
    dialog.reject()
    underhill.window.header.server.click()
    again = shown(qtbot, underhill)
    assert again.server.switch.isChecked()


def test_a_port_in_use_is_said_below_the_switch_which_is_off_again(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    dialog = opened(qtbot, underhill)
    page = dialog.server
    engine_of(underhill).fail[protocol.StartServer] = IN_USE
    switch(qtbot, underhill, dialog)
    assert page.problem.text() == "Another app uses port 11535. Choose another."
    assert page.problem.isVisible()
    assert not page.switch.isChecked()
    assert not underhill.window.banners.banners  # the person looks at it
    choose(dialog, "server_port", 12000)
    assert len(starts(underhill)) == 1  # it is off
    switch(qtbot, underhill, dialog)
    assert not page.problem.isVisible()
    assert page.addresses.shown == ["http://127.0.0.1:12000/v1"]
    choose(dialog, "server_port", 80)  # refused by the editor
    choose(dialog, "server_port", 12001)
    qtbot.waitUntil(lambda: page.addresses.shown == ["http://127.0.0.1:12001/v1"])
    assert [c.port for c in starts(underhill)] == [11535, 12000, 12001]


def test_other_computers_get_in_only_with_a_key_which_is_made(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_server, "_own_addresses", lambda: ["192.168.1.7"])
    underhill = launch()
    dialog, engine = opened(qtbot, underhill), engine_of(underhill)
    page = dialog.server
    switch(qtbot, underhill, dialog)
    choose(dialog, "server_reach", "network")
    qtbot.waitUntil(lambda: len(page.addresses.shown) == 2)
    assert page.addresses.shown == ["http://192.168.1.7:11535/v1", "http://127.0.0.1:11535/v1"]
    key = engine.server_key
    assert len(key) >= 32
    assert [c.host for c in starts(underhill)] == ["127.0.0.1", "0.0.0.0"]
    assert (page.key.line.text(), page.key.line.echoMode()) == (key, QLineEdit.EchoMode.Password)
    assert not page.key.remove.isVisible()  # nor can it be without
    page.key.reveal.click()
    assert page.key.line.echoMode() == QLineEdit.EchoMode.Normal
    page.key.copy.click()
    assert QGuiApplication.clipboard().text() == key
    page.key.make.click()
    qtbot.waitUntil(lambda: len(starts(underhill)) == 3 and not underhill.window.server.busy)
    assert engine.server_key not in ("", key)
    choose(dialog, "server_reach", "computer")
    qtbot.waitUntil(lambda: page.key.remove.isVisible() and not underhill.window.server.busy)
    page.key.remove.click()
    qtbot.waitUntil(lambda: engine.server_key == "" and not page.key.line.isVisible())


def test_where_no_keyring_works_the_key_is_handed_over_and_holds_till_the_end(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    dialog = opened(qtbot, underhill)
    page = dialog.server
    engine_of(underhill).fail[protocol.KeepServerKey] = NO_KEYRING
    page.key.make.click()
    qtbot.waitUntil(lambda: page.key.note.isVisible())
    assert "No keyring works." in page.key.note.text()
    assert "until you close the app" in page.key.note.text()
    switch(qtbot, underhill, dialog)
    assert starts(underhill)[-1].key == page.key.line.text() != ""


def test_a_keyring_that_stays_shut_is_said_and_no_key_is_shown(qtbot: QtBot, launch: Launch) -> None:
    locked = protocol.Failed("", protocol.Kind.DISK_ERROR, msg("The keyring is locked."), msg("Unlock it."))
    underhill = launch(fail={protocol.AskServerKey: locked})
    page = opened(qtbot, underhill).server
    assert page.key.note.text() == "The keyring is locked. Unlock it."
    assert not page.key.line.isVisible()
    assert "No key is needed" not in page.key.state.text()


def test_who_asks_is_shown_and_can_be_stopped(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    dialog, engine = opened(qtbot, underhill), engine_of(underhill)
    page = dialog.server
    switch(qtbot, underhill, dialog)
    running = protocol.ServerRequest(
        id="server:3",
        client="127.0.0.1 Editor/7",
        way="/v1/messages",
        model="builtin",
        state="answering",
        tokens=12,
        seconds=3.0,
    )
    over = protocol.ServerRequest(
        id="server:2",
        client="127.0.0.1 curl",
        way="/api/chat",
        model="builtin",
        state="failed",
        tokens=0,
        seconds=0.1,
        why=msg("The model is needed."),
    )
    engine.tell_server(requests=(running,), recent=(over,), answered=4, refused=1)
    rows = page.requests.list
    qtbot.waitUntil(lambda: rows.count() == 2)
    assert "Editor/7" in rows.item(0).text()
    assert "12 tokens" in rows.item(0).text()
    assert "Failed" in rows.item(1).text()
    assert "The model is needed." in rows.item(1).text()
    assert page.requests.counts.text() == "4 requests answered, 1 refused"
    assert underhill.window.header.server.text() == "1 request"
    rows.setCurrentRow(1)
    assert not page.requests.stop.isEnabled()
    rows.setCurrentRow(0)
    newer = protocol.ServerRequest(
        id="server:4",
        client="127.0.0.1 Zed",
        way="/v1/messages",
        model="builtin",
        state="waiting",
        tokens=0,
        seconds=0.0,
    )
    engine.tell_server(requests=(running, newer))
    qtbot.waitUntil(lambda: rows.count() == 3)
    assert "Editor/7" in rows.currentItem().text()  # chosen still
    page.requests.stop.click()
    assert "server:3" in [command.target for command in engine.received if isinstance(command, protocol.Stop)]


def test_it_starts_with_underhill_only_where_that_was_chosen(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    first = launch()
    dialog = opened(qtbot, first)
    switch(qtbot, first, dialog)
    choose(dialog, "server_port", 12321)
    close(first)
    second = launch()
    assert starts(second) == []
    choose(opened(qtbot, second), "server_start", True)
    close(second)
    kept = json.loads((tmp_path / "window.json").read_text())["server"]
    assert kept == {"server_port": 12321, "server_start": True}
    third = launch()
    qtbot.waitUntil(lambda: third.window.header.server.isVisible())
    assert [c.port for c in starts(third)] == [12321]


def test_what_fails_unasked_is_a_banner_until_it_runs(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    preferences.save(Preferences(toured=True, server={"server_start": True}), lived_in(tmp_path).preferences)
    underhill = launch(fail={protocol.StartServer: IN_USE})
    qtbot.waitUntil(lambda: bool(underhill.window.banners.banners))
    (banner,) = underhill.window.banners.banners
    assert banner.sentence == "Another app uses port 11535."
    button(banner, "Open the settings").click()
    dialog = shown(qtbot, underhill)
    switch(qtbot, underhill, dialog)
    assert not underhill.window.banners.banners
    engine_of(underhill).tell_server(address="")  # it broke off
    qtbot.waitUntil(lambda: bool(underhill.window.banners.banners))
    assert not dialog.server.switch.isChecked()
    assert "stopped because of an error" in dialog.server.problem.text()


def test_it_comes_again_with_another_engine(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    dialog = opened(qtbot, underhill)
    switch(qtbot, underhill, dialog)
    engine_of(underhill).dead = True
    underhill.models.refresh()
    qtbot.waitUntil(lambda: not underhill.window.header.server.isVisible())
    assert dialog.server.switch.isChecked()  # wanted still
    underhill.window.engine_requested.emit()
    qtbot.waitUntil(lambda: underhill.window.header.server.isVisible())
    assert len(starts(underhill)) == 1  # of the other engine


def test_it_opens_models_with_settings_as_they_are_now(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    dialog, engine = opened(qtbot, underhill), engine_of(underhill)
    underhill.window.preferences.set("builtin", "dial", "exact")
    switch(qtbot, underhill, dialog)
    assert starts(underhill)[-1].models == {"builtin": {"dial": "exact"}}
    dialog.engine_changed.emit("memory_gb", 3.0, "")
    told = [c for c in engine.received if isinstance(c, protocol.UpdateServer)]
    assert [(c.settings, c.models) for c in told] == [({"memory_gb": 3.0}, {"builtin": {"dial": "exact"}})]
    choose(dialog, "server_port", 12000)
    dialog.reset_everything()
    qtbot.waitUntil(lambda: starts(underhill)[-1].port == 11535)
    assert next(e for e in dialog.server.editors if e.setting.name == "server_port").control.text() == "11535"  # type: ignore[attr-defined]


def test_it_is_found_by_a_search_and_by_the_keyboard(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    for words in ("openai", "api key", "port", "network connect"):
        dialog.search.setText(words)
        assert not dialog.page_list.isRowHidden(dialog.pages.index(dialog.server)), words
    dialog.search.clear()
    dialog.show_page(dialog.pages.index(dialog.server))
    dialog.server.switch.setFocus()
    qtbot.keyClick(dialog.server.switch, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: underhill.window.server.is_on)
    dialog.reject()
    underhill.link.server_changed.emit(protocol.ServerState("http://127.0.0.1:1"))  # nothing hears it that is gone
    assert "http://127.0.0.1:1:" in underhill.window.header.server.toolTip()
