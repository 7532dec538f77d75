"""The socket, the thread and the connections of the server."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import threading
from collections.abc import Callable
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from engine import limits
from engine.errors import Kind, UnderhillError
from engine.translatable import msg, system_reason

_log = logging.getLogger(__name__)
_BACKLOG = 128
_ENDING = 3.0  # seconds that answers under way have, once the server is to end


class BoundedConnection(H11Protocol):
    """One connection: closed where there are too many, and where a request's head does not come in time."""

    def connection_made(self, transport: Any) -> None:
        """As asyncio.Protocol."""
        self._head: asyncio.TimerHandle | None = None
        if len(self.connections) >= limits.CONNECTIONS:
            transport.abort()
            self._refused = True
            return
        self._refused = False
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """As asyncio.Protocol."""
        self._head_came()
        if not self._refused:
            super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """As asyncio.Protocol."""
        if self._refused:
            return
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:  # there is more of a head to come
            if self._head is None:
                self._await_head()
        else:
            self._head_came()

    def on_response_complete(self) -> None:
        """As uvicorn has it. The head of a next request may have begun to come behind the one that is answered."""
        super().on_response_complete()
        if self._head is None and self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._await_head()

    def _await_head(self) -> None:
        self._head = self.loop.call_later(limits.REQUEST_HEAD_SECONDS, self._give_up)

    def _head_came(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _give_up(self) -> None:
        self._head = None
        self.transport.close()


class HttpListener:
    """Serves an application on a thread of its own, from `start` to `stop`."""

    def __init__(self, host: str, port: int) -> None:
        """Takes the address. Raises UnderhillError(BUSY, BAD_REQUEST) where it cannot be had."""
        self._socket = _bound(host, port)
        self.port = int(self._socket.getsockname()[1])
        self.loop = asyncio.new_event_loop()
        self._server: uvicorn.Server | None = None
        self._thread = threading.Thread(target=self._run, name="underhill-server", daemon=True)

    def start(self, app: ASGIApp, broke_off: Callable[[], object] = lambda: None) -> None:
        """Serve from now on. broke_off: called on the server's thread where a defect ends it."""
        self._broke_off = broke_off
        config = uvicorn.Config(
            app, loop="none", http=BoundedConnection, ws="none", lifespan="off", log_config=None, access_log=False,
            server_header=False, timeout_keep_alive=30, timeout_graceful_shutdown=int(_ENDING),
            h11_max_incomplete_event_size=limits.REQUEST_HEAD_BYTES, proxy_headers=False,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread.start()

    @property
    def connections(self) -> int:
        """Open now."""
        return 0 if self._server is None else len(self._server.server_state.connections)

    def stop(self) -> None:
        """End it and wait; one that a defect has ended has ended."""
        if self._server is None:
            self._socket.close()
            return
        self._server.should_exit = True
        self._thread.join(_ENDING + 2)
        self._server.force_exit = True
        self._thread.join(2)

    def _run(self) -> None:
        assert self._server is not None
        asyncio.set_event_loop(self.loop)
        broke_off = False
        try:
            self.loop.run_until_complete(self._server.serve(sockets=[self._socket]))
        except Exception as error:
            _log.error("The local server has ended by a defect", exc_info=error)
            broke_off = True
        finally:
            self._socket.close()
            self.loop.close()
        if broke_off:  # said once the port is free
            self._broke_off()


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, kind, number, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as cause:
        raise UnderhillError(
            Kind.BAD_REQUEST, msg("{host} is no address of this computer.", host=limits.shown(host)),
            msg("Take 127.0.0.1, or an address of one of its networks."),
        ) from cause  # fmt: skip
    found = socket.socket(family, kind, number)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows: else another program could take the same port
            found.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(_BACKLOG)
        found.setblocking(False)
    except OSError as cause:
        found.close()
        if cause.errno == errno.EADDRINUSE:
            raise UnderhillError(
                Kind.BUSY,
                msg("Another app uses port {port}, so the local server cannot be turned on.", port=port),
                msg("Choose another port, or end the app that has it."),
            ) from cause
        raise UnderhillError(
            Kind.BUSY,
            msg("The local server cannot listen at {host}, port {port}: {why}.", host=host, port=port,
                why=system_reason(cause)),
            msg("Choose another port."),
        ) from cause  # fmt: skip
    return found
