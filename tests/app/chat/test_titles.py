"""Titles that the model writes: what of its words is one, when it is asked, and that it stays after a restart."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.application import Application
from app.chat import titles
from app.chat.titles import title_in
from engine import protocol, resources
from tests.app.acts import Launch, ask
from tests.app.conftest import engine_of
from tests.app.fake_cards import LARGE

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Sourdough at high altitude", "Sourdough at high altitude"),
        ("<think>The user wants\na title.</think>\n\n**“Baking bread.”**\nMore", "Baking bread"),
        ("Title: Ein Brot backen", "Ein Brot backen"),
        ("标题：烤面包", "烤面包"),
        ("<think>I never end", ""),
        ("x" * 61, ""),
        ("\n \n", ""),
    ],
)
def test_a_title_is_the_first_line_without_what_stands_around_it(said: str, title: str) -> None:
    assert title_in(said) == title


def said(messages: tuple[protocol.Message, ...]) -> str:
    return "Bread at home" if messages[-1].content.startswith("Write a short title") else "Flour, water, salt."


def asked_for_titles(underhill: Application) -> list[protocol.Generate]:
    sent = engine_of(underhill).received
    return [c for c in sent if isinstance(c, protocol.Generate) and c.chat.startswith("title ")]


def large(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> Application:
    monkeypatch.setattr(titles, "REST", 0)
    return launch(cards=(LARGE,), script=said)


def test_a_chat_is_titled_once_in_the_background_unless_it_was_named(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    underhill = large(launch, monkeypatch)
    conversation, settings = underhill.conversation, underhill.window.settings.open()
    ask(qtbot, underhill, "How do I bake bread?")
    qtbot.waitUntil(lambda: conversation.chat is not None and conversation.chat.title == "Bread at home")
    qtbot.waitUntil(lambda: underhill.window.windowTitle() == "Bread at home – Underhill")
    (command,) = asked_for_titles(underhill)
    assert command.background
    assert command.thinking is False
    assert "How do I bake bread?" in command.messages[0].content
    ask(qtbot, underhill, "And rye?")  # no second title
    settings.titles.switch.setChecked(False)
    underhill.window.navigator.new_chat()
    ask(qtbot, underhill, "Tell me about cakes.")
    settings.titles.switch.setChecked(True)
    underhill.window.navigator.new_chat()
    conversation.finished.connect(lambda _: conversation.rename(conversation.chat_id, "Mine"))
    ask(qtbot, underhill, "Tell me about soup.")
    qtbot.waitUntil(lambda: len(asked_for_titles(underhill)) == 2)
    done: list[int] = []
    underhill.models.link.request(lambda _: done.append(1), lambda _: None, protocol.ListModels)
    qtbot.waitUntil(lambda: bool(done))  # behind the title
    assert conversation.chat is not None
    assert conversation.chat.title == "Mine"
    settings.reject()


def test_a_message_does_not_wait_for_a_title(qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    underhill = large(launch, monkeypatch)
    engine = engine_of(underhill)
    ends, timer = engine.ends, underhill.window.titles.findChild(QTimer)
    timer.setInterval(10**8)
    ask(qtbot, underhill, "How do I bake bread?")
    ends.clear()  # the title does not end by itself
    timer.start(0)
    qtbot.waitUntil(lambda: bool(asked_for_titles(underhill)))
    first = asked_for_titles(underhill)[0]
    underhill.conversation.send("And rye?")
    qtbot.waitUntil(lambda: any(isinstance(c, protocol.Stop) and c.target == first.id for c in engine.received))
    ends.set()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert underhill.conversation.messages[-1].content == "Flour, water, salt."
    qtbot.waitUntil(lambda: underhill.conversation.chat.title == "Bread at home")  # type: ignore[union-attr]


@pytest.mark.slow
@pytest.mark.skipif(not resources.path("builtin", "model").is_dir(), reason="no built-in model here")
def test_a_title_of_the_real_engine_is_there_after_a_restart(
    qtbot: QtBot, launch_real: Callable[[], Application], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(titles, "REST", 0)
    monkeypatch.setattr(titles, "LEAST_PARAMETERS", 0)  # the built-in model sums up nothing, but says a line
    monkeypatch.setattr(titles, "title_in", lambda said: "".join(said.split())[:20])
    underhill = launch_real()
    qtbot.waitUntil(lambda: underhill.models.state == "ready")
    underhill.conversation.sampling = {"temperature": 0.0, "max_tokens": 8}
    underhill.conversation.send("Hello!")
    qtbot.waitUntil(lambda: underhill.conversation.chat is not None and not underhill.conversation.working)
    qtbot.waitUntil(lambda: underhill.conversation.chat.title != "Hello!")  # type: ignore[union-attr]
    title = underhill.conversation.chat.title  # type: ignore[union-attr]
    underhill.conversation.send("And now?")
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert underhill.conversation.messages[-1].stats["reused_tokens"] > 0  # the title took nothing from the chat
    underhill = launch_real()
    qtbot.waitUntil(lambda: underhill.conversation.chat is not None)
    assert underhill.conversation.chat.title == title  # type: ignore[union-attr]
