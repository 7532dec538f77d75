"""Another answer that fails before its first word leaves the chat as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine import protocol
from tests.app.acts import Launch, ask, contents, on_disk
from tests.app.conftest import engine_of

pytestmark = pytest.mark.long

SHORT = protocol.Failed("", protocol.Kind.OUT_OF_MEMORY, "Too little memory.")


@pytest.mark.parametrize("at", [1, 3], ids=["the first answer", "the last answer"])
def test_what_followed_is_there_again_and_trying_again_is_about_the_same_question(
    qtbot: QtBot, launch: Launch, tmp_path: Path, at: int
) -> None:
    """The chat ended with the question: the answer there had been, and all that followed it, was nowhere to be seen."""
    underhill = launch(script=lambda messages: f"On {messages[-1].content}.")
    for text in ("one", "two"):
        ask(qtbot, underhill, text)
    before = contents(underhill)
    engine_of(underhill).fail[protocol.Generate] = SHORT
    underhill.window.transcript.message_actions.regenerate.emit(underhill.conversation.messages[at].id)
    qtbot.waitUntil(lambda: bool(underhill.window.banners.banners))
    qtbot.waitUntil(lambda: contents(underhill) == before)
    engine_of(underhill).script = lambda messages: f"Again on {messages[-1].content}."
    underhill.window.banners.banners[0].act()
    qtbot.waitUntil(lambda: contents(underhill) == [*before[:at], f"Again on {before[at - 1]}."])
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert underhill.conversation.messages[at].versions == 2
    assert [content for _, content, _ in on_disk(underhill, tmp_path)[0]] == [
        *before[:at],
        f"Again on {before[at - 1]}.",
    ]


def test_what_was_sent_meanwhile_is_seen_when_a_deleted_message_comes_back(
    qtbot: QtBot, launch: Launch, tmp_path: Path
) -> None:
    """It had no place on the page and no arrow led to it."""
    underhill = launch(script=lambda messages: f"On {messages[-1].content}.")
    for text in ("one", "two"):
        ask(qtbot, underhill, text)
    window = underhill.window
    window.transcript.message_actions.delete_message.emit(underhill.conversation.messages[1].id)
    qtbot.waitUntil(lambda: contents(underhill) == ["one", "two", "On two."])
    ask(qtbot, underhill, "three")
    assert window.toast.undo()
    everything = ["one", "On one.", "two", "On two.", "three", "On three."]
    qtbot.waitUntil(lambda: contents(underhill) == everything)
    assert [content for _, content, _ in on_disk(underhill, tmp_path)[0]] == everything
