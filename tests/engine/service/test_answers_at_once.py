"""Several questions to one open model: answered at once, each as it is alone, and each ended by itself."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from engine.protocol import Cancelled, Done, Failed, Generate, Kind, LoadModel, Message, Stop, TextDelta, UnloadModel
from tests.engine.service.test_service import SETTINGS, Desk, desk, loaded

pytestmark = pytest.mark.long
__all__ = ["desk", "loaded"]

TEXTS = ("Hello! What can you do?", "Tell me a story about a cat.", "Write three short sentences.", "Why is it so?")


def question(desk: Desk, text: str, tokens: int = 40, **more: object) -> str:
    sampling = {"temperature": 0.0, "max_tokens": tokens, "repetition_penalty": 1.2}
    return desk.send(Generate, (Message("user", text),), sampling, chat=text, **more)


def answers(desk: Desk, asked: list[str]) -> list[tuple[int, ...]]:
    found = [desk.wait(one) for one in asked]
    assert all(isinstance(event, Done) for event in found), found
    return [event.result.token_ids for event in found if isinstance(event, Done)]


def turns(desk: Desk, asked: list[str]) -> int:
    """How often text of another answer than the one before came."""
    came = [event.id for event in desk.events if isinstance(event, TextDelta) and event.id in asked]
    return sum(one != other for one, other in itertools.pairwise(came))


@pytest.mark.parametrize("background", [False, True])
def test_four_questions_are_answered_at_once_and_as_alone(loaded: Desk, background: bool) -> None:
    wanted = [answers(loaded, [question(loaded, text, background=background)])[0] for text in TEXTS]
    loaded.result(UnloadModel)
    loaded.result(LoadModel, "builtin", SETTINGS)
    asked = [question(loaded, text, background=background) for text in TEXTS]
    assert answers(loaded, asked) == wanted
    assert turns(loaded, asked) > 40
    assert all(len([e for e in loaded.of(one) if isinstance(e, Done | Failed | Cancelled)]) == 1 for one in asked)


def test_a_second_chat_does_not_wait_for_the_first(loaded: Desk) -> None:
    long = question(loaded, TEXTS[1], 2_000)
    loaded.first(lambda event: isinstance(event, TextDelta) and event.id == long)
    short = question(loaded, TEXTS[0], 5)
    assert isinstance(loaded.wait(short), Done)
    assert not any(isinstance(event, Done) for event in loaded.of(long))
    loaded.send(Stop, long)
    ended = loaded.wait(long)
    assert isinstance(ended, Cancelled)
    assert ended.result.text


def test_one_is_stopped_and_the_others_go_on(loaded: Desk) -> None:
    asked = [question(loaded, text, 60) for text in TEXTS]
    for one in asked:
        loaded.first(lambda event, one=one: isinstance(event, TextDelta) and event.id == one)
    loaded.send(Stop, asked[1])
    ended = [loaded.wait(one) for one in asked]
    assert [type(event) for event in ended] == [Done, Cancelled, Done, Done]


def test_the_first_one_ends_before_those_that_joined_it(loaded: Desk) -> None:
    first = question(loaded, TEXTS[0], 8)
    second = question(loaded, TEXTS[1], 200)
    assert isinstance(loaded.wait(first), Done)
    assert not any(isinstance(event, Done) for event in loaded.of(second))
    third = question(loaded, TEXTS[2], 8)
    assert isinstance(loaded.wait(third), Done)
    assert isinstance(loaded.wait(second), Done)


def test_one_that_cannot_begin_fails_alone(loaded: Desk) -> None:
    good = question(loaded, TEXTS[1], 60)
    loaded.first(lambda event: isinstance(event, TextDelta) and event.id == good)
    bad = loaded.send(Generate, (), {})
    failed = loaded.wait(bad)
    assert isinstance(failed, Failed)
    assert failed.kind is Kind.BAD_REQUEST
    odd = question(loaded, TEXTS[0], model="no/such:name", background=True)
    assert isinstance(loaded.wait(good), Done)
    assert isinstance(loaded.wait(odd), Failed)


def test_more_than_there_are_places_for_wait_and_are_all_answered(loaded: Desk) -> None:
    asked = [question(loaded, f"{TEXTS[at % 4]} {at}", 12, background=True) for at in range(14)]
    person = question(loaded, TEXTS[0], 12)
    assert isinstance(loaded.wait(person), Done)
    assert all(map(bool, answers(loaded, asked)))


def test_what_needs_the_model_ends_programs_answers_and_waits_for_a_persons(loaded: Desk) -> None:
    program = question(loaded, TEXTS[1], 400, background=True)
    person = question(loaded, TEXTS[0], 30)
    loaded.first(lambda event: isinstance(event, TextDelta) and event.id == person)
    unload = loaded.send(UnloadModel)
    assert isinstance(loaded.wait(person), Done)
    ended = loaded.wait(program)
    assert isinstance(ended, Failed)
    assert ended.kind is Kind.BUSY
    assert isinstance(loaded.wait(unload), Done)


def test_settings_change_in_the_middle_of_all_of_them(loaded: Desk, home: Path) -> None:
    from engine.protocol import UpdateSettings

    asked = [question(loaded, text, 60) for text in TEXTS]
    loaded.first(lambda event: isinstance(event, TextDelta) and event.id == asked[3])
    assert loaded.result(UpdateSettings, {"cache_fraction": 0.5})["cache_fraction"] == 0.5
    assert all(map(bool, answers(loaded, asked)))
