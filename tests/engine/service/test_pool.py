"""The pool: what is open stays open while there is room, and gives way in the order of last use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from engine.errors import Kind, UnderhillError
from engine.service.pool import Pool
from engine.translatable import translated


def quiet(phrase: str, done: int, total: int) -> None:
    pass


class Fake:
    """A session that takes `size` of a memory of 10; below its size it can still run, down to half of it."""

    memory = 10.0

    def __init__(self, model: str, chosen: Mapping[str, Any], report: Callable[..., None]) -> None:
        self.model = model
        wanted = float(model.split("-")[1])
        self.size = min(wanted, Fake.memory)
        if self.size < wanted / 2:
            raise UnderhillError(Kind.OUT_OF_MEMORY, translated("too big"))
        Fake.memory -= self.size
        self.all_in_memory = self.size == wanted
        self.closed = False

    def close(self) -> None:
        assert not self.closed
        self.closed = True
        Fake.memory += self.size


@pytest.fixture
def pool() -> Pool:
    Fake.memory = 10.0
    return Pool(Fake)


def test_two_that_fit_stay_open_and_are_found_again(pool: Pool) -> None:
    a = pool.acquire("a-4", {}, quiet)
    b = pool.acquire("b-5", {}, quiet)
    assert pool.acquire("a-4", {}, quiet) is a
    assert pool.acquire("b-5", {}, quiet) is b
    assert len(pool) == 2


def test_the_least_recently_used_gives_way(pool: Pool) -> None:
    a = pool.acquire("a-4", {}, quiet)
    b = pool.acquire("b-4", {}, quiet)
    pool.acquire("a-4", {}, quiet)
    c = pool.acquire("c-5", {}, quiet)
    assert (a.closed, b.closed) == (False, True)
    assert c.all_in_memory


def test_a_model_that_could_run_worse_gets_the_memory_of_idle_ones(pool: Pool) -> None:
    a = pool.acquire("a-4", {}, quiet)
    b = pool.acquire("b-9", {}, quiet)
    assert a.closed
    assert b.all_in_memory


def test_a_model_bigger_than_memory_runs_when_it_is_alone(pool: Pool) -> None:
    pool.acquire("a-4", {}, quiet)
    big = pool.acquire("big-15", {}, quiet)
    assert not big.all_in_memory
    assert len(pool) == 1


def test_one_too_big_altogether_is_refused(pool: Pool) -> None:
    with pytest.raises(UnderhillError, match="too big"):
        pool.acquire("huge-50", {}, quiet)
    assert Fake.memory == 10.0


def test_the_same_model_under_other_settings_replaces_itself(pool: Pool) -> None:
    a = pool.acquire("a-4", {"threads": 1}, quiet)
    again = pool.acquire("a-4", {"threads": 2}, quiet)
    assert a.closed
    assert not again.closed
    assert len(pool) == 1


def test_other_failures_come_through_and_close_nothing(pool: Pool) -> None:
    a = pool.acquire("a-4", {}, quiet)
    with pytest.raises(IndexError):
        pool.acquire("broken", {}, quiet)
    assert not a.closed


def test_closing_gives_everything_back(pool: Pool) -> None:
    pool.acquire("a-4", {}, quiet)
    pool.acquire("b-5", {}, quiet)
    pool.release(lambda session: session.model == "a-4")
    assert Fake.memory == 5.0
    pool.close()
    assert Fake.memory == 10.0
