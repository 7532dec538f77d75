"""A request of another program for a model other than the open one, where memory holds only one of them."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.library import library
from engine.protocol import (
    Done,
    Failed,
    Generate,
    Kind,
    LoadModel,
    Message,
    ModelChanged,
    TextDelta,
    UnloadModel,
    UpdateSettings,
)
from engine.server.serving_engine import ServingEngine
from engine.service import pool
from engine.service.model_memory import ModelMemory
from engine.session import Session
from tests.engine.service.test_service import GREEDY, HELLO, SETTINGS, Desk, go_on

pytestmark = pytest.mark.long
__all__ = ["go_on"]

CAT = (Message("user", "Tell me a story about a cat."),)


@pytest.fixture
def desk(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """With the built-in model open, and a copy of it as another one; either finds room only for itself."""
    made = Desk()
    card = made.result(LoadModel, "builtin", SETTINGS)
    shutil.copytree(card.path, library.location("other"), dirs_exist_ok=True)  # `home` is that of the module
    monkeypatch.setattr(ModelMemory, "free", lambda self, chosen: 0)
    monkeypatch.setattr(pool, "IDLE_SHARE", 0.0)
    yield made
    made.engine.close()


def session(desk: Desk) -> Session | None:
    """The open model."""
    assert isinstance(desk.engine, ServingEngine)
    return desk.engine.service.session


def behind(desk: Desk) -> str:
    """The id of a request for the other model."""
    return desk.send(Generate, CAT, GREEDY, chat="server", background=True, model="other", settings=SETTINGS)


def opened_again(desk: Desk) -> list[str]:
    return [event.card.name for event in desk.events if isinstance(event, ModelChanged) and event.card.loaded]


def test_the_model_of_the_chat_comes_back_as_it_was_with_the_next_question(desk: Desk) -> None:
    first = desk.result(Generate, HELLO, GREEDY)
    desk.result(UpdateSettings, {"cache_fraction": 0.5})
    desk.events.clear()
    assert isinstance(desk.wait(behind(desk)), Done)
    assert session(desk) is None
    assert opened_again(desk) == []  # not before it is asked for
    again = desk.result(Generate, HELLO, GREEDY)
    assert opened_again(desk) == ["builtin"]
    assert again.text == first.text
    assert (back := session(desk)) is not None
    assert (back.settings["cache_fraction"], back.settings["dial"]) == (0.5, "exact")
    desk.events.clear()
    desk.result(Generate, HELLO, GREEDY)
    assert opened_again(desk) == []  # it stays


def test_settings_that_change_meanwhile_hold_once_it_is_back(desk: Desk) -> None:
    assert isinstance(desk.wait(behind(desk)), Done)
    assert desk.result(UpdateSettings, {"cache_fraction": 0.25})["cache_fraction"] == 0.25
    refused = desk.wait(desk.send(UpdateSettings, {"cache_fraction": 7}))
    assert isinstance(refused, Failed)
    assert refused.kind is Kind.BAD_REQUEST
    desk.result(Generate, HELLO, GREEDY)
    assert (back := session(desk)) is not None
    assert back.settings["cache_fraction"] == 0.25


def test_a_question_of_the_chat_ends_the_answer_of_the_other_model(desk: Desk, go_on: threading.Event) -> None:
    """Its own model has to be opened for it, which cannot be done beside an answer."""
    running = behind(desk)
    desk.first(lambda event: isinstance(event, TextDelta) and event.id == running)
    asked = desk.send(Generate, HELLO, GREEDY)
    go_on.set()
    ended = desk.wait(running)
    assert isinstance(ended, Failed)
    assert ended.kind is Kind.BUSY
    assert isinstance(desk.wait(asked), Done)
    assert opened_again(desk) == ["builtin"]


def test_one_that_was_given_up_meanwhile_does_not_come_back(desk: Desk) -> None:
    assert isinstance(desk.wait(behind(desk)), Done)
    desk.result(UnloadModel)
    assert isinstance(desk.wait(desk.send(Generate, HELLO, GREEDY)), Failed)
    assert isinstance(desk.wait(behind(desk)), Done)  # requests still open what they name
