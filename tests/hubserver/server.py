"""The hub itself: one server for its API and files, another, on its own port, for what is stored apart."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.hubserver.faults import Fault
from tests.hubserver.repos import Repo
from tests.waiting import until


@dataclass(frozen=True)
class Request:
    """One that arrived. headers: by lower-case name. storage: at the second server."""

    method: str
    path: str
    headers: dict[str, str]
    storage: bool


@dataclass
class HubServer:
    """``with HubServer() as hub``: hub.url is its address. Everything may be changed while it runs.

    tokens: those of people with an account. sent: bytes of files' bodies handed to the network, by file name.
    line: bytes a second that all bodies together may have; 0 is all there is. heard: called for all that is handed out.
    speaking: whether silences are over.
    """

    repos: dict[str, Repo] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    page: int = 100  # models per page of a search
    requests: list[Request] = field(default_factory=list)
    sent: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    line: float = 0.0
    heard: Callable[[], None] | None = None
    speaking: threading.Event = field(default_factory=threading.Event)
    busy: int = 0  # bodies that are being handed out
    _free: float = 0.0  # when the line can take more

    def __enter__(self) -> HubServer:
        from tests.hubserver.handler import Handler

        self._servers = [_Server(("127.0.0.1", 0), Handler) for _ in range(2)]
        for server in self._servers:
            server.hub = self
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        self._servers[1].storage = True
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def add(self, name: str, folder: Path, **how: Any) -> Repo:
        """Serve a folder."""
        self.repos[name] = Repo(name, folder, **how)
        return self.repos[name]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._servers[0].server_port}"

    @property
    def storage(self) -> str:
        return f"http://127.0.0.1:{self._servers[1].server_port}"

    def fault(self, path: str, sends_on: bool) -> Fault:
        """What is to go wrong with this request; a fault that does nothing where nothing is."""
        with self.lock:
            return next((fault for fault in self.faults if fault.take(path, sends_on)), Fault())

    def count(self, name: str, nbytes: int) -> None:
        with self.lock:
            self.sent[name] = self.sent.get(name, 0) + nbytes
        if self.heard is not None:
            self.heard()

    @contextmanager
    def handing_out(self) -> Iterator[None]:
        """A body is."""
        with self.lock:
            self.busy += 1
        try:
            yield
        finally:
            with self.lock:
                self.busy -= 1

    def settle(self) -> None:
        """Wait until no body is being handed out: what was sent is counted a moment later, and so is who hung up."""
        until(lambda: not self.busy, "the hub still sends")

    def rest(self) -> None:
        """Wait until nothing more comes: what was asked for just before a halt may be begun after it."""

        def still() -> bool:
            self.settle()
            before = dict(self.sent), len(self.requests)
            time.sleep(0.3)
            self.settle()
            return (self.sent, len(self.requests)) == before

        until(still, "it goes on")

    def forget(self) -> None:
        """Count what is sent from now on: nothing of what was asked for before is counted after this."""
        self.settle()
        self.sent.clear()

    def take_turn(self, nbytes: int) -> None:
        """Wait until the line has taken these bytes, after those of others that came before."""
        if not self.line:
            return
        with self.lock:
            self._free = max(self._free, time.monotonic()) + nbytes / self.line
            until = self._free
        time.sleep(max(0.0, until - time.monotonic()))


class _Server(ThreadingHTTPServer):
    hub: HubServer
    storage = False
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are nothing to talk about."""
