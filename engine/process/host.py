"""The engine's side of the pipes: commands come by standard input, events leave by what was standard output."""

from __future__ import annotations

import contextlib
import faulthandler
import itertools
import logging
import os
import platform
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, NoReturn

from engine import log, private_files, protocol, windows
from engine.errors import UnderhillError
from engine.hardware import control_groups
from engine.process import codec

_log = logging.getLogger(__name__)

FIRST_TO_GO = 300  # by which the system, where memory runs out, would rather end the engine than the window


def main(served: int) -> NoReturn:
    """Serve until standard input ends, which it also does when the window's process is killed.

    served: the window's process, whose memory counts together with this one's.
    """
    try:
        _serve(served)
    except BaseException as error:  # threads would keep the process alive, and commands without an answer
        _log.critical("The engine cannot go on", exc_info=error)
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(BROKEN)
    os._exit(0)  # without waiting for threads: their results have no reader


def _serve(served: int) -> None:
    private_files.write_privately()
    windows.no_error_boxes()
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)  # what libraries print must not come among the events
    faulthandler.enable()
    log.to_parent()
    _log.info("The engine begins: Python %s, %s", platform.python_version(), platform.platform(terse=True))
    if sys.platform != "win32":  # comes before it is killed (see StopWatchdog); works while Python's lock is held
        faulthandler.register(signal.SIGUSR1, all_threads=True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is the window's to answer
    with contextlib.suppress(OSError):  # there is no such thing on this system
        Path("/proc/self/oom_score_adj").write_text(str(FIRST_TO_GO), encoding="ascii")
    writer = EventWriter(outgoing)

    def tell(event: protocol.Event) -> None:
        if isinstance(event, protocol.Done) and isinstance(event.result, protocol.ModelCard):
            protocol.settle_garbage()
        writer.send(event)

    engine = _engine(served, tell)
    with contextlib.suppress(EOFError):
        while True:
            command = codec.read_message(incoming)
            if isinstance(command, protocol.Watch):
                writer.pause = command.look.pause
            engine.send(command)
    engine.close()
    writer.close()
    _log.info("The engine ends")
    sys.stderr.flush()


def _engine(served: int, tell: Callable[[protocol.Event], None]) -> protocol.Engine:
    """One that says why where there is no room for its libraries, which are imported only then."""
    try:
        control_groups.require_least_memory()
    except UnderhillError as error:
        return RefusingEngine(tell, error)
    from engine.hardware import probe
    from engine.server.serving_engine import ServingEngine

    probe.serve(served)
    return ServingEngine(tell)


class RefusingEngine:
    """An engine where there is no room for one: every command fails with `error`."""

    def __init__(self, on_event: Callable[[protocol.Event], None], error: UnderhillError) -> None:
        self._on_event, self._error = on_event, error

    def send(self, command: protocol.Command) -> None:
        """As protocol.Engine."""
        error = self._error
        self._on_event(protocol.Failed(command.id, error.kind, error.sentence, error.action))

    def close(self, timeout: float = 10.0) -> None:
        """As protocol.Engine."""


EARLY = 0.95  # of the pause between two frames, so that a snapshot of every other pause does not come too late for one
BROKEN = 70  # exit code: an event could not be sent


class EventWriter:
    """Writes events to a pipe from a thread of its own, so that no thread that emits one waits for the pipe.

    What ends a command and the first word of an answer leave at once, and with it all that was said before; the rest
    leaves every `pause` seconds, the text of an answer in one piece: each frame wakes two processes.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.pause = protocol.Look().pause
        self._events: deque[protocol.Event | None] = deque()
        # The deque needs no lock (its ends are atomic in CPython): the event says only that it is worth looking.
        self._news = threading.Event()
        self._told = False  # that there are some
        self._urgent = False
        self._answer = ""  # that spoke last
        self._thread = threading.Thread(target=self._run, name="event-writer", daemon=True)
        self._thread.start()

    def send(self, event: protocol.Event) -> None:
        """Send it soon, in the order of the calls. From any thread."""
        urgent = isinstance(event, protocol.TERMINAL)
        if isinstance(event, protocol.TextDelta) and event.id != self._answer:
            self._answer = event.id
            urgent = True
        self._put(event, urgent)

    def close(self) -> None:
        """Send what is left."""
        self._put(None, True)
        self._thread.join()

    def _put(self, event: protocol.Event | None, urgent: bool) -> None:
        self._events.append(event)
        if urgent:
            self._urgent = True
        if urgent or not self._told:  # a further token need not wake the writer
            self._told = True
            self._news.set()

    def _run(self) -> None:
        due = 0.0
        with contextlib.suppress(BrokenPipeError):  # the window is gone: its side of the other pipe ends this process
            while True:
                self._news.wait()
                self._news.clear()
                if not self._events:  # they were taken before they were told of
                    self._told = False
                    if not self._events:
                        continue
                rest = due - time.monotonic()
                if rest > 0 and not self._urgent:
                    self._news.wait(rest)
                self._news.clear()
                self._told = self._urgent = False  # before they are taken: who comes now wakes this thread again
                events = self._taken()
                self._send(events)
                if events and events[-1] is None:
                    return
                due = time.monotonic() + EARLY * self.pause

    def _taken(self) -> list[protocol.Event | None]:
        """All that was said by now."""
        events: list[protocol.Event | None] = []
        with contextlib.suppress(IndexError):
            while True:
                events.append(self._events.popleft())
        return events

    def _send(self, events: list[protocol.Event | None]) -> None:
        try:
            codec.write_message(self._stream, merge_text_deltas(event for event in events if event is not None))
        except BrokenPipeError:
            raise
        except Exception:  # it cannot be packed: without the end of the process the window would wait for it for ever
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(BROKEN)


def merge_text_deltas(events: Iterable[protocol.Event]) -> tuple[protocol.Event, ...]:
    """The same events; pieces of the text of one answer that follow each other are one piece."""
    found: list[protocol.Event] = []
    for answer, group in itertools.groupby(events, lambda e: e.id if isinstance(e, protocol.TextDelta) else None):
        together = list(group)
        if answer is not None and len(together) > 1:
            pieces = [piece for piece in together if isinstance(piece, protocol.TextDelta)]
            tokens = tuple(itertools.chain.from_iterable(piece.token_ids for piece in pieces))
            logprobs = tuple(itertools.chain.from_iterable(piece.logprobs for piece in pieces))
            together = [protocol.TextDelta(answer, "".join(piece.text for piece in pieces), tokens, logprobs)]
        found += together
    return tuple(found)
