"""The window's side: starts the process, sends commands, hands events on, and tells when it has ended by itself.

It also sees that Stop comes to an end: where something holds the engine, it is ended, for what holds it may never let
go.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import engine
from engine import log, protocol, windows
from engine.process import codec
from engine.translatable import Translatable, joined, msg

LAST_WORDS = 400  # lines of what it printed that are told when it ends by itself: every thread has a stack
PING = "ping:"  # begins the ids of what a watchdog asks
STACKS = 0.3  # seconds for these to be printed, where it is ended

_log = logging.getLogger(__name__)
TICK = 0.1  # seconds between two looks
SILENT = 1.0  # seconds without any answer: something keeps Python's lock
STARTING = 15.0  # the same until a model was opened, and while one is: libraries are read from the disk under that lock
# Seconds in which the engine answers, but the answer that was stopped comes no further: a native call that never
# returns. The longest that do, a layer of a long prompt on a slow computer, take a few.
STILL = 15.0
STARVED = 0.2  # what a second counts where no processor is free: the engine gives way to other programs (`priority`)


class EngineProcess:
    """Implements protocol.Engine. Every command gets its terminal event, also where the process ends before.

    Where it does not stop what it was told to stop, it is ended (StopWatchdog): the events are of Kind.HELD then.
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
        self._watchdogs: dict[str, StopWatchdog] = {}  # by the id of their questions
        self._closing = False
        self._printed: deque[str] = deque(maxlen=LAST_WORDS)
        self._commands: queue.SimpleQueue[protocol.Command | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [str(python or sys.executable), "-P", *program, str(os.getpid())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": _path()}, start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip
        try:
            windows.end_with_this_process(self._process)
        except OSError as error:  # it ends all the same when its standard input does, unless it hangs
            _log.warning("The engine's process is not bound to this one: %s", error)
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
                # In one with the queueing: once `_read` has gone through what was open when the process died, nothing
                # may be added that nobody would answer.
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
        ping = protocol.Ping(PING + stop.id)

        def patience() -> float:
            with self._lock:
                opening = not self._loaded or protocol.LoadModel in self._open.values()
            return STARTING if opening else SILENT

        watching = StopWatchdog(
            lambda: not self._died and (stop.target in self._open or stop.id in self._open), patience,
            lambda: self._commands.put(ping), self._end, moves=self._open.get(stop.target) is protocol.Generate,
        )  # fmt: skip
        with self._lock:
            self._watchdogs = {name: each for name, each in self._watchdogs.items() if not each.over}
            self._watchdogs[ping.id] = watching
        watching.start()

    def _end(self, why: str) -> None:
        """Have it print where its threads are, and kill it."""
        self._held = why
        _log.error("The engine is ended: %s", why)
        if sys.platform != "win32":  # there are no such signals
            # faulthandler prints every thread's stack at that signal, in the signal handler itself: also where
            # something keeps Python's lock (engine/process/host.py).
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
        # First the code and the last words: what is told of commands that were open names both.
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
        return not event.id.startswith(PING)

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
        return msg("The engine stopped (exit code {code}).", code=code)
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    ended = msg("The engine was ended ({name}).", name=name)
    return joined(" ", (ended, msg("The system may have run out of memory.") if name == "SIGKILL" else ""))


class StopWatchdog:
    """Of one Stop. ask: for a sign of life; `answered` is called with what comes. end: kills, and says why."""

    def __init__(
        self, open_still: Callable[[], bool], patience: Callable[[], float], ask: Callable[[], None],
        end: Callable[[str], None], *, moves: bool,
    ) -> None:  # fmt: skip
        """open_still: the stopped command has not ended. patience: with silence, now. moves: signs of life change while
        it is worked on.
        """
        self._open_still, self._patience, self._ask, self._end, self._moves = open_still, patience, ask, end, moves
        self._life: object = None
        # Set by the thread that reads the pipe. No lock: what both threads write, a look that misses it sees 0.1 s
        # later.
        self._heard = threading.Event()
        self._news = self._over = False
        self._thread = threading.Thread(target=self._watch, name="engine-stop", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    @property
    def over(self) -> bool:
        """Whether it watches no more. One that has yet to begin is not over."""
        return self._over

    def answered(self, life: object) -> None:
        """A sign of life."""
        self._news, self._life = self._news or life != self._life, life
        self._heard.set()

    def _watch(self) -> None:
        why = self._found()
        self._over = True
        if why is not None:
            self._end(why)

    def _found(self) -> str | None:
        """What there is to say against it, None once it has stopped."""
        silent = still = 0.0
        self._ask()
        before, processors = time.monotonic(), _Processors()
        while self._open_still():
            time.sleep(TICK)
            now = time.monotonic()
            passed, before = min(now - before, 2 * TICK), now  # the computer slept, or had no time for anyone
            # On a starved computer the engine is late without being stuck, since it has given way (`give_way`).
            passed *= STARVED + (1.0 - STARVED) * processors.free()
            if self._heard.is_set():
                self._heard.clear()
                silent = 0.0
                still = 0.0 if self._news else still + passed
                self._news = False
                self._ask()
            else:
                silent, still = silent + passed, still + passed
            if silent >= self._patience():
                return "It did not answer to Stop."
            if self._moves and still >= STILL:
                return "It answered, but what was to stop did not come any further."
        return None


class _Processors:
    """Share of the processors' time that was unused."""

    def __init__(self) -> None:
        import psutil  # no window needs it until an answer is stopped

        self._times = psutil.cpu_times
        self._before = self._times()

    def free(self) -> float:
        """Since the last call, from 0 to 1."""
        now = self._times()
        took = [after - before for after, before in zip(now, self._before, strict=True)]
        idle = now.idle - self._before.idle
        self._before = now
        return min(1.0, max(0.0, idle / sum(took))) if sum(took) > 0 else 1.0
