"""An open model on a system that runs short of memory: it gives way, says so, and takes its place again."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.generation.messages import Message
from engine.hardware import pressure
from engine.hardware.pressure import CALM, Reading
from engine.session import Session
from engine.session.pressure import PressureWatch, Room, Share
from tests.engine.session.test_session import ask

PLENTY, SHORT = Reading(10**11, 10**11), Reading(10**11, 10**6)


@pytest.fixture
def session(home: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setattr(pressure, "PERIOD", 10_000.0)  # the watching thread looks no more: the tests do
    return Session.open("builtin", {"dial": "exact", "threads": 1, "context_length": 512})


def test_it_gives_way_and_says_so_and_comes_back(session: Session) -> None:
    told: list[str] = []
    session.told = told.append
    with session:
        first = ask(session)
        planned = session.plan.cache_bytes
        held = session.runtime.cache.nbytes
        assert held > session.plan.smallest_cache
        session._room.see(SHORT, 0.0)
        assert session.runtime.cache.nbytes <= session.runtime.cache.capacity == session.plan.smallest_cache
        assert len(told) == 1
        assert "short of memory" in told[0]
        assert session.sentences == (*session.card.plan, told[0])
        session._room.see(SHORT, 1.0)
        assert len(told) == 1
        session.context.clear()
        slower = ask(session)
        assert slower.token_ids == first.token_ids
        assert slower.misses > 0
        for second in range(60):
            session._room.see(PLENTY, CALM + 2.0 + second)
        assert session.runtime.cache.capacity == planned
        assert "memory again" in told[-1]
        assert len(told) == 2
        assert session.sentences == session.card.plan


def test_settings_that_are_changed_meanwhile_do_not_take_what_is_not_there(session: Session) -> None:
    with session:
        ask(session)
        session._room.see(SHORT, 0.0)
        low = session.runtime.cache.capacity
        session.update({"dial": "balanced"})
        assert session.runtime.cache.capacity == low < session.plan.cache_bytes


def test_a_prompt_takes_what_it_needs_from_the_experts_and_gives_it_back() -> None:
    lent: list[int] = []
    applied: list[int] = []
    share = Share(planned=1000, smallest=100, lent=400, chunk=512, token_bytes=1)
    room = Room(share, lambda: 1000, applied.append, lent.append, lambda notice: None)
    for tokens in (1, 512, 512, 300, 1, 1, 120, 300, 1):
        room.computing(tokens)
    assert lent == [600, 1000, 1000 - 8, 1000 - 188, 1000]
    room.computing(512)
    room.see(SHORT, 0.0)
    assert applied == [100]  # short of memory and within a prompt: never below the smallest
    room.plan(dataclasses.replace(share, planned=900), applied.append)
    room.computing(1)
    assert lent[-1] == applied[-1] == 100
    for second in range(60):
        room.see(PLENTY, CALM + 2.0 + second)
    assert applied[-1] == 900


def test_prompts_and_answers_by_turns_are_the_same_words_where_memory_is_lent(session: Session) -> None:
    """The cache shrinks while a prompt is computed, and has its size again when the answer begins."""
    with session:
        long = Message("user", "Tell me a story of a fox. " * 12)
        expected = ask(session, long).token_ids
        held, chunk = session.runtime.cache.nbytes, session.plan.chunk
        share = Share(held, session.plan.smallest_cache, 8_000_000 + chunk * 10, chunk, 10)
        session._room.plan(share, session.runtime.set_capacity)
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


def test_the_watch_looks_by_itself_and_ends_with_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    capacities: list[int] = []
    monkeypatch.setattr(pressure, "PERIOD", 0.01)
    monkeypatch.setattr(pressure, "read", lambda files=None: SHORT)
    room = Room(Share(10**10, 10**9), lambda: 10**10, capacities.append, capacities.append, lambda notice: None)
    watch = PressureWatch(room)
    for _ in range(500):
        if capacities:
            break
        watch._closed.wait(0.01)
    watch.close()
    assert capacities == [10**10 - (pressure.HIGH - 10**6)] or capacities[-1] == 10**9
    assert not watch._thread.is_alive()
    watch.close()
