"""Writes the engine's events to the pipe that the window reads."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Iterable
from typing import IO

from engine import protocol
from engine.process import pipes

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
        if urgent or not self._told:  # a token more wakes nobody
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
            pipes.write(self._stream, merge_text_deltas(event for event in events if event is not None))
        except BrokenPipeError:
            raise
        except Exception:  # one that cannot be packed: nobody must wait for it for ever
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
            together = [protocol.TextDelta(answer, "".join(piece.text for piece in pieces), tokens)]
        found += together
    return tuple(found)
