"""The parts of memory add up to what is taken, whatever is going on, and to the ceiling with what is left."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.calibration.calibrator import open_calibrated
from engine.generation.messages import Look, MemoryUse
from engine.hardware import probe
from engine.library.fit_estimates import divided
from tests.engine.session.sizes import chat
from tests.waiting import LONGEST

PARTS = ("program", "dense", "context", "buffers", "cached")


def add_up(use: MemoryUse) -> bool:
    taken = sum(getattr(use, part) for part in PARTS)
    whole = taken + use.room + use.aside + use.spare
    least = min(getattr(use, part) for part in (*PARTS, "room", "aside", "spare"))
    return taken == use.taken and whole == max(use.taken, use.ceiling) and least >= 0


@given(*[st.integers(0, 1000)] * 8)
def test_they_add_up_whatever_is_taken(
    taken: int, ceiling: int, base: int, dense: int, context: int, cached: int, room: int, due: int
) -> None:
    use = divided(
        taken, ceiling, base=base, dense=dense, context=context, cached=cached, capacity=cached + room, due=due
    )
    assert add_up(use)


def test_every_part_is_what_it_is_where_all_is_known() -> None:
    use = divided(900, 1000, base=300, dense=200, context=50, cached=150, capacity=180, due=260)
    assert (use.program, use.dense, use.context, use.cached, use.buffers) == (300, 200, 50, 150, 200)
    assert (use.room, use.aside, use.spare) == (30, 10, 60)


def a_prompt_and_an_answer() -> tuple[list[MemoryUse], int, int, int]:
    """What is taken layer by layer and in snapshots; then bytes written of the context, in the cache, and of before."""
    ceiling = probe.rss() / 1e9 + 0.4
    no_others = mock.patch.object(probe, "served", return_value=0)  # what reads for this one may grow at any moment
    with no_others, open_calibrated("builtin", {"threads": 1, "memory_gb": ceiling}) as session:
        seen: list[MemoryUse] = []

        def layer(*_: object) -> None:
            seen.append(session.memory_use(probe.rss()))
            told = session.snapshot(Look())
            if told is not None:
                assert told.memory is not None
                assert told.memory.taken == told.rss
                seen.append(told.memory)

        with session.listening(layer):
            chat(session, 300, 12)
        return seen, session.context.written, session.runtime.cache.nbytes, session.bytes_before


@pytest.mark.long
def test_at_every_moment_of_a_prompt_and_an_answer(home: Path) -> None:
    """Layer by layer, in snapshots as the panel gets them; what grows is the part that it belongs to.

    In a process of its own: of one that ran other tests, the system takes back what they needed, in the middle of it.
    """
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        seen, written, cached, before = process.submit(a_prompt_and_an_answer).result(LONGEST)
    assert len(seen) > 40
    assert all(add_up(use) for use in seen)
    first, last = seen[0], seen[-1]
    assert last.context > first.context
    assert 0.95 * written <= last.context <= written
    assert 0.99 * before <= last.program <= before
    assert last.cached == cached
