"""Installs the engine on a thread of its own, and tells the window's thread how far it is."""

from __future__ import annotations

import threading
import time
from collections import deque

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.install.environment import EngineEnvironment, InstallProgress
from app.install.options import Options
from app.install.problem import InstallProblem, Reason

_INTERVAL = 0.1  # seconds between two tellings: chunks come by the thousand
_WINDOW = 5.0  # seconds that the rate is an average of


class InstallWork(QObject):
    """progressed: InstallProgress. failed: InstallProblem, STOPPED after `pause`. done: the engine is there."""

    progressed = Signal(object)
    failed = Signal(object)
    done = Signal()
    _ended = Signal(object)

    def __init__(self, environment: EngineEnvironment, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.environment = environment
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._told = ("", 0.0)
        self._ended.connect(self._after, Qt.ConnectionType.QueuedConnection)

    @property
    def is_running(self) -> bool:
        """Whether a thread is at it."""
        return self._thread is not None

    def start(self, options: Options) -> None:
        """Begin, or go on where it was paused or has failed."""
        if self._thread is None:
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, args=(options,), name="install", daemon=True)
            self._thread.start()

    def pause(self) -> None:
        """Leave off soon; `failed` follows. What was downloaded is kept."""
        self._stop.set()

    def close(self) -> None:
        """Leave off, and wait for it."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self, options: Options) -> None:
        try:
            self.environment.install(options, self._stop, self._report)
            self._ended.emit(None)
        except InstallProblem as problem:
            self._ended.emit(problem)
        except Exception as error:  # the page must not stand still for ever, whatever it was
            self._ended.emit(InstallProblem(Reason.FAILED, repr(error)))

    def _report(self, progress: InstallProgress) -> None:
        step, when = self._told
        now = time.monotonic()
        if progress.step != step or now - when >= _INTERVAL:
            self._told = (progress.step, now)
            self.progressed.emit(progress)

    @Slot(object)
    def _after(self, problem: InstallProblem | None) -> None:
        assert self._thread is not None
        self._thread.join()
        self._thread = None
        if problem is None:
            self.done.emit()
        else:
            self.failed.emit(problem)


class TransferRate:
    """Bytes a second over the last seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def add(self, done: int, now: float) -> float:
        """Returns the rate; 0 while it is not known."""
        if self._seen and done < self._seen[-1][1]:
            self._seen.clear()
        self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[0][0] > _WINDOW:
            self._seen.popleft()
        (_, before), elapsed = self._seen[0], now - self._seen[0][0]
        return (done - before) / elapsed if elapsed > 0.5 else 0.0
