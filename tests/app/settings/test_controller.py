"""Opening the settings."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.settings.dialog import SettingsDialog
from app.settings.preset_cards import PresetCards
from engine import protocol
from tests.app.acts import Launch, ask
from tests.app.conftest import close, engine_of


def test_they_open_at_the_page_where_they_were_left(launch: Launch) -> None:
    settings = launch().window.settings
    dialog = settings.open()
    assert dialog.page == 0
    dialog.show_page(3)
    dialog.reject()
    again = settings.open()
    assert again.page == 3
    again.show_setting("dial")  # asked for by name
    assert again.page == 2
    again.reject()


def test_one_goes_on_chatting_beside_them(qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[SettingsDialog] = []
    monkeypatch.setattr(
        SettingsDialog, "raise_", lambda dialog: raised.append(dialog)
    )  # which the platform without windows warns of
    underhill = launch()
    settings = underhill.window.settings
    dialog = settings.open()
    assert not dialog.isModal()
    qtbot.mouseClick(underhill.window.header.settings, Qt.MouseButton.LeftButton)
    assert raised == [dialog]
    ask(qtbot, underhill, "Hello")
    assert settings.open() is dialog
    dialog.show_page(2)
    dial = dialog.editors["dial"].control
    assert isinstance(dial, PresetCards)
    dial.cards["fast"].click()
    received = engine_of(underhill).received
    qtbot.waitUntil(lambda: any(isinstance(c, protocol.UpdateSettings) for c in received))
    first = next(number for number, c in enumerate(received) if isinstance(c, protocol.UpdateSettings))
    # The library's estimates are made anew with what was chosen.
    qtbot.waitUntil(lambda: any(isinstance(c, protocol.ListModels) for c in received[first:]))
    assert next(c for c in received[first:] if isinstance(c, protocol.ListModels)).settings["dial"] == "fast"
    dialog.reject()
    assert settings.open() is not dialog


def test_they_are_where_they_were_put_and_go_with_the_window(launch: Launch) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    dialog.resize(700, 500)
    dialog.reject()
    again = underhill.window.settings.open()
    assert (again.width(), again.height()) == (700, 500)
    close(underhill)
    assert again.isHidden()
