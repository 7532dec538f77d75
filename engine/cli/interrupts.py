"""Ctrl+C while something is under way: once to ask for its end, twice to end the program whatever holds it."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator

_OVER = b"\0"  # no signal has that number


@contextlib.contextmanager
def interrupts(first: Callable[[], None], second: Callable[[], None]) -> Iterator[None]:
    """Each is called once, on a thread of its own, `second` from the second time on.

    Python calls handlers of signals on the first thread, between two of its steps; where that thread is inside a native
    call, it calls none. What it writes to a descriptor, it writes in the signal itself.
    """
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)

    def listen() -> None:
        times = 0
        while (found := ours.recv(1)) not in (_OVER, b""):
            if found[0] == signal.SIGINT:
                times += 1
                (first if times == 1 else second)()

    thread = threading.Thread(target=listen, name="interrupts", daemon=True)
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    descriptor = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(descriptor)
        signal.signal(signal.SIGINT, before)
        with contextlib.suppress(OSError):
            theirs.send(_OVER)
        thread.join()
        ours.close()
        theirs.close()
