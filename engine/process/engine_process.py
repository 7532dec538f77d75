"""The window's side: starts the process, sends commands, hands events on, and tells when it has ended by itself."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

import engine
from engine import log, protocol
from engine.process import codec, stop_watchdog
from engine.translatable import Translatable, joined, msg

LAST_WORDS = 400  # lines of what it printed that are told when it ends by itself: every thread has a stack
BEAT = "beat:"  # begins the ids of what a watchdog asks
STACKS = 0.3  # seconds for these to be printed, where it is ended

_log = logging.getLogger(__name__)


class EngineProcess:
    """Implements protocol.Engine. Every command gets its terminal event, also where the process ends before.

    Where it does not stop what it was told to stop, it is ended (`stop_watchdog`): the events are of Kind.HELD then.
    """

    def __init__(
        self, on_event: Callable[[protocol.Event], None], program: tuple[str, ...] = ("-m", "engine.process"),
        python: Path | None = None,
    ) -> None:  # fmt: skip
        """python: the interpreter whose libraries the engine uses; None: this process's own."""
        self._on_event = on_event
        # Guards `_open`, `_died` and `_watchdogs`, which the window and both pipes' threads use; never held over an
        # event or a write.
        self._lock = threading.Lock()
        self._open: dict[str, type[protocol.Command]] = {}  # commands without a terminal event, by id
        self._died = ""  # why, once it has
        self._held = ""  # why it was ended
        self._loaded = False  # a model has been opened
        self._watchdogs: dict[str, stop_watchdog.StopWatchdog] = {}  # by the id of their questions
        self._closing = False
        self._printed: deque[str] = deque(maxlen=LAST_WORDS)
        self._commands: queue.SimpleQueue[protocol.Command | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [str(python or sys.executable), "-P", *program, str(os.getpid())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": _path()}, start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip
        # in this order: the one that reads waits in the end for the one that listens
        names = {"engine-said": self._listen, "engine-in": self._read, "engine-out": self._write}
        self._threads = {name: threading.Thread(target=run, name=name, daemon=True) for name, run in names.items()}
        for thread in self._threads.values():
            thread.start()
        _log.info("The engine's process %d was started", self.pid)

    @property
    def pid(self) -> int:
        """Of the engine's process."""
        return self._process.pid

    def send(self, command: protocol.Command) -> None:
        """As protocol.Engine."""
        with self._lock:
            died = self._died
            if not died:
                self._open[command.id] = type(command)
                self._commands.put(command)
        if died:
            self._on_event(self._gone(command.id))
        elif isinstance(command, protocol.Stop):
            self._supervise(command)

    def close(self, timeout: float = 10.0) -> None:
        """As protocol.Engine. One that has not ended after that time is killed."""
        self._closing = True
        self._commands.put(None)
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for name in ("engine-in", "engine-said"):
            self._threads[name].join()

    def _supervise(self, stop: protocol.Stop) -> None:
        beat = protocol.Beat(BEAT + stop.id)

        def patience() -> float:
            with self._lock:
                opening = not self._loaded or protocol.LoadModel in self._open.values()
            return stop_watchdog.STARTING if opening else stop_watchdog.SILENT

        watching = stop_watchdog.StopWatchdog(
            lambda: not self._died and (stop.target in self._open or stop.id in self._open), patience,
            lambda: self._commands.put(beat), self._end, moves=self._open.get(stop.target) is protocol.Generate,
        )  # fmt: skip
        with self._lock:
            self._watchdogs = {name: each for name, each in self._watchdogs.items() if not each.over}
            self._watchdogs[beat.id] = watching
        watching.start()

    def _end(self, why: str) -> None:
        """Have it print where its threads are, and kill it."""
        self._held = why
        _log.error("The engine is ended: %s", why)
        if sys.platform != "win32":  # there are no such signals
            self._process.send_signal(signal.SIGUSR1)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STACKS)
        self._process.kill()

    def _gone(self, command: str) -> protocol.Failed:
        return protocol.held(command, self._died) if self._held else protocol.stopped(command, self._died)

    def _write(self) -> None:
        assert self._process.stdin is not None
        try:
            while (command := self._commands.get()) is not None:
                codec.write_message(self._process.stdin, command)
            self._process.stdin.close()
        except OSError:  # it has ended: the thread that reads finds out, and tells
            pass

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while True:
                for event in codec.read_message(self._process.stdout):
                    if isinstance(event, protocol.TERMINAL) and not self._ended(event):
                        continue
                    self._on_event(event)
        except EOFError:
            pass
        code = self._process.wait()
        self._threads["engine-said"].join()
        with self._lock:
            left, self._open = sorted(self._open), {}
            self._died = f"{self._held or _reason(code)}\n{''.join(self._printed)}".strip()
        if self._closing:
            _log.info("The engine's process %d ended, exit code %d", self.pid, code)
        else:
            _log.error("The engine's process %d ended by itself: %s", self.pid, self._held or _reason(code))
            for command in left or [""]:  # where nobody waits for anything it is told all the same
                self._on_event(self._gone(command))

    def _ended(self, event: protocol.Event) -> bool:
        """Whether anybody but a watchdog waits for the end of that command."""
        with self._lock:
            asked = self._open.pop(event.id, None)
            if asked is protocol.LoadModel and isinstance(event, protocol.Done):
                self._loaded = True
            watching = self._watchdogs.get(event.id)
        if watching is not None and isinstance(event, protocol.Done):
            watching.answered(event.result)
        return not event.id.startswith(BEAT)

    def _listen(self) -> None:
        """What it logs is logged here; what else it prints is printed here, and the end of it kept."""
        assert self._process.stderr is not None
        for line in self._process.stderr:
            text = line.decode("utf-8", "replace")
            if log.relay(text):
                continue
            self._printed.append(text)
            if sys.stderr is not None:  # a program without a terminal on Windows has none
                with contextlib.suppress(OSError, ValueError):  # nor one whose terminal was closed; yet this goes on,
                    sys.stderr.write(text)  # for an engine whose words nobody takes would come to stand still


def _path() -> str:
    """PYTHONPATH with which the process finds this very engine."""
    own = str(Path(engine.__file__).parents[1])
    return os.pathsep.join(part for part in (own, os.environ.get("PYTHONPATH", "")) if part)


def _reason(code: int) -> Translatable:
    if code >= 0:
        return msg("The engine's process ended with exit code {code}.", code=code)
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    ended = msg("The engine's process was ended by {name}.", name=name)
    return joined(" ", (ended, msg("The system ends programs so when memory runs out.") if name == "SIGKILL" else ""))
