"""Endpoints in the window, with the real engine in its process and a server that does what the test says."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app import backend
from app.application import Application
from app.library.endpoint_editor import EndpointEditor
from app.storage.records import Attachment
from engine import protocol
from tests.endpointserver import Body, EndpointServer, Handler, end, text, thought
from tests.waiting import LONGEST

pytestmark = pytest.mark.slow


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EndpointServer]:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with EndpointServer() as running:
        yield running


def picture(underhill: Application, name: str) -> None:
    """Keep a screenshot where somebody wants to look."""
    if folder := os.environ.get("ENDPOINT_PICTURES"):
        underhill.window.grab().save(f"{folder}/{name}.png")


def add(qtbot: QtBot, underhill: Application, server: EndpointServer) -> None:
    """Add the server in the dialog, and have it answer."""
    qtbot.waitUntil(lambda: underhill.models.state == backend.READY, timeout=1000 * LONGEST)
    underhill.window.header.open_endpoints.trigger()
    page = underhill.window.library.page
    assert page is not None
    page.endpoints.add.click()
    dialog = page.endpoints.findChild(EndpointEditor)
    dialog.name.setText("Workstation")
    dialog.url.setText(server.url.replace("/v1", "/v1/chat/completions"))
    server.status = 503
    dialog.test.click()
    qtbot.waitUntil(lambda: "Server error" in dialog.state.text())
    server.status = 200
    dialog.test.click()
    qtbot.waitUntil(lambda: "Connected" in dialog.state.text())
    assert dialog.model.currentText() == "big"
    dialog.save()
    qtbot.waitUntil(lambda: [card.key for card in underhill.models.endpoints] == ["endpoint:workstation"])
    page.endpoints.use("endpoint:workstation")
    assert underhill.window.header.model.text() == "Workstation"
    assert underhill.window.header.state.text() == "Remote server"


def ask(qtbot: QtBot, underhill: Application, words: str, files: tuple[Attachment, ...] = ()) -> None:
    """Send a message and wait for the end of its answer."""
    with qtbot.waitSignal(underhill.conversation.finished):
        underhill.window.composer.sent.emit(words, files)


def test_a_chat_with_an_endpoint(launch_real: Callable[[], Application], qtbot: QtBot, server: EndpointServer) -> None:
    underhill = launch_real()
    add(qtbot, underhill, server)
    server.answer = lambda body, handler: [thought("Hm."), text("It is **sunny**."), *end()]
    ask(qtbot, underhill, "Look", (Attachment("sky.txt", "blue"),))
    host = server.url.split("/")[2]
    item = underhill.window.transcript.items[-1]
    message = underhill.conversation.messages[-1]
    assert item.notices_above()[-1] == f"Sent to {host}"
    assert message.content == "<think>\nHm.\n</think>\n\nIt is **sunny**."
    assert (message.model, message.stats["answer_tokens"], message.token_ids) == ("Workstation", 5, ())
    assert "blue" in server.asked[0]["messages"][-1]["content"]
    picture(underhill, "chat")

    def half(body: Body, handler: Handler) -> None:
        handler.begin()
        handler.send(text("Half"))

    server.answer = half  # the connection is cut: what was said stays, and it can be asked for again
    ask(qtbot, underhill, "More")
    assert (underhill.conversation.messages[-1].content, underhill.conversation.messages[-1].finish) == (
        "Half", "failed",
    )  # fmt: skip
    (banner,) = underhill.window.banners.banners
    server.answer = lambda body, handler: [text("Whole."), *end()]
    with qtbot.waitSignal(underhill.conversation.finished):
        next(button for button in banner.findChildren(QPushButton) if button.text() == "Try again").click()
    assert (underhill.conversation.messages[-1].content, underhill.conversation.messages[-1].versions) == ("Whole.", 2)
    assert [each["role"] for each in server.asked[-1]["messages"]] == ["user", "assistant", "user"]
    assert server.asked[-1]["messages"][1]["content"] == "It is **sunny**."

    def slow(body: Body, handler: Handler) -> None:
        handler.begin()
        handler.send(text("One"))
        server.held.wait()

    server.answer = slow
    underhill.window.composer.sent.emit("Slowly", ())
    qtbot.waitUntil(lambda: underhill.conversation.messages[-1].role == "assistant" and bool(server.asked[3:]))
    qtbot.waitUntil(lambda: bool(underhill.conversation.answers.running))
    running = next(iter(underhill.conversation.answers.running.values()))
    qtbot.waitUntil(lambda: bool(running.text))
    with qtbot.waitSignal(underhill.conversation.finished):
        underhill.conversation.stop()
    assert (underhill.conversation.messages[-1].content, underhill.conversation.messages[-1].finish) == (
        "One", "cancelled",
    )  # fmt: skip

    underhill = launch_real()  # as it was left
    qtbot.waitUntil(lambda: len(underhill.conversation.messages) == 6)
    qtbot.waitUntil(lambda: underhill.window.header.model.text() == "Workstation")
    assert host in underhill.window.transcript.items[-1].notices_above()[-1]
    server.answer = lambda body, handler: [text("Again."), *end()]
    ask(qtbot, underhill, "Still there?")
    assert underhill.conversation.messages[-1].content == "Again."
    kept: list[object] = []
    underhill.models.link.request(kept.append, kept.append, protocol.KeepSettings, {"offline": True})
    qtbot.waitUntil(lambda: bool(kept))
    with qtbot.waitSignal(underhill.conversation.failed) as failed:
        underhill.window.composer.sent.emit("Now?", ())
    assert "Offline mode is on" in failed.args[0].sentence
    assert len(server.asked) == 5
    underhill.window.model_controller.choose_model("builtin")  # and what is here answers again
    assert underhill.models.endpoint_card is None
