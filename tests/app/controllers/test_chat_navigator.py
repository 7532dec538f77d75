"""A button that is about another chat than the one on the page does nothing to that one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.application import Application
from engine import protocol
from tests.app.acts import Launch, ask, contents
from tests.app.conftest import engine_of
from tests.app.fake_engine import SENTENCE


@pytest.fixture
def failed(qtbot: QtBot, launch: Launch) -> Callable[[protocol.Kind], Application]:
    def make(kind: protocol.Kind) -> Application:
        """In one chat the answer failed; another is on the page."""
        underhill = launch()
        ask(qtbot, underhill, "fine")
        engine_of(underhill).fail[protocol.Generate] = protocol.Failed("", kind, "It failed.", "Do something.")
        underhill.window.navigator.new_chat()
        underhill.conversation.send("unlucky")
        qtbot.waitUntil(lambda: bool(underhill.window.banners.banners) and contents(underhill) == ["unlucky"])
        sidebar = underhill.window.sidebar
        qtbot.waitUntil(lambda: sidebar.model.rowCount() == 3)
        sidebar.opened.emit(sidebar.model.rows[2])
        qtbot.waitUntil(lambda: contents(underhill)[0] == "fine")
        return underhill

    return make


def press(underhill: Application, words: str) -> None:
    (banner,) = underhill.window.banners.banners
    next(button for button in banner.findChildren(QPushButton) if button.text() == words).click()


def test_an_answer_is_tried_again_where_it_failed(qtbot: QtBot, failed: Callable[[protocol.Kind], Application]) -> None:
    underhill = failed(protocol.Kind.INTERNAL)
    press(underhill, "Try again")
    qtbot.waitUntil(lambda: contents(underhill) == ["unlucky", SENTENCE * 3])
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    sidebar = underhill.window.sidebar
    qtbot.waitUntil(lambda: sidebar.model.rowCount() == 3)
    sidebar.opened.emit(sidebar.model.rows[2])
    qtbot.waitUntil(lambda: contents(underhill)[0] == "fine")
    assert underhill.conversation.messages[1].versions == 1


def test_a_message_is_shortened_where_it_was_too_long(
    qtbot: QtBot, failed: Callable[[protocol.Kind], Application]
) -> None:
    underhill = failed(protocol.Kind.CONTEXT_FULL)
    underhill.window.library.show()
    press(underhill, "Shorten message")
    qtbot.waitUntil(lambda: underhill.window.editing.editing)
    assert underhill.window.composer.text() == "unlucky"
    assert underhill.window.pages.currentWidget() is underhill.window.transcript


def test_a_chat_that_was_deleted_meanwhile_is_said(
    qtbot: QtBot, failed: Callable[[protocol.Kind], Application]
) -> None:
    underhill = failed(protocol.Kind.INTERNAL)
    window = underhill.window
    window.sidebar.deleted.emit((window.sidebar.model.rows[1],))
    qtbot.waitUntil(lambda: window.sidebar.model.rowCount() == 2)
    press(underhill, "Try again")
    qtbot.waitUntil(lambda: "This chat was deleted" in window.toast.accessibleName())
    assert contents(underhill)[0] == "fine"
