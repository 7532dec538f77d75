"""What the engine says comes in order, an answer's text in few pieces, however fast it is made."""

from __future__ import annotations

import threading
from collections.abc import Callable

from pytestqt.qtbot import QtBot

from app.backend import EngineLink
from app.platform.main_thread import MainThreadQueue
from engine import protocol


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
