"""An engine that other programs can ask, too: the service, and the local server in front of it where it is wanted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engine import protocol
from engine.import_lock import ALONE
from engine.server import access_key
from engine.service import Service
from engine.service.command_worker import CommandWorker

if TYPE_CHECKING:
    from engine.server.local_server import LocalServer

_PREFIX = "server:"  # as bridge.PREFIX, which would import the whole server
_COMMANDS = (
    protocol.StartServer, protocol.StopServer, protocol.UpdateServer, protocol.AskServerKey, protocol.KeepServerKey,
)  # fmt: skip


class ServingEngine:
    """Implements protocol.Engine. What the server is made of is imported once it is started."""

    def __init__(self, on_event: Callable[[protocol.Event], None]) -> None:
        self._on_event = on_event
        self._emitting = threading.Lock()  # service and server both emit; the callback gets one event at a time
        self._server: LocalServer | None = None
        self._worker = CommandWorker("server-control", self._do, self._emit)
        self.service = Service(self._route)

    def send(self, command: protocol.Command) -> None:
        """As protocol.Engine."""
        if isinstance(command, _COMMANDS):
            self._worker.put(command)
        else:
            self.service.send(command)

    def close(self, timeout: float = 10.0) -> None:
        """As protocol.Engine."""
        self._worker.close()
        self._worker.join(timeout)
        self._stop()
        self.service.close(timeout)

    def _route(self, event: protocol.Event) -> None:
        if not event.id.startswith(_PREFIX):
            self._emit(event)
        elif (server := self._server) is not None:
            server.deliver(event)

    def _emit(self, event: protocol.Event) -> None:
        with self._emitting:
            self._on_event(event)

    def _do(self, command: protocol.Command, cancelled: Callable[[], bool]) -> Any:
        match command:
            case protocol.StartServer():
                return self._start(command)
            case protocol.StopServer():
                self._stop()
                return protocol.ServerState()
            case protocol.UpdateServer():
                return None if self._server is None else self._server.update(command)
            case protocol.AskServerKey():
                return protocol.ServerKey(access_key.read())
            case protocol.KeepServerKey():
                return access_key.keep(command.key)
        return None

    def _start(self, command: protocol.StartServer) -> protocol.ServerState:
        with ALONE:  # where it starts with the engine, the thread of the model imports, too
            from engine.server.local_server import LocalServer
        self._stop()
        server = LocalServer(command, self.service.send, lambda state: self._emit(protocol.ServerChanged("", state)))
        self._server = server
        server.start()
        return server.state

    def _stop(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.stop()
