"""An open model on a system that runs Memory is low: it gives way, says so, and takes its place again."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from torch import Tensor

from engine.calibration.calibrator import open_calibrated
from engine.generation.messages import Message
from engine.hardware import pressure
from engine.hardware.pressure import CALM, Reading
from engine.native.memory import Arena
from engine.session import Session
from engine.session.cache_budget import CacheBudget, PressureWatch, Share
from tests.engine.session.test_session import ask
from tests.waiting import until

PLENTY, SHORT = Reading(10**11, 10**11), Reading(10**11, 10**6)


@pytest.fixture
def session(home: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setattr(pressure, "PERIOD", 10_000.0)  # the watching thread looks no more: the tests do
    return open_calibrated("builtin", {"dial": "exact", "threads": 1, "context_length": 512})


def test_it_gives_way_and_says_so_and_comes_back(session: Session) -> None:
    told: list[str] = []
    session.on_notice = told.append
    with session:
        first = ask(session)
        planned = session.plan.cache_bytes
        held = session.runtime.cache.nbytes
        assert held > session.plan.smallest_cache
        session.cache_budget.see(SHORT, 0.0)
        assert session.runtime.cache.nbytes <= session.runtime.cache.capacity == session.plan.smallest_cache
        assert len(told) == 1
        assert "Memory is low" in told[0]
        assert session.sentences == (*session.card.plan, told[0])
        session.cache_budget.see(SHORT, 1.0)
        assert len(told) == 1
        session.context.clear()
        slower = ask(session)
        assert slower.token_ids == first.token_ids
        assert slower.misses > 0
        for second in range(60):
            session.cache_budget.see(PLENTY, CALM + 2.0 + second)
        assert session.runtime.cache.capacity == planned
        assert "available again" in told[-1]
        assert len(told) == 2
        assert session.sentences == session.card.plan


def test_settings_that_are_changed_meanwhile_do_not_take_what_is_not_there(session: Session) -> None:
    with session:
        ask(session)
        session.cache_budget.see(SHORT, 0.0)
        low = session.runtime.cache.capacity
        session.update({"dial": "balanced"})
        assert session.runtime.cache.capacity == low < session.plan.cache_bytes


def test_an_image_takes_what_it_needs_from_the_experts_and_gives_it_back() -> None:
    lent: list[int] = []
    share = Share(planned=1000, smallest=100, lent=400, lent_to_image=600, chunk=512, token_bytes=1)
    room = CacheBudget(share, lambda: 1000, lambda capacity: None, lend=lent.append, said=lambda notice: None)
    for tokens, image in ((512, False), (64, True), (512, False), (1, False), (4, True), (1, False)):
        room.computing(tokens, image=image)
    assert lent == [600, 400, 1000, 400, 1000]  # the rest of the prompt is read in the same memory


def test_a_prompt_takes_what_it_needs_from_the_experts_and_gives_it_back() -> None:
    lent: list[int] = []
    applied: list[int] = []
    share = Share(planned=1000, smallest=100, lent=400, chunk=512, token_bytes=1)
    room = CacheBudget(share, lambda: 1000, applied.append, lend=lent.append, said=lambda notice: None)
    for tokens in (1, 512, 512, 300, 1, 1, 120, 300, 1):
        room.computing(tokens)
    assert lent == [600, 1000, 1000 - 8, 1000 - 188, 1000]
    room.computing(512)
    room.see(SHORT, 0.0)
    assert applied == [100]  # Memory is low and within a prompt: never below the smallest
    room.plan(dataclasses.replace(share, planned=900), applied.append)
    room.computing(1)
    assert (lent[-1], applied[-1]) == (600, 100)  # nothing to lend, nothing to give back
    for second in range(60):
        room.see(PLENTY, CALM + 2.0 + second)
    assert applied[-1] == 900


MB = 1_000_000
GROWING = Share(
    planned=1000 * MB,
    smallest=100 * MB,
    lent=50 * MB,
    chunk=512,
    ceiling=3000 * MB,
    most=5000 * MB,
    record=3 * MB,
    context=650 * MB,
)


def roomy(share: Share, held: int = 1000 * MB) -> tuple[CacheBudget, list[int], list[int], list[str]]:
    applied: list[int] = []
    lent: list[int] = []
    said: list[str] = []
    return CacheBudget(share, lambda: held, applied.append, lend=lent.append, said=said.append), applied, lent, said


def test_who_asks_for_a_part_of_the_experts_gets_no_more(home: Path) -> None:
    with open_calibrated("builtin", {"threads": 1, "cache_fraction": 0.25, "context_length": 4096}) as session:
        ask(session)
        assert session.runtime.cache.capacity == session.plan.cache_bytes
        assert session.cache_budget.unused == 0


def test_what_the_context_does_not_take_yet_experts_have() -> None:
    room, _, lent, said = roomy(GROWING)
    for tokens, rows in ((1, 0), (1, 325 * MB), (512, 325 * MB), (1, 400 * MB), (1, 650 * MB), (1, 900 * MB), (1, 0)):
        room.computing(tokens, lambda rows=rows: rows)  # type: ignore[misc]
    # one part in 65 for what experts take beside their bytes, and whole experts of 3 MB
    assert lent == [1639 * MB, 1318 * MB, 1268 * MB, 1246 * MB, 1000 * MB, 1639 * MB]
    assert room.unused == 650 * MB
    room.computing(1, lambda: None)
    assert (room.unused, lent[-1], said) == (0, 1000 * MB, [])


def test_there_is_never_more_than_all_experts() -> None:
    share = dataclasses.replace(GROWING, most=1200 * MB)
    room, _, lent, _ = roomy(share)
    room.computing(1, lambda: 0)
    assert lent == [1200 * MB]
    room, _, lent, _ = roomy(dataclasses.replace(GROWING, most=1000 * MB))
    room.computing(1, lambda: 0)
    assert (lent, room.unused) == ([], 0)


def test_a_new_plan_leaves_experts_what_the_context_does_not_take() -> None:
    room, _, _, _ = roomy(GROWING)
    room.computing(1, lambda: 325 * MB)
    told: list[int] = []
    room.plan(dataclasses.replace(GROWING, planned=800 * MB, context=390 * MB), told.append)
    assert told == [800 * MB + 63 * MB]

    def refuse(capacity: int) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        room.plan(GROWING, refuse)
    assert room.unused == 65 * MB


def test_it_grows_below_the_ceiling_and_gives_back_what_a_prompt_may_take() -> None:
    room, applied, lent, said = roomy(dataclasses.replace(GROWING, context=0))
    own = Reading(10**11, 10**11, own=2900 * MB)
    for second in range(10):
        room.see(own, float(second))
    assert applied == []  # nothing was computed yet
    room.computing(1)
    for second in range(10, 16):
        room.see(own, float(second))
    grown = applied[-1] - 1000 * MB
    assert len(applied) == 1
    assert 60 * MB <= grown <= 68 * MB
    room.computing(512)
    assert lent[-1] == 950 * MB
    for second in range(16, 40):
        room.see(own, float(second))
    assert len(applied) == 1
    room.computing(1)
    assert lent[-1] == 1000 * MB + grown
    room.see(dataclasses.replace(own, own=2990 * MB), 41.0)
    assert 1000 * MB <= applied[-1] < 1000 * MB + grown
    assert said == []


def test_memory_that_is_refused_is_not_asked_for_again_until_it_has_been_calm_for_a_while() -> None:
    applied: list[int] = []
    said: list[str] = []
    refusals = 0
    room = CacheBudget(
        GROWING, lambda: 700 * MB, applied.append, lend=lambda _: None, said=said.append, refusals=lambda: refusals
    )
    room.see(PLENTY, 0.0)
    assert (applied, said) == ([], [])
    refusals = 1
    room.see(PLENTY, 1.0)
    assert applied == [700 * MB]
    assert said == [room.sentence]
    assert "700 MB of experts in memory instead of 1.0 GB" in said[0]
    room.see(PLENTY, CALM)
    assert applied == [700 * MB]
    for second in range(60):
        room.see(PLENTY, 1.0 + CALM + second)
    assert applied[-1] == 1000 * MB
    assert "available again" in said[-1]


def test_an_answer_ends_as_it_would_where_the_system_gives_no_more_memory(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session:
        first = ask(session)
    take, left = Arena.take, 1 << 40

    def taken(arena: Arena, nbytes: int) -> Tensor:
        nonlocal left
        left -= nbytes
        if left < 0:
            raise MemoryError
        return take(arena, nbytes)

    monkeypatch.setattr(Arena, "take", taken)
    told: list[str] = []
    with open_calibrated("builtin", {"dial": "exact", "threads": 1, "context_length": 512}) as session:
        session.on_notice = told.append
        left = session.plan.smallest_cache + (session.plan.cache_bytes - session.plan.smallest_cache) // 2
        assert ask(session).token_ids == first.token_ids
        assert session.runtime.cache.capacity < session.plan.cache_bytes
        session.cache_budget.see(PLENTY, 0.0)
        assert len(told) == 1
        assert "Memory is low" in told[0]


def test_where_other_programs_took_what_was_free_it_does_not_grow() -> None:
    room, applied, _, _ = roomy(dataclasses.replace(GROWING, context=0))
    room.computing(1)
    for second in range(20):
        room.see(Reading(10**11, 2 * pressure.HIGH + 10 * MB, own=2000 * MB), float(second))
    assert applied == []


def test_what_had_grown_goes_without_a_word_and_what_was_planned_with_one() -> None:
    room, applied, _, said = roomy(GROWING, held=1639 * MB)
    room.computing(1, lambda: 0)
    room.see(Reading(10**11, pressure.LOW - 1), 0.0)
    assert applied[-1] == 1639 * MB - (pressure.HIGH - pressure.LOW + 1)
    assert (said, room.sentence) == ([], "")
    room.see(Reading(10**11, 0), 1.0)
    assert applied[-1] < 1000 * MB
    assert said == [room.sentence]


def test_prompts_and_answers_by_turns_are_the_same_words_where_memory_is_lent(session: Session) -> None:
    """The cache shrinks while a prompt is computed, and has its size again when the answer begins."""
    with session:
        long = Message("user", "Tell me a story of a fox. " * 12)
        expected = ask(session, long).token_ids
        held, chunk = session.runtime.cache.nbytes, session.plan.chunk
        share = Share(
            planned=held, smallest=session.plan.smallest_cache, lent=8_000_000 + chunk * 10, chunk=chunk, token_bytes=10
        )
        session.cache_budget.plan(share, session.runtime.set_capacity)
        seen: list[int] = []
        begin = session.runtime.begin_pass

        def begun(ids: Sequence[int], position: int) -> None:
            assert session.runtime.cache.nbytes <= session.runtime.cache.capacity
            seen.append(session.runtime.cache.capacity)
            begin(ids, position)

        session.runtime.begin_pass = begun  # type: ignore[method-assign]
        for _ in range(2):
            session.context.clear()
            assert ask(session, long).token_ids == expected
        assert min(seen) <= held - 8_000_000
        assert seen[-1] == held == session.runtime.cache.capacity
        assert session.runtime.cache.nbytes > held - 8_000_000


def watchers() -> set[threading.Thread]:
    """Threads that watch memory now, of the model that other tests have open, too."""
    return {thread for thread in threading.enumerate() if thread.name == "underhill-memory"}


def test_the_watch_looks_by_itself_and_ends_with_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    capacities: list[int] = []
    monkeypatch.setattr(pressure, "PERIOD", 0.01)
    monkeypatch.setattr(pressure, "read", lambda files=None: SHORT)
    room = CacheBudget(
        Share(planned=10**10, smallest=10**9),
        lambda: 10**10,
        capacities.append,
        lend=capacities.append,
        said=lambda notice: None,
    )
    others, watch = watchers(), PressureWatch(room)
    until(lambda: capacities)
    watch.close()
    assert capacities == [10**10 - (pressure.HIGH - 10**6)] or capacities[-1] == 10**9
    assert watchers() == others
    watch.close()


def test_a_look_that_fails_is_told_once_and_the_watch_goes_on(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """First the system says nothing, then it does and the cache cannot follow: then all is as it should be."""
    looks, capacities, said = 0, [], []

    def read(files: object = None) -> Reading:
        nonlocal looks
        looks += 1
        if looks <= 2:
            raise OSError("no such file")
        return SHORT

    def apply(capacity: int) -> None:
        if looks <= 4:
            raise RuntimeError("not now")
        capacities.append(capacity)

    monkeypatch.setattr(pressure, "PERIOD", 0.01)
    monkeypatch.setattr(pressure, "read", read)
    room = CacheBudget(Share(planned=10**10, smallest=10**9), lambda: 10**10, apply, lend=apply, said=said.append)
    others, watch = watchers(), PressureWatch(room)
    try:
        until(lambda: len(said) == 3)
        assert len(watchers() - others) == 1
    finally:
        watch.close()
    assert capacities[0] == 10**10 - (pressure.HIGH - 10**6)
    assert "Can't read free memory" in said[0]
    assert said[1] == ""  # it can again
    assert said[2] == room.sentence
    assert "Memory is low" in said[2]
    assert capfd.readouterr().err.count("Traceback") == 1
