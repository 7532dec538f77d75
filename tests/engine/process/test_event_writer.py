"""The engine's side speaks seldom, but without delay where somebody waits for the end of something."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from engine import protocol
from engine.process import codec
from engine.process.host import EventWriter, merge_text_deltas
from tests.waiting import LONGEST

Said = queue.Queue[tuple[protocol.Event, ...]]


@pytest.fixture
def said() -> Said:
    """Frames, as they come out of the pipe."""
    return queue.Queue()


@pytest.fixture
def writer(said: Said) -> Iterator[EventWriter]:
    """One whose pauses would outlast any test."""
    out, into = (os.fdopen(end, mode) for end, mode in zip(os.pipe(), ("rb", "wb")))

    def hear() -> None:
        try:
            while True:
                said.put(codec.read_message(out))
        except EOFError:
            out.close()

    listener = threading.Thread(target=hear)
    listener.start()
    made = EventWriter(into)
    made.pause = 600.0
    yield made
    made.close()
    into.close()
    listener.join()


def delta(number: int, answer: str = "a") -> protocol.TextDelta:
    """A token of an answer."""
    return protocol.TextDelta(answer, f"{number} ", (number,))


def test_the_first_word_leaves_at_once_and_the_end_with_all_before_it(writer: EventWriter, said: Said) -> None:
    writer.send(protocol.PromptRead("a", 5, 5, 0))
    assert said.get(timeout=LONGEST) == (protocol.PromptRead("a", 5, 5, 0),)
    writer.send(delta(0))
    assert said.get(timeout=LONGEST) == (delta(0),)
    for number in range(1, 100):
        writer.send(delta(number))
    assert said.empty()
    writer.send(protocol.Done("a", 7))
    text = "".join(f"{number} " for number in range(1, 100))
    assert said.get(timeout=LONGEST) == (protocol.TextDelta("a", text, tuple(range(1, 100))), protocol.Done("a", 7))
    for _ in range(3):  # nor is it in a hurry from then on
        for number in range(50):
            writer.send(delta(number))
            time.sleep(0.001)
        writer.send(protocol.Done("a"))
        *_, last = one = said.get(timeout=LONGEST)
        assert len(one) == 2
        assert last == protocol.Done("a")


def test_what_is_said_by_many_arrives_once_each(writer: EventWriter, said: Said) -> None:
    def speak(answer: str) -> None:
        for number in range(500):
            writer.send(delta(number, answer))
            if number % 50 == 49:
                writer.send(protocol.Done(f"{answer}{number}"))

    speakers = [threading.Thread(target=speak, args=(answer,)) for answer in "abc"]
    for speaker in speakers:
        speaker.start()
    got: list[Any] = []
    while sum(isinstance(event, protocol.Done) for event in got) < 30:
        got += said.get(timeout=LONGEST)
    for speaker in speakers:
        speaker.join()
    for answer in "abc":
        pieces = [event for event in got if isinstance(event, protocol.TextDelta) and event.id == answer]
        assert [token for piece in pieces for token in piece.token_ids] == list(range(500))


def test_only_neighbouring_pieces_of_one_answer_become_one() -> None:
    told = protocol.PlanChanged("", ("a plan",))
    assert merge_text_deltas([delta(1), delta(2), told, delta(3), delta(4, "b"), delta(5, "b")]) == (
        protocol.TextDelta("a", "1 2 ", (1, 2)), told, delta(3), protocol.TextDelta("b", "4 5 ", (4, 5)),
    )  # fmt: skip
