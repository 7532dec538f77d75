"""Somebody who answers as no hub does: whatever bytes, as slowly and as long as it likes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

Script = Callable[[bytes], Iterable[bytes]]  # what is asked (the head of the request) -> pieces of what is answered


class HostileHub:
    """``with HostileHub(script) as hub``: hub.url is its address. sent: bytes that were taken off it."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.sent = 0
        self._over = threading.Event()

    def __enter__(self) -> HostileHub:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._listening.close()

    def pause(self, seconds: float) -> None:
        """Silence, which ends with the hub."""
        self._over.wait(seconds)

    def _serve(self) -> None:
        while not self._over.is_set():
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            asked = b""
            while b"\r\n\r\n" not in asked:
                piece = connection.recv(65536)
                if not piece:
                    return
                asked += piece
            for piece in self._script(asked):
                if self._over.is_set():
                    return
                connection.sendall(piece)
                self.sent += len(piece)


def head(status: str = "200 OK", **headers: str) -> bytes:
    """The beginning of an answer; underscores in the names of headers are hyphens."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status}\r\nConnection: close\r\n{lines}\r\n".encode("latin-1")


def endless(piece: bytes) -> Iterator[bytes]:
    """The same again and again."""
    while True:
        yield piece
