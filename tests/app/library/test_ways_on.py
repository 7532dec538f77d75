"""Where there is no model or no download, a button leads to one; offline, none can be begun."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from app.application import Application
from app.library.dialogs import ModelDetailsDialog
from engine import protocol
from engine.translatable import msg
from tests.app.acts import Launch, ask
from tests.app.fake_hub import QWEN

_NONE = protocol.Failed("", protocol.Kind.NOT_FOUND, msg("There is no model called {name}.", name="builtin"), "")


def without_models(launch: Launch) -> Application:
    return launch(ready=False, cards=(), fail={protocol.LoadModel: _NONE})


def test_a_chat_without_a_model_leads_to_the_models(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = without_models(launch).window
    welcome = window.welcome
    qtbot.waitUntil(welcome.select.isVisible)
    asked: list[object] = []
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *args: asked.append(args) or "")
    welcome.bring.click()
    assert asked
    welcome.select.click()
    assert window.pages.currentWidget() is window.library.page


def test_who_comes_back_is_not_welcomed_again(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    ask(qtbot, underhill, "Hello")
    welcome = underhill.window.welcome
    assert welcome.select.isHidden()
    underhill.models.card, underhill.models.state = None, "none"
    underhill.models.changed.emit()
    assert welcome.title.text() == "Select a model"
    assert not welcome.select.isHidden()
    underhill.models.state = "failed"
    underhill.models.changed.emit()
    assert welcome.title.text() == "Select a model"


def test_the_keyboard_stays_on_the_button_while_nothing_is_there(qtbot: QtBot, launch: Launch) -> None:
    underhill = without_models(launch)
    select = underhill.window.welcome.select
    qtbot.waitUntil(select.isVisible)
    select.setFocus()
    underhill.models.changed.emit()
    assert underhill.window.focusWidget() is select


def test_empty_lists_lead_to_discover(qtbot: QtBot, launch: Launch) -> None:
    underhill = without_models(launch)
    page = underhill.window.library.show()
    qtbot.waitUntil(lambda: underhill.models.known)
    for number, section in ((0, page.yours), (3, page.downloads)):
        page.show_section(number)
        qtbot.waitUntil(section.discover.isVisible)
        section.discover.click()
        assert page.pages.currentWidget() is page.discover
    underhill.library.pull(QWEN, 4)
    qtbot.waitUntil(lambda: bool(page.downloads.entries))
    assert page.downloads.discover.isHidden()


def test_nothing_is_downloaded_while_offline(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    page = underhill.window.library.show()
    page.show_section(1)
    qtbot.waitUntil(lambda: bool(page.discover.entries))

    def downloads() -> list[QPushButton]:
        return [entry.buttons["Download"] for entry in page.discover.entries if "Download" in entry.buttons]

    assert any(button.isEnabled() for button in downloads())
    network = underhill.window.network
    network.take({s.name: s.default for s in protocol.settings.SHARED} | {"offline": True})
    assert not any(button.isEnabled() for button in downloads())
    assert any("Offline mode is on." in button.toolTip() for button in downloads())
    assert all(button.objectName() != "primary" for button in downloads())
    underhill.library.describe(QWEN.repo)
    qtbot.waitUntil(lambda: bool(page.findChildren(ModelDetailsDialog)))
    dialog = page.findChild(ModelDetailsDialog)
    assert isinstance(dialog, ModelDetailsDialog)
    assert not any(entry.buttons["Download"].isEnabled() for entry in dialog.entries)
    dialog.reject()
