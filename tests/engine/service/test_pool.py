"""The pool: models share one budget, and make way in parts and in two stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from engine.errors import Kind, UnderhillError
from engine.service.model_records import ModelRecords
from engine.service.pool import IDLE_SHARE, MemoryParts, Pool
from engine.translatable import translated

DENSE, LEAST = 20, 2  # bytes of every model here
TOTAL = 300


def quiet(phrase: str, done: int, total: int) -> None:
    pass


class Computer:
    """A memory of TOTAL bytes, and models called NAME-EXPERTS in it."""

    def __init__(self) -> None:
        self.open: list[Fake] = []
        self.known = True  # whether it can be told before what a model takes

    def free(self, chosen: Mapping[str, Any]) -> int:
        return TOTAL - sum(one.parts.total for one in self.open)

    def demand(self, model: str, chosen: Mapping[str, Any]) -> int | None:
        return DENSE + int(model.split("-")[1]) if self.known else None

    def make(self, model: str, chosen: Mapping[str, Any], report: Callable[..., None]) -> Fake:
        return Fake(self, model)


class Fake:
    """An open model that has read all the experts that there was room for."""

    def __init__(self, computer: Computer, model: str) -> None:
        self.computer, self.key, self.leases, self.closed = computer, model, 0, False
        self.whole, self.context, self.experts = int(model.split("-")[1]), 0, 0
        room = computer.free({}) - DENSE
        if room < LEAST:
            raise UnderhillError(Kind.OUT_OF_MEMORY, translated("too big"))
        self.experts = min(self.whole, room)
        computer.open.append(self)

    @property
    def parts(self) -> MemoryParts:
        return MemoryParts(DENSE, self.context, self.experts, LEAST, self.whole)

    def keep_experts(self, nbytes: int) -> None:
        assert not self.leases
        assert LEAST <= nbytes <= self.experts
        self.experts = nbytes

    def drop_context(self) -> None:
        assert not self.leases
        self.context = 0

    def restore(self) -> None:
        self.experts = min(self.whole, self.experts + self.computer.free({}))

    def close(self) -> None:
        assert not self.closed
        assert not self.leases
        self.closed = True
        self.computer.open.remove(self)


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelRecords:
    """Of models whose key is their name."""
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path))
    monkeypatch.setattr(ModelRecords, "key", lambda self, model: str(model))
    return ModelRecords()


@pytest.fixture
def computer() -> Computer:
    return Computer()


@pytest.fixture
def pool(computer: Computer, records: ModelRecords) -> Iterator[Pool]:
    yield Pool(computer.make, computer, records)
    assert computer.free({}) >= 0


def get(pool: Pool, model: str, chosen: Mapping[str, Any] | None = None) -> Fake:
    found: Fake = pool.acquire(model, chosen or {}, quiet)
    return found


def used(records: ModelRecords, **counts: int) -> None:
    """So often each of these was asked for; underscores stand for hyphens."""
    for model, count in counts.items():
        for _ in range(count):
            records.note_use(model.replace("_", "-"))


def test_those_that_fit_stay_open_whole_and_are_found_again(pool: Pool) -> None:
    a, b = get(pool, "a-100"), get(pool, "b-120")
    assert get(pool, "a-100") is a
    assert get(pool, "b-120") is b
    assert (a.experts, b.experts, pool.opened) == (100, 120, 2)


def test_what_is_missing_comes_from_the_experts_of_the_least_probable(pool: Pool, records: ModelRecords) -> None:
    used(records, a_100=9, b_100=3, c_90=1)
    a, b = get(pool, "a-100"), get(pool, "b-100")
    c = get(pool, "c-90")
    assert not a.closed
    assert not b.closed  # parts before whole models
    assert (a.experts, c.experts) == (100, 90)
    assert b.experts == TOTAL - 120 - 110 - DENSE


def test_a_model_that_is_back_gets_its_memory_again(pool: Pool, records: ModelRecords) -> None:
    used(records, a_200=1, b_200=1)
    a = get(pool, "a-200")
    b = get(pool, "b-200")
    assert b.experts == 200
    assert a.experts == TOTAL - 220 - DENSE
    assert get(pool, "a-200") is a
    assert a.experts == 200
    assert b.experts == TOTAL - 220 - DENSE
    assert pool.opened == 2


def test_an_idle_model_keeps_as_much_as_it_is_probable(pool: Pool, records: ModelRecords) -> None:
    """Half of the budget times its probability, its other weights included, even where the other has too little."""
    used(records, a_280=3, big_400=1)
    a = get(pool, "a-280")
    big = get(pool, "big-400")
    assert a.experts == int(TOTAL * IDLE_SHARE * records.usage.probability("a-280")) - DENSE == 92
    assert big.experts == TOTAL - DENSE - DENSE - a.experts


def test_one_that_is_hardly_ever_used_does_not_stay_for_its_weights(pool: Pool, records: ModelRecords) -> None:
    used(records, a_280=1, big_400=50)
    a = get(pool, "a-280")
    big = get(pool, "big-400")
    assert a.closed
    assert big.experts == TOTAL - DENSE


def test_contexts_go_after_experts_and_before_weights(pool: Pool, records: ModelRecords) -> None:
    a = get(pool, "a-100")
    a.context = 50
    get(pool, "b-250")
    assert (a.experts, a.context, a.closed) == (LEAST, 0, False)


def test_first_go_those_whose_preliminary_model_is_not_open(pool: Pool, records: ModelRecords) -> None:
    """Two stages: however probable they are."""
    for _ in range(9):
        records.note_use("first-50")
        records.note_use("then-80", "first-50")
    used(records, rare_80=1)
    rare, then = get(pool, "rare-80"), get(pool, "then-80")
    get(pool, "new-100")
    assert (rare.experts, then.experts) == (80, 60)
    pool.close()
    get(pool, "first-50")
    rare, then = get(pool, "rare-80"), get(pool, "then-80")
    get(pool, "new-60")
    assert then.experts == 80
    assert rare.experts < 80


def test_of_those_the_largest_goes_first(pool: Pool, records: ModelRecords) -> None:
    for then in ("small-30", "large-90"):
        records.note_use("first-50")
        records.note_use(then, "first-50")
    small, large = get(pool, "small-30"), get(pool, "large-90")
    get(pool, "new-200")
    assert (small.experts, large.experts, large.closed) == (30, 10, False)


def test_what_answers_is_left_alone(pool: Pool) -> None:
    a, b = get(pool, "a-100"), get(pool, "b-100")
    a.leases = 1
    c = get(pool, "c-150")
    assert (a.experts, a.closed) == (100, False)
    assert b.experts < 100
    assert c.experts == 150
    b.leases = c.leases = 1
    with pytest.raises(UnderhillError, match="too big"):
        get(pool, "d-100")
    a.leases = b.leases = c.leases = 0


def test_a_model_bigger_than_memory_runs_when_it_is_alone(pool: Pool) -> None:
    a = get(pool, "a-40")
    big = get(pool, "big-1500")
    assert a.closed
    assert big.experts == TOTAL - DENSE


def test_where_it_cannot_be_told_before_idle_ones_make_way_once_it_is_open(pool: Pool, computer: Computer) -> None:
    computer.known = False
    get(pool, "a-100")
    assert get(pool, "b-270").experts == 270


def test_a_model_that_does_not_open_otherwise_takes_even_what_others_would_keep(
    pool: Pool, records: ModelRecords, computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(computer, "demand", lambda model, chosen: 0)
    used(records, a_280=1)
    a = get(pool, "a-280")
    b = get(pool, "b-280")
    assert not a.closed
    assert (a.experts, b.experts) == (LEAST, TOTAL - 2 * DENSE - LEAST)


def test_other_failures_come_through_and_close_nothing(pool: Pool, computer: Computer) -> None:
    a = get(pool, "a-40")
    computer.known = False
    with pytest.raises(IndexError):
        get(pool, "broken")
    assert not a.closed


def test_the_same_model_under_other_settings_replaces_itself(pool: Pool) -> None:
    a = get(pool, "a-40", {"threads": 1})
    again = get(pool, "a-40", {"threads": 2})
    assert a.closed
    assert not again.closed
    assert len(pool) == 1


def test_closing_gives_everything_back(pool: Pool, computer: Computer) -> None:
    get(pool, "a-40")
    get(pool, "b-50")
    pool.release(lambda one: one.key == "a-40")
    assert computer.free({}) == TOTAL - 70
    pool.close()
    assert computer.free({}) == TOTAL
