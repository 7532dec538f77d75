"""The memory ceiling while a model is open: lowered in the middle of an answer, raised again, refused with figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.calibration.calibrator import open_calibrated
from engine.errors import Kind, UnderhillError
from engine.generation.messages import Message
from engine.generation.sampling import Sampling
from engine.hardware import probe
from engine.hardware.machine import GB
from engine.session import Session
from tests.engine.session.test_session import GREEDY, HELLO, Listener, ask


class Meanwhile(Listener):
    """Changes settings after some tokens, as the service does between two of them."""

    def __init__(self, session: Session, after: int, changes: dict[str, object]) -> None:
        super().__init__()
        self._session, self._after, self._changes = session, after, changes
        self.rss: tuple[int, int] | None = None

    def text(self, text: str, token_ids: Sequence[int]) -> None:
        super().text(text, token_ids)
        if self.tokens >= self._after and self.rss is None:
            before = probe.rss()
            self._session.update(self._changes)
            self.rss = before, probe.rss()


def opened(home: Path, **settings: object) -> Session:
    return open_calibrated("builtin", {"dial": "exact", "threads": 1, "context_length": 1024, **settings})


def test_a_ceiling_lowered_in_the_middle_of_an_answer_gives_memory_back_at_once_and_changes_no_word(home: Path) -> None:
    with opened(home) as session:
        long = (Message("user", "Tell me a long story about a hill and the people who live under it."),)
        expected = session.generate(long, GREEDY, (), Listener())
        session.context.clear()
        full = session.runtime.cache.nbytes
        session.update({})  # plans anew, from what the process takes by now
        lowest = session.plan.least / GB + 0.005
        listener = Meanwhile(session, 6, {"memory_gb": lowest})
        stats = session.generate(long, GREEDY, (), listener)
        assert stats.token_ids == expected.token_ids
        assert stats.misses > 0
        room = session.runtime.cache.capacity
        gone = full - room
        assert gone > 5_000_000
        assert listener.rss is not None
        assert listener.rss[0] - listener.rss[1] > 0.75 * gone  # the rest of the program takes a little meanwhile
        planned = session.plan.cache_bytes
        assert session.runtime.cache.nbytes <= room
        assert planned <= room <= planned + session.cache_budget.unused
        assert any(f"{lowest:.1f} GB" in s or f"{lowest * 1000:.0f} MB" in s for s in session.card.plan)
        session.update({"memory_gb": None})
        assert session.plan.cache_bytes >= full
        session.context.clear()
        assert ask(session, *long).token_ids == expected.token_ids
        assert session.runtime.cache.nbytes > 0.8 * full


def test_a_ceiling_that_cannot_hold_is_refused_with_the_least_that_would_do(home: Path) -> None:
    with opened(home) as session:
        first = ask(session)
        before = dict(session.settings), session.runtime.cache.capacity, session.card.plan
        with pytest.raises(UnderhillError, match="may be used") as refused:
            session.update({"memory_gb": 0.25})
        assert refused.value.kind is Kind.OUT_OF_MEMORY
        assert (dict(session.settings), session.runtime.cache.capacity, session.card.plan) == before
        session.context.clear()
        assert ask(session).token_ids == first.token_ids
        number, unit = re.findall(r"needs ([\d.]+) (MB|GB)", refused.value.sentence)[0]
        enough = float(number) * (1e-3 if unit == "MB" else 1)
        session.update({"memory_gb": enough + 0.1})
        assert ask(session).token_ids == first.token_ids


def test_what_is_planned_is_what_is_taken(home: Path) -> None:
    """A prompt and an answer under a ceiling: everything beside the program itself stays within what was planned."""
    with opened(home) as session:
        plan, before = session.plan, session._base
        session.generate(
            (Message("user", "Tell me more. " * 60), *HELLO), Sampling(temperature=0, max_tokens=32), (), Listener()
        )
        own = session.facts.dense_bytes[plan.dense] + plan.cache_bytes + session.context.nbytes
        assert probe.rss() - before < own + plan.workspace
