"""Trying again: what is said while it is waited for."""

from __future__ import annotations

import pytest

from engine.errors import Kind, UnderhillError
from engine.hub.control import Control, Retry, RetryPolicy, Wait
from engine.hub.errors import HubError
from engine.translatable import translated

BUSY = HubError(Kind.SERVER_ERROR, translated("The hub is busy."), retry=True, after=3.2)


class Slept(Control):
    """Time passes only where somebody sleeps; after `stop` of it the download is cancelled."""

    def __init__(self, stop: float = 1e9) -> None:
        super().__init__()
        self.now, self._stop = 0.0, stop

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.now >= self._stop:
            self.cancel()
        super().sleep(0.0)


def test_the_seconds_are_counted_down_and_the_try_is_said() -> None:
    said: list[Wait] = []
    control = Slept()
    retry = Retry(RetryPolicy(), control, said.append, lambda: control.now)
    retry.after(BUSY)
    assert [wait.left for wait in said] == [3, 2, 1, 1, 0]
    assert control.now == pytest.approx(3.2)
    assert str(said[1]) == "The hub is busy. Retrying in 2 s."
    assert str(said[-1]) == "The hub is busy. Retrying…"
    assert {wait.number for wait in said} == {1}
    retry.after(BUSY)
    assert said[-1].number == 2


def test_a_download_that_is_cancelled_meanwhile_says_nothing_more() -> None:
    said: list[Wait] = []
    control = Slept(stop=2.0)
    with pytest.raises(UnderhillError) as error:
        Retry(RetryPolicy(), control, said.append, lambda: control.now).after(BUSY)
    assert error.value.kind is Kind.CANCELLED
    assert [wait.left for wait in said] == [3, 2]
