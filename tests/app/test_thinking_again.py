"""A chat with a model that thinks, in a window that was closed and opened again: what was thought stays thought.

The window shows and keeps it as such, and sends it back to the engine, where the family's own template takes of it what
it takes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.application import Application
from engine import protocol
from engine.generation.chat import Prompt
from engine.generation.turns import parted
from tests.app.acts import Launch, ask, contents
from tests.app.conftest import close, engine_of
from tests.engine.generation.makers import BY_NAME
from tests.engine.generation.mouths import heard, model, reply

pytestmark = pytest.mark.long

ASKED = ("Which colour is the sky?", "And the sea?", "And grass?")
THOUGHTS = ("Skies are blue.", "Seas are blue as well.", "Grass is green.")
ANSWERS = ("It is blue.", "The sea is blue, too.", "Green.")
FAMILIES = ("Qwen3-30B-A3B", "MiniMax-M3", "gpt-oss-120b", "Mistral-Small-4", "Kimi-K3")


@pytest.fixture(scope="module", autouse=True)
def templates(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The process that renders templates is there before a window is, and stays."""
    chat = model(tmp_path_factory.mktemp("first") / "m", BY_NAME[FAMILIES[0]].template)
    chat.prompt([protocol.Message("user", "Hello.")])


def sent(underhill: Application) -> tuple[protocol.Message, ...]:
    """What the engine was last given to answer."""
    asked = [c for c in engine_of(underhill).received if isinstance(c, protocol.Generate)]
    return asked[-1].messages


def folded(underhill: Application) -> list[tuple[str, list[str]]]:
    """Of each answer on the page: the line over its thought, and what can be read while that is folded."""
    answers = [i for i in underhill.window.transcript.items if i.message.role == "assistant"]
    return [(i.thought_line(), [v.block.text for v in i.blocks() if not v.is_fold]) for i in answers]


@pytest.mark.parametrize("name", FAMILIES)
def test_thoughts_stay_thoughts(name: str, qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    maker = BY_NAME[name]
    chat = model(tmp_path / "model", maker.template)
    level = maker.levels[-1] if maker.levels else None

    def prompted(messages: tuple[protocol.Message, ...]) -> Prompt:
        """The tokens that came with an answer are the scripted engine's, and of no vocabulary."""
        return chat.prompt([replace(m, token_ids=()) for m in messages], thinking=level)

    def answer(messages: tuple[protocol.Message, ...]) -> str:
        """As such a model says it, and the engine reads it."""
        prompt = prompted(messages)
        at = sum(m.role == "user" for m in messages) - 1
        return heard(chat, reply(chat, prompt.state, THOUGHTS[at], ANSWERS[at]), prompt.state)[0]

    first = launch(script=answer, thinking_seconds=2.0)
    ask(qtbot, first, ASKED[0])
    before = folded(first)
    close(first)

    again = launch(script=answer, thinking_seconds=2.0)
    qtbot.waitUntil(lambda: folded(again) == before)  # the chat that was open last
    assert before == [("Thought for 2 s", [ANSWERS[0]])]
    for at, question in enumerate(ASKED[1:], 2):
        again.conversation.send(question)
        qtbot.waitUntil(lambda at=at: sum("</think>" in text for text in contents(again)) == at)  # type: ignore[misc]
    said = [text for text in contents(again) if "<think>" in text]
    assert [(parted(text).thought, parted(text).answer) for text in said] == list(zip(THOUGHTS, ANSWERS, strict=True))
    history = sent(again)
    assert [m.content for m in history if m.role == "assistant"] == said[:2]
    prompt = chat.tokenizer.decode(list(prompted(history).ids), skip_special_tokens=False)
    assert [prompt.count(text) for text in ANSWERS[:2]] == [1, 1]
    assert [thought in prompt for thought in THOUGHTS[:2]] == [maker.keeps] * 2
