"""The window's thread: a queue of calls that other threads leave for it, and its scheduling latency."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, Slot

BATCH_SECONDS = 0.006  # seconds of a batch at most: painting and input come between two, and 16 ms are a frame
# Seconds between batches while messages come: each takes a core and Python's lock from the engine.
BATCH_INTERVAL = 0.03
_WAKE = QEvent.Type(QEvent.registerEventType())
SWITCH_INTERVAL = 0.001  # seconds that another thread may keep Python's lock when this one wants it; 5 ms by default
# Nanoseconds, the shortest that Linux gives: the shorter the slice, the sooner a thread gets its turn.
EEVDF_SLICE = 100_000
_SET_ATTRIBUTES = {"x86_64": 314, "aarch64": 274}  # number of the system call, by machine
_RESET_ON_FORK = 0x01  # threads that it starts, those of the engine above all, shall not inherit it
_ABOVE_NORMAL = 1  # THREAD_PRIORITY_ABOVE_NORMAL


class MainThreadQueue(QObject):
    """post() may be called from any thread and never blocks; handlers run on the thread that made the queue.

    Nothing runs while nothing is posted.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self._woken = False  # a wake-up event or a timer is on its way; reset before a batch empties the queue
        self._closed = False
        self._last = 0.0  # when the last batch ended
        self._timer = QTimer(self, singleShot=True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._run_batch)

    def post(self, handler: Callable[..., object], *values: Any) -> None:
        """Call handler(*values) soon on the window's thread, in the order of posting."""
        self._waiting.append((handler, values))  # deque.append is atomic
        if not self._woken and not self._closed:
            self._woken = True
            QCoreApplication.postEvent(self, QEvent(_WAKE))

    def close(self) -> None:
        """Run no more batches."""
        self._closed = True
        self._timer.stop()

    def drain(self) -> None:
        """Run all calls that wait, however long it takes (at the end of the run)."""
        while self._waiting:
            self._run_next()

    def _run_next(self) -> None:
        """Run one call; an exception in it is reported, and does not hold up the calls behind it."""
        handler, values = self._waiting.popleft()
        try:
            handler(*values)
        except Exception as defect:
            sys.excepthook(type(defect), defect, defect.__traceback__)

    def customEvent(self, event: QEvent) -> None:
        self._woken = False
        if self._closed or not self._waiting:  # a batch has taken it meanwhile
            return
        self._woken = True
        rest = self._last + BATCH_INTERVAL - time.perf_counter()
        if rest > 0:
            self._timer.start(round(1000 * rest))
        else:
            self._run_batch()

    @Slot()
    def _run_batch(self) -> None:
        self._woken = False  # before the queue is emptied: a post from now on wakes the thread again
        end = time.perf_counter() + BATCH_SECONDS
        while self._waiting:  # one at least: a busy machine may have used the time up already
            self._run_next()
            if time.perf_counter() >= end:
                break
        self._last = time.perf_counter()
        if self._waiting and not self._woken:
            self._woken = True
            self._timer.start(round(1000 * BATCH_INTERVAL))


class _Attributes(ctypes.Structure):
    """struct sched_attr of Linux. runtime: of ordinary threads, since Linux 6.12, the length of a turn."""

    _fields_ = (
        ("size", ctypes.c_uint32), ("policy", ctypes.c_uint32), ("flags", ctypes.c_uint64), ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32), ("runtime", ctypes.c_uint64), ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    )  # fmt: skip


def lower_latency() -> None:
    """Call on the window's thread. A system that knows no such thing, or forbids it, leaves its turns as they were."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    if sys.platform == "win32":
        kernel32 = ctypes.WinDLL("kernel32")
        # A handle has 64 bits; int, the default, has 32.
        kernel32.GetCurrentThread.restype = ctypes.c_void_p
        kernel32.SetThreadPriority.argtypes = (ctypes.c_void_p, ctypes.c_int)
        kernel32.SetThreadPriority(kernel32.GetCurrentThread(), _ABOVE_NORMAL)
    elif sys.platform.startswith("linux") and os.sched_getscheduler(0) == os.SCHED_OTHER:
        call = _SET_ATTRIBUTES.get(platform.machine())
        if call is None:
            return
        nice = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        wanted = _Attributes(ctypes.sizeof(_Attributes), os.SCHED_OTHER, _RESET_ON_FORK, nice, runtime=EEVDF_SLICE)
        # Variadic, so every argument says its own type; 0 is the calling thread. What it answers is left alone.
        ctypes.CDLL(None).syscall(ctypes.c_long(call), ctypes.c_long(0), ctypes.byref(wanted), ctypes.c_long(0))
