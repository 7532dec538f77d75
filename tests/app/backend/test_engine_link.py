"""What the engine says comes in order, an answer's text in few pieces, however fast it is made."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import cast

from pytestqt.qtbot import QtBot

from app.backend import EngineLink
from app.platform.main_thread import MainThreadQueue
from engine import protocol
from tests.waiting import LONGEST


class Silent:
    """An engine that says what a test has it say."""

    def __init__(self, say: Callable[[protocol.Event], None]) -> None:
        self.say = say

    def send(self, command: protocol.Command) -> None:
        """Nothing is done."""

    def close(self) -> None:
        """Nothing is there."""


def test_text_of_two_answers_in_few_pieces_and_before_their_ends(qtbot: QtBot, main_queue: MainThreadQueue) -> None:
    link = EngineLink(main_queue, Silent)
    heard: dict[str, list[protocol.Event]] = {"a": [], "b": []}
    for name, events in heard.items():
        link.send(protocol.Generate(id=name, messages=(protocol.Message("user", "?"),)), events.append)
    say = link.engine.say  # type: ignore[attr-defined]

    def speak() -> None:
        for name in heard:
            for number in range(5000):
                say(protocol.TextDelta(name, f"{number} ", (number,)))
            say(protocol.Done(name))

    speaker = threading.Thread(target=speak)
    speaker.start()
    qtbot.waitUntil(lambda: all(events and isinstance(events[-1], protocol.Done) for events in heard.values()))
    speaker.join()
    for events in heard.values():
        *deltas, _ = events
        assert "".join(d.text for d in deltas) == "".join(f"{n} " for n in range(5000))  # type: ignore[attr-defined]
        assert [n for d in deltas for n in d.token_ids] == list(range(5000))  # type: ignore[attr-defined]
        assert len(deltas) < 1000
    link.close()


def test_text_for_nobody_is_dropped(qtbot: QtBot, main_queue: MainThreadQueue) -> None:
    link = EngineLink(main_queue, Silent)
    ends: list[protocol.Event] = []
    link.send(protocol.Generate(id="a", messages=(protocol.Message("user", "?"),)), ends.append)
    say = link.engine.say  # type: ignore[attr-defined]
    say(protocol.TextDelta("nobody", "x", (1,)))
    say(protocol.Done("a"))
    qtbot.waitUntil(lambda: len(ends) == 1)
    link.close()


class Later(Silent):
    """An engine that answers once a test asks it to, with what the command asked for; its end takes a while."""

    def __init__(self, say: Callable[[protocol.Event], None]) -> None:
        super().__init__(say)
        self.asked: list[protocol.Command] = []
        self.may_end = threading.Event()

    def send(self, command: protocol.Command) -> None:
        """Keep it."""
        self.asked.append(command)

    def answer(self) -> None:
        """Answer all, the last first."""
        while self.asked:
            command = self.asked.pop()
            assert isinstance(command, protocol.LoadModel)
            self.say(protocol.Done(command.id, command.model))

    def close(self) -> None:
        """As soon as it may."""
        self.may_end.wait(LONGEST)


def test_what_is_asked_for_while_the_engine_is_replaced_gets_its_own_answer(
    qtbot: QtBot, main_queue: MainThreadQueue
) -> None:
    link = EngineLink(main_queue, Later)
    first, told = cast(Later, link.engine), dict[str, str]()

    def ask(model: str) -> None:
        link.request(lambda result: told.update({model: result}), lambda _: None, protocol.LoadModel, model)

    for _ in range(3):
        link.new_id()
    link.restart()
    early = [f"early {number}" for number in range(4)]
    for model in early:
        ask(model)
    with qtbot.waitSignal(link.started):
        first.may_end.set()
    late = [f"late {number}" for number in range(12)]
    for model in late:
        ask(model)
    cast(Later, link.engine).answer()
    qtbot.waitUntil(lambda: len(told) == len(early + late))
    assert told == {model: model for model in early + late}
    cast(Later, link.engine).may_end.set()
    link.close()
