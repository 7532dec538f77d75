"""Where other threads leave messages for the window: a deque that its thread empties when it is told of the first."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, Slot

BATCH_SECONDS = 0.006  # seconds of one turn spent here, so that painting and input get theirs
BATCH_INTERVAL = (
    0.03  # seconds between turns while messages come: every one takes a core and Python's lock from the engine
)
_TOLD = QEvent.Type(QEvent.registerEventType())


class MainThreadQueue(QObject):
    """post() may be called from any thread and never blocks; handlers run on the thread that made the inbox.

    Where nothing comes, nothing runs.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self._told = False  # that something waits, since the last turn began
        self._closed = False
        self._last = 0.0  # when the last turn ended
        self._timer = QTimer(self, singleShot=True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._turn)

    def post(self, handler: Callable[..., object], *values: Any) -> None:
        """Call handler(*values) soon on the window's thread, in the order of posting."""
        self._waiting.append((handler, values))  # deque.append is atomic
        if not self._told and not self._closed:
            self._told = True
            QCoreApplication.postEvent(self, QEvent(_TOLD))

    def close(self) -> None:
        """Take no more turns."""
        self._closed = True
        self._timer.stop()

    def drain(self) -> None:
        """Handle all that waits, however long it takes (at the end of the run)."""
        while self._waiting:
            self._handle()

    def _handle(self) -> None:
        """One message; a defect in whoever takes it is shown, and does not hold up those behind it."""
        handler, values = self._waiting.popleft()
        try:
            handler(*values)
        except Exception as defect:
            sys.excepthook(type(defect), defect, defect.__traceback__)

    def customEvent(self, event: QEvent) -> None:
        self._told = False
        if self._closed or not self._waiting:  # a turn under way has taken it
            return
        self._told = True
        rest = self._last + BATCH_INTERVAL - time.perf_counter()
        if rest > 0:
            self._timer.start(round(1000 * rest))
        else:
            self._turn()

    @Slot()
    def _turn(self) -> None:
        self._told = False  # before it is emptied: who posts now tells of it again
        end = time.perf_counter() + BATCH_SECONDS
        while self._waiting:  # one at the least: a busy machine may have used the time up already
            self._handle()
            if time.perf_counter() >= end:
                break
        self._last = time.perf_counter()
        if self._waiting and not self._told:
            self._told = True
            self._timer.start(round(1000 * BATCH_INTERVAL))
