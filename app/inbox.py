"""Where other threads leave messages for the window: a deque that a timer empties on the window's thread."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Slot

BUDGET = 0.006  # seconds of one turn spent here, so that painting and input get theirs
AWAKE = 16  # milliseconds between turns while messages come
IDLE = 50
_DOZE = 40  # empty turns before the slower pace


class Inbox(QObject):
    """post() may be called from any thread and never blocks; handlers run on the thread that made the inbox."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self._empty_turns = 0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._turn)
        self._timer.start(AWAKE)

    def post(self, handler: Callable[..., object], *values: Any) -> None:
        """Call handler(*values) soon on the window's thread, in the order of posting."""
        self._waiting.append((handler, values))  # deque.append is atomic

    def close(self) -> None:
        """Take no more turns."""
        self._timer.stop()

    def drain(self) -> None:
        """Handle all that waits, however long it takes (at the end of the run)."""
        while self._waiting:
            handler, values = self._waiting.popleft()
            handler(*values)

    @Slot()
    def _turn(self) -> None:
        end = time.perf_counter() + BUDGET
        worked = False
        while self._waiting and time.perf_counter() < end:
            handler, values = self._waiting.popleft()
            worked = True
            handler(*values)
        self._empty_turns = 0 if worked else self._empty_turns + 1
        wanted = IDLE if self._empty_turns > _DOZE else AWAKE
        if self._timer.interval() != wanted:
            self._timer.setInterval(wanted)
