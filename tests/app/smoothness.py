"""Measures how long the window's thread is away: `python -m tests.app.smoothness [--real] [--seconds N] [--stalls MS]`.

A timer of one millisecond notes when it is called; the time between two calls, less that millisecond, is a gap in
which the window could not have answered. On a machine that is busy with other things a gap says more of those; so the
time that the thread itself computed in each gap is told, too.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication

from app.chat.conversation import Conversation
from tests.app.stalls import Stalls

BAR, BAR_LONGEST = 16.0, 50.0  # milliseconds: p99.9 and the longest


class Watchdog(QObject):
    """gaps: milliseconds, in order. computed: milliseconds of this thread's own in each."""

    def __init__(self) -> None:
        super().__init__()
        self.gaps: list[float] = []
        self.computed: list[float] = []
        self.stalls: Stalls | None = None
        self._last = self._own = 0.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(1)
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        """Begin to measure."""
        self._last, self._own = time.perf_counter(), time.thread_time()
        self._timer.start()

    def stop(self) -> None:
        """End."""
        self._timer.stop()

    @Slot()
    def _beat(self) -> None:
        now, own = time.perf_counter(), time.thread_time()
        if self.stalls is not None:
            self.stalls.alive()
        self.gaps.append(max(0.0, 1000 * (now - self._last) - 1))
        self.computed.append(1000 * (own - self._own))
        self._last, self._own = now, own

    def share(self) -> float:
        """The part of the time that this thread computed."""
        return sum(self.computed) / (sum(self.gaps) + len(self.gaps))

    def percentile(self, share: float) -> float:
        """The gap that this share of *time* (beats of one millisecond) does not exceed."""
        ordered = sorted(self.gaps)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class FollowUp(QObject):
    """Sends another question whenever an answer has ended."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__()
        self._conversation = conversation
        conversation.busy_changed.connect(self._look)

    def end(self) -> None:
        """Ask no more."""
        self._conversation.busy_changed.disconnect(self._look)

    @Slot()
    def _look(self) -> None:
        if not self._conversation.busy:
            self._conversation.send("Tell me another one.")


def main() -> int:
    """Stream with the dock open, print the figures as JSON."""
    from app.application import Application
    from engine import client
    from tests.app.fake_engine import scripted
    from tests.app.homes import lived_in
    from tests.app.samples import LONG_ANSWER

    parser = argparse.ArgumentParser()
    parser.add_argument("--real", action="store_true", help="the real engine with the built-in model")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--stalls", type=float, default=0.0, help="tell what was done after so many ms of computing")
    parser.add_argument("--turns", type=int, default=0, help="earlier messages in the chat")
    options = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication([])
    start = (
        client.start_subprocess
        if options.real
        else scripted(rate=options.rate, script=lambda messages: LONG_ANSWER * 400)
    )
    with tempfile.TemporaryDirectory() as folder:
        underhill = Application(application, lived_in(Path(folder)), start)
        underhill.window.resize(1280, 820)
        underhill.open()
        _until(application, lambda: underhill.models.state == "ready", 120)
        _settle(application)
        dog = Watchdog()
        if options.real:
            underhill.conversation.sampling = {"max_tokens": 4000}
        _fill(underhill, options.turns)
        underhill.conversation.send("Tell me a long story about a fox.")
        _until(application, lambda: underhill.conversation.busy, 5)
        if options.stalls:
            dog.stalls = Stalls(options.stalls / 1000)
            dog.stalls.start()
        dog.start()
        follow_up = FollowUp(underhill.conversation)
        QTimer.singleShot(int(options.seconds * 1000), application.quit)
        application.exec()
        follow_up.end()
        dog.stop()
        if dog.stalls is not None:
            dog.stalls.end()
        underhill.conversation.stop()
        _until(application, lambda: not underhill.conversation.working, 20)
        tokens = sum(len(m.token_ids) for m in underhill.conversation.messages)
        underhill.window.close()
        underhill.close()
    worst = sorted(dog.gaps)[-5:]
    print(json.dumps({
        "beats": len(dog.gaps), "tokens": tokens, "p50": round(dog.percentile(0.5), 2),
        "p99": round(dog.percentile(0.99), 2), "p99.9": round(dog.percentile(0.999), 2),
        "max": round(worst[-1], 2), "worst": [round(w, 1) for w in worst],
        "over_16ms": sum(g > 16 for g in dog.gaps),
        "computed_p99.9": round(sorted(dog.computed)[int(0.999 * len(dog.computed))], 2),
        "computed_max": round(max(dog.computed), 2), "computing_share": round(dog.share(), 3),
        "ratio_p99.9": round(dog.percentile(0.999) / BAR, 3), "ratio_max": round(worst[-1] / BAR_LONGEST, 3),
    }))  # fmt: skip
    if dog.stalls is not None:
        for beat, stacks in dog.stalls.found.items():
            after = (sum(dog.gaps[:beat]) + beat) / 1000
            print(f"after {after:.1f} s: gap {dog.gaps[beat]:.0f} ms, computed {dog.computed[beat]:.0f} ms")
            for stack, times in stacks.most_common(4):
                print(f"    {times}x {stack}")
    return 0


def _fill(underhill: object, turns: int) -> None:
    from app.storage.records import StoredMessage, new_id
    from tests.app.samples import LONG_ANSWER, QUESTION

    conversation = underhill.conversation  # type: ignore[attr-defined]
    for number in range(turns):
        role = "assistant" if number % 2 else "user"
        message = StoredMessage(
            id=new_id(), chat_id=0, parent_id=None, role=role, content=LONG_ANSWER if number % 2 else QUESTION
        )
        conversation.added.emit((message,))


def _settle(application: QApplication) -> None:
    """The scripted engine is ready with the first painting, a real one seconds after it."""
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        application.processEvents()
        time.sleep(0.002)


def _until(application: QApplication, condition: object, limit: float) -> None:
    end = time.monotonic() + limit
    while not condition():  # type: ignore[operator]
        application.processEvents()
        if time.monotonic() > end:
            raise TimeoutError


if __name__ == "__main__":
    sys.exit(main())
