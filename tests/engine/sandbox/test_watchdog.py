"""The watchdog of a process: one thread for many waits, and a kill only while one lasts."""

from __future__ import annotations

import threading
import time

import pytest

from engine.sandbox import watchdog
from engine.sandbox.watchdog import POLL, Watchdog


def watchers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == watchdog.THREAD]


def test_many_waits_share_one_thread_and_none_that_ends_in_time_is_killed() -> None:
    dog, killed, before = Watchdog(), list[bool](), len(watchers())
    for _ in range(50):
        with dog.watching(POLL, None, killed.append):
            pass
    assert len(watchers()) == before + 1
    time.sleep(2 * POLL)
    assert not killed


def test_a_wait_that_lasts_too_long_is_killed_once() -> None:
    dog, killed = Watchdog(), list[bool]()
    with dog.watching(0.05, None, killed.append):
        time.sleep(0.3)
    assert killed == [True]


def test_a_short_wait_behind_a_long_one_keeps_its_own_time() -> None:
    dog, killed = Watchdog(), list[bool]()
    with dog.watching(60, None, killed.append):
        time.sleep(0.05)  # the thread waits for its end
    with dog.watching(0.05, None, killed.append):
        time.sleep(0.3)
    assert killed == [True]


def test_a_stop_is_heard_in_the_middle_of_a_wait() -> None:
    dog, killed, stop = Watchdog(), list[bool](), threading.Event()
    with dog.watching(60, None, killed.append):
        pass
    with dog.watching(60, stop.is_set, killed.append):
        time.sleep(2 * POLL)
        assert not killed
        stop.set()
        time.sleep(3 * POLL)
    assert killed == [False]


def test_the_thread_ends_once_nothing_was_watched_for_a_while_and_another_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watchdog, "LINGER", 0.05)
    dog, killed, before = Watchdog(), list[bool](), len(watchers())
    with dog.watching(60, None, killed.append):
        time.sleep(0.02)  # the thread waits for the end of this one
    time.sleep(0.3)
    assert len(watchers()) == before
    with dog.watching(0.05, None, killed.append):
        time.sleep(0.3)
    assert killed == [True]
