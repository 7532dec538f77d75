"""Messages of other threads arrive on the window's thread, in order, a few milliseconds at a time."""

from __future__ import annotations

import threading
import time

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.platform.main_thread import MainThreadQueue


def test_order_and_thread(qtbot: QtBot, main_queue: MainThreadQueue) -> None:
    got: list[int] = []
    threads: set[int] = set()

    def take(number: int) -> None:
        got.append(number)
        threads.add(threading.get_ident())

    sender = threading.Thread(target=lambda: [main_queue.post(take, n) for n in range(1000)])
    sender.start()
    qtbot.waitUntil(lambda: len(got) == 1000)
    sender.join()
    assert got == list(range(1000))
    assert threads == {threading.get_ident()}


def test_where_nothing_comes_nothing_runs(
    qtbot: QtBot, main_queue: MainThreadQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    got: list[int] = []
    for number in range(3):
        main_queue.post(got.append, number)
    qtbot.waitUntil(lambda: got == [0, 1, 2])
    qtbot.wait(50)
    turns: list[None] = []
    monkeypatch.setattr(MainThreadQueue, "_run_batch", lambda _: turns.append(None))
    qtbot.wait(100)
    assert not turns
    assert not any(timer.isActive() for timer in main_queue.findChildren(QTimer))


def test_a_flood_is_taken_in_turns(qtbot: QtBot, main_queue: MainThreadQueue) -> None:
    done: list[int] = []
    for number in range(20):
        main_queue.post(lambda n: (time.sleep(0.002), done.append(n)), number)
    main_queue._run_batch()
    assert 0 < len(done) < 20
    qtbot.waitUntil(lambda: len(done) == 20)


def test_a_defect_in_whoever_takes_a_message_does_not_hold_up_those_behind_it(
    qtbot: QtBot, main_queue: MainThreadQueue
) -> None:
    """They stayed until something else came, and at the end of a run for good, with what it had not yet saved."""
    got: list[int] = []

    def defect() -> None:
        raise KeyError("x")

    with qtbot.captureExceptions() as shown:
        main_queue.post(defect)
        main_queue.post(got.append, 1)
        qtbot.waitUntil(lambda: got == [1])
        main_queue.post(defect)
        main_queue.post(got.append, 2)
        main_queue.drain()
    assert got == [1, 2]
    assert [kind for kind, *_ in shown] == [KeyError, KeyError]
