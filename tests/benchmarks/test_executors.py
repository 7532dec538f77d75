"""What the comparison of one executor with two asks of them, and what it makes of the answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.benchmarks import executors
from tests.benchmarks.executors import rate


class Answers:
    """Stands for an engine: four tokens for each prompt. together: how many were asked at the same time at most."""

    under_way, together = 0, 0
    turn = threading.Lock()
    met = threading.Barrier(2)

    def __init__(self, alone: bool) -> None:
        self._alone = alone

    def answers(self, prompts: list[list[int]], length: int, at_once: bool) -> dict[str, Any]:
        assert at_once
        with Answers.turn:
            Answers.under_way += 1
            Answers.together = max(Answers.together, Answers.under_way)
        if not self._alone:
            Answers.met.wait(10)
        with Answers.turn:
            Answers.under_way -= 1
        return {"tokens": [[0] * length for _ in prompts]}


@pytest.mark.parametrize("together", [False, True])
def test_both_are_asked_one_behind_the_other_or_at_the_same_time(together: bool) -> None:
    Answers.together = 0
    both: Any = (Answers(not together), Answers(not together))
    assert rate(both, ([[1]] * 3, [[2]] * 3), 4, together) > 0
    assert Answers.together == 1 + together


def test_only_the_ways_that_are_asked_for_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []

    @contextmanager
    def made(model: object, chosen: dict[str, Any], vocabulary: int) -> Iterator[tuple[str, str]]:
        opened.append(chosen["threads"])
        yield "a", "b"

    rates = iter([1.0, 30.0, 40.0, 20.0, 50.0])
    monkeypatch.setattr(executors, "executors", made)
    monkeypatch.setattr(executors, "rate", lambda *_: next(rates))
    monkeypatch.setattr(executors.Quiet, "wait", lambda self: None)
    monkeypatch.setattr(
        "sys.argv", ["executors", "--threads", "4", "--repeats", "2", "--ways", "one,two_whole", "--json"]
    )
    printed: list[dict[str, Any]] = []
    monkeypatch.setattr(executors, "emit", lambda found, json: printed.append(found))
    executors.main()
    assert opened == [4]
    assert (printed[0]["one"], printed[0]["two_whole"], printed[0]["ratio"]) == (25.0, 45.0, 1.8)
