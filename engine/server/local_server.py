"""The local server as a whole: an address, the application behind it, and what is told of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from engine import protocol, settings
from engine.errors import Kind, UnderhillError
from engine.server import access_key
from engine.server.application import Access, application
from engine.server.asking import Asker
from engine.server.bridge import PREFIX, EngineBridge
from engine.server.guard import is_loopback
from engine.server.listener import HttpListener
from engine.translatable import msg

_log = logging.getLogger(__name__)
TOLD_EVERY = 0.25  # seconds between two ServerChanged


class LocalServer:
    """From `start` to `stop`. told: called with its state, on its own thread, at most four times a second."""

    def __init__(
        self,
        command: protocol.StartServer,
        send: Callable[[protocol.Command], None],
        told: Callable[[protocol.ServerState], None],
    ) -> None:
        """Takes the address. Raises UnderhillError: BUSY, BAD_REQUEST."""
        chosen = _chosen(command.settings, command.models)
        key = command.key or access_key.read()
        if key:
            access_key.check(key)
        elif not is_loopback(command.host):
            raise UnderhillError(
                Kind.BAD_REQUEST,
                msg("At {host} other computers could ask, so a key is needed.", host=command.host),
                msg("Set a key, or take 127.0.0.1, where only apps on this computer can ask."),
            )
        self._told, self._send, self._due, self._told_at = told, send, False, 0.0
        self._listener = HttpListener(command.host, command.port)
        self._bridge = EngineBridge(send, self._listener.loop, self._changed)
        host = f"[{command.host.strip('[]')}]" if ":" in command.host else command.host
        self._address, self._keyed = f"http://{host}:{self._listener.port}", bool(key)
        self._access = Access(command.host, key, tuple(command.origins.split()), lambda: self._listener.connections)
        self._asker = Asker(self._bridge, *chosen)
        self._app = application(self._asker, self._access)

    @property
    def state(self) -> protocol.ServerState:
        """Now. On its own thread, or before it is started."""
        counters = self._bridge.counters
        refused = counters.refused + self._access.refused
        return protocol.ServerState(
            self._address, self._keyed, self._bridge.requests, self._bridge.recent, counters.answered, refused
        )

    def start(self) -> None:
        """Answer from now on."""
        self._listener.start(self._app, lambda: self._told(protocol.ServerState()))
        _log.info(
            "The local server listens, port %d, %s", self._listener.port, "with a key" if self._keyed else "no key"
        )

    def update(self, command: protocol.UpdateServer) -> None:
        """How models are opened from now on. From any thread. Raises UnderhillError(BAD_REQUEST)."""
        self._asker.settings, self._asker.models_own = _chosen(command.settings, command.models)

    def deliver(self, event: protocol.Event) -> None:
        """An event of the engine. From any thread."""
        self._bridge.deliver(event)

    def stop(self) -> None:
        """End it; answers under way are stopped."""
        for number, request in enumerate(self._bridge.requests):
            self._send(protocol.Stop(f"{PREFIX}end:{number}", request.id))
        self._listener.stop()
        _log.info("The local server has ended")

    def _changed(self) -> None:
        if not self._due:
            self._due = True
            loop = self._listener.loop
            loop.call_at(max(loop.time(), self._told_at + TOLD_EVERY), self._tell)

    def _tell(self) -> None:
        self._due, self._told_at = False, self._listener.loop.time()
        self._told(self.state)


def _chosen(
    common: Mapping[str, Any], models: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Settings for all models, and those of single ones, checked. Raises UnderhillError(BAD_REQUEST)."""
    found = settings.validated(common, settings.ENGINE)
    own = {name: settings.validated({**found, **values}, settings.ENGINE) for name, values in models.items()}
    return found, own
