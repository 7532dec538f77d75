"""An engine with a running server, and what a test asks of both."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

from engine import client, protocol
from engine.protocol import TERMINAL, Done, Event, Generate, Message, ServerState, StartServer

SETTINGS = {"dial": "exact", "threads": 1}


class Serving:
    """A context. url: of the server. engine: whose window this could be. events: that came, guarded by `arrived`."""

    def __init__(self, **start: Any) -> None:
        """start: fields of StartServer."""
        self._start = start
        self.events: list[Event] = []
        self.arrived = threading.Condition()
        self._numbers = itertools.count()

    def __enter__(self) -> Serving:
        self.engine = client.start(self._on_event)
        try:
            self.state: ServerState = self.result(StartServer, settings=SETTINGS, **self._start)
        except BaseException:
            self.engine.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.engine.close()

    @property
    def url(self) -> str:
        return self.state.address

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def _on_event(self, event: Event) -> None:
        with self.arrived:
            self.events.append(event)
            self.arrived.notify_all()

    def send(self, kind: type[protocol.Command], *values: Any, **fields: Any) -> str:
        command = kind(f"t{next(self._numbers)}", *values, **fields)
        self.engine.send(command)
        return command.id

    def first(self, wanted: Any, timeout: float = 120.0) -> Event:
        """The first event that is wanted, waited for."""
        end, seen = time.monotonic() + timeout, 0
        with self.arrived:
            while True:
                for event in self.events[seen:]:
                    if wanted(event):
                        return event
                seen = len(self.events)
                assert self.arrived.wait(max(0.0, end - time.monotonic())), "no such event came"

    def end(self, command: str) -> Event:
        return self.first(lambda e: e.id == command and isinstance(e, TERMINAL))

    def result(self, kind: type[protocol.Command], *values: Any, **fields: Any) -> Any:
        event = self.end(self.send(kind, *values, **fields))
        assert isinstance(event, Done), event
        return event.result

    def chat(self, text: str, **sampling: Any) -> Any:
        """What the window's chat is answered."""
        return self.result(Generate, (Message("user", text),), {"temperature": 0.0, "max_tokens": 24, **sampling})

    def quiet(self) -> None:
        """Returns once the server has nothing under way."""
        self.first(lambda e: isinstance(e, protocol.ServerChanged) and not e.state.requests)
