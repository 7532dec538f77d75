"""The order of requests between models: grouped, a person first, and nobody waits for ever."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator

import pytest

from engine.protocol import Command, Generate, LoadModel, Message
from engine.service.request_queue import PATIENCE, WINDOW, RequestQueue

HELLO = (Message("user", "Hello."),)


def program(ident: str, model: str) -> Generate:
    return Generate(id=ident, messages=HELLO, model=model, background=True)


def person(ident: str) -> Generate:
    return Generate(id=ident, messages=HELLO)


class Clock:
    """Seconds that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def queue(*models: str, cost: dict[str, float] | None = None, clock: Clock | None = None) -> RequestQueue:
    """With a request of a program for each of these models, called 0, 1, ..."""
    costs = cost or {}
    made = RequestQueue(lambda model, n: costs.get(model, 1.0), clock or Clock())
    for number, model in enumerate(models):
        made.put(program(str(number), model))
    return made


def drained(waiting: RequestQueue) -> Iterator[str]:
    while len(waiting):
        yield waiting.take().id


def test_requests_for_one_model_come_together() -> None:
    """coserve, figure 9."""
    assert list(drained(queue("a", "b", "a", "c", "b", "a"))) == ["0", "2", "5", "1", "4", "3"]


def test_one_that_comes_later_joins_the_run_of_its_model() -> None:
    waiting = queue("a", "b", "a")
    assert waiting.take().id == "0"
    waiting.put(program("late", "a"))
    assert list(drained(waiting)) == ["2", "late", "1"]


def test_the_next_run_is_what_adds_least_for_each_request() -> None:
    """A long queue pays for a slow loading; of equals the older goes first."""
    cost = {"open": 1.0, "closed": 5.0, "busy": 5.0}
    waiting = queue("closed", "open", *["busy"] * 6, cost=cost)
    assert list(drained(waiting)) == ["2", "3", "4", "5", "6", "7", "1", "0"]


def test_a_person_goes_before_programs_and_in_their_own_order() -> None:
    waiting = queue("a", "b")
    commands: list[Command] = [person("chat"), LoadModel("load", "m"), person("again")]
    for command in commands:
        waiting.put(command)
    assert waiting.urgent() is commands[0]
    assert list(drained(waiting)) == ["chat", "load", "again", "0", "1"]


def test_what_may_be_answered_together_with_the_running_one_is_of_its_run_or_the_oldest() -> None:
    waiting = queue("a", "b", "a")
    assert waiting.head() is next(iter(waiting))
    assert waiting.take().id == "0"
    head = waiting.head()
    assert head is not None
    assert head.id == "2"
    waiting.remove(head)
    assert [command.id for command in waiting] == ["1"]
    waiting.put(person("chat"))
    assert waiting.head() is waiting.urgent()


def test_one_that_waits_is_found_and_taken_away() -> None:
    waiting = queue("a", "b")
    waiting.put(person("chat"))
    assert [command.id for command in waiting] == ["chat", "0", "1"]
    for command in list(waiting)[:2]:
        waiting.remove(command)
    assert list(drained(waiting)) == ["1"]
    with pytest.raises(ValueError, match="not in list"):
        waiting.remove(person("never came"))
    with pytest.raises(IndexError):
        waiting.take()


def test_programs_do_not_wait_for_ever_behind_persons() -> None:
    waiting = queue("a")
    for number in range(WINDOW + 5):
        waiting.put(person(f"chat {number}"))
    order = list(drained(waiting))
    assert order.index("0") == WINDOW - 1


def test_the_oldest_that_has_waited_long_gets_the_next_run() -> None:
    clock = Clock()
    waiting = queue("slow", "fast", "fast", cost={"slow": 9.0}, clock=clock)
    assert waiting.take().id == "1"
    clock.now = PATIENCE
    waiting.put(program("came since", "fast"))
    assert waiting.take().id == "2"  # it had come when the run began
    assert waiting.take().id == "0"
    assert waiting.take().id == "came since"


def test_nobody_is_overtaken_beyond_the_bound_in_ten_thousand_schedules() -> None:
    """With small windows, so that the bound is met again and again; it is met exactly in some."""
    most: Counter[int] = Counter()
    for seed in range(10_000):
        dice = random.Random(seed)
        window = dice.choice((2, 4, 9))
        most[window] = max(most[window], _overtaken(dice, window))
    assert most == {2: 1, 4: 3, 9: 8}


def _overtaken(dice: random.Random, window: int) -> int:
    """How many that came later went before a request at the most, in one schedule of arrivals, costs and stops."""
    clock, costs = Clock(), {model: dice.random() for model in "abcd"}
    waiting = RequestQueue(lambda model, n: costs[model] * (1 + n * dice.random()), clock, window=window)
    came: list[str] = []
    overtaken: Counter[str] = Counter()
    left: set[str] = set()
    for _ in range(dice.randrange(10, 60)):
        clock.now += dice.choice((0.0, 0.1, PATIENCE / 3))
        for _ in range(dice.choice((0, 1, 1, 2, 5))):
            ident = str(len(came))
            came.append(ident)
            left.add(ident)
            waiting.put(person(ident) if dice.random() < 0.3 else program(ident, dice.choice("aabbbcd")))
        if left and dice.random() < 0.05:
            gone = next(iter(waiting))
            waiting.remove(gone)
            left.remove(gone.id)
        if not left:
            continue
        urgent = waiting.urgent()
        beside = urgent if dice.random() < 0.5 else waiting.head()
        if beside is not None and dice.random() < 0.3:  # between two tokens of another answer, or together with it
            waiting.remove(beside)
            served = beside.id
        else:
            served = waiting.take().id
        left.remove(served)
        overtaken.update(ident for ident in left if int(ident) < int(served))
    while len(waiting):
        served = waiting.take().id
        left.remove(served)
        overtaken.update(ident for ident in left if int(ident) < int(served))
    assert not left
    return max(overtaken.values(), default=0)


def test_long_overdue_requests_are_served_run_by_run_in_order_of_age() -> None:
    """In any schedule where all are overdue: a model with an older request goes first, and none is switched to and fro.

    Each run takes what had come when it began, so that no model is opened twice for requests of one moment.
    """
    for seed in range(200):
        dice = random.Random(seed)
        clock = Clock()
        models = dice.choices("abcdef", k=dice.randrange(1, 40))
        waiting = queue(*models, cost={model: dice.random() for model in "abcdef"}, clock=clock)
        clock.now = PATIENCE
        served = [models[int(ident)] for ident in drained(waiting)]
        assert list(dict.fromkeys(served)) == list(dict.fromkeys(models))
        assert sum(one != other for one, other in itertools.pairwise(served)) == len(set(models)) - 1
