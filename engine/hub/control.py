"""Pausing, resuming and stopping a download from another thread, at once: even one that waits for the network."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import httpx2

from engine.errors import Kind, UnderhillError
from engine.translatable import msg


class Control:
    """One download's. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._paused = False
        self._stopped = False
        self._open: set[httpx2.Response] = set()
        self.pauses = 0  # so far: what fails while one begins, even one that is over, fails because of it

    def pause(self) -> None:
        """Close the connections and wait; what has arrived stays."""
        with self._changed:
            self._paused = True
            self.pauses += 1
            self._hang_up()

    def resume(self) -> None:
        """Go on after a pause."""
        with self._changed:
            self._paused = False
            self._changed.notify_all()

    def cancel(self) -> None:
        """End it. What has arrived stays, for another download of the same model."""
        with self._changed:
            self._stopped = True
            self._hang_up()
            self._changed.notify_all()

    @property
    def paused(self) -> bool:
        """Whether it waits for `resume`."""
        return self._paused

    @property
    def stopped(self) -> bool:
        """Whether it was cancelled."""
        return self._stopped

    @property
    def interrupted(self) -> bool:
        """Whether nothing is to be fetched right now."""
        return self._paused or self._stopped

    def hold(self) -> None:
        """Wait while paused. Raises UnderhillError(CANCELLED)."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or not self._paused)
            self._check()

    def sleep(self, seconds: float) -> None:
        """Wait so long, or until there is something else to do. Raises UnderhillError(CANCELLED)."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._paused, seconds)
            self._check()

    @contextlib.contextmanager
    def during(self, response: httpx2.Response) -> Iterator[None]:
        """While this is being read, pausing and cancelling hang up on it."""
        with self._changed:
            self._open.add(response)
            if self.interrupted:
                self._hang_up()
        try:
            yield
        finally:
            with self._changed:
                self._open.discard(response)

    def _check(self) -> None:
        if self._stopped:
            raise UnderhillError(
                Kind.CANCELLED, msg("The download was stopped."), msg("Start it again to continue where it stopped.")
            )

    def _hang_up(self) -> None:
        """Wake whoever waits for bytes. Closing from here would not wake them; shutting the connection down does."""
        for response in self._open:
            stream = response.extensions.get("network_stream")
            connection = stream.get_extra_info("socket") if stream is not None else None
            if connection is not None:
                with contextlib.suppress(OSError):
                    # past TLS, whose own shutdown would take its state from under whoever reads
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)
