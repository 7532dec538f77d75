"""What a thread computes while it is away too long: its Python stack, looked at from another thread. Linux."""

from __future__ import annotations

import faulthandler
import os
import re
import tempfile
import threading
import time
from collections import Counter

_LOOK = 0.002  # seconds between looks
_DEEP = 14  # frames told
_FRAME = re.compile(r'  File "(?:.*/)?([^/"]+/[^/"]+|[^/"]+)", line (\d+) in (.*)')


class Stalls(threading.Thread):
    """Call `alive` from the thread that is watched, as often as it can; `found` says what it did when it could not.

    found: of each stall, by how many beats there were before it, its stacks with how often each was seen.
    """

    def __init__(self, longest: float) -> None:
        """longest: seconds of this thread's own processor time between two calls of `alive` that are no stall."""
        super().__init__(name="stalls", daemon=True)
        self.found: dict[int, Counter[str]] = {}
        self._watched = threading.get_ident()
        self._longest = longest
        self._beat = 0
        self._clock = time.pthread_getcpuclockid(self._watched)
        self._last = time.clock_gettime(self._clock)
        self._over = threading.Event()

    def alive(self) -> None:
        """A turn of the event loop has begun."""
        self._last = time.clock_gettime(self._clock)
        self._beat += 1

    def end(self) -> None:
        """Look no more."""
        self._over.set()
        self.join()

    def run(self) -> None:
        with tempfile.TemporaryFile() as file:
            while not self._over.wait(_LOOK):
                beat = self._beat
                if time.clock_gettime(self._clock) - self._last > self._longest:
                    stack = self._stack(file.fileno())
                    if beat == self._beat:
                        self.found.setdefault(beat, Counter())[stack] += 1

    def _stack(self, file: int) -> str:
        """The innermost frame first. faulthandler holds no frame while it looks: that would keep painters alive."""
        os.truncate(file, 0)
        os.lseek(file, 0, os.SEEK_SET)
        faulthandler.dump_traceback(file)
        os.lseek(file, 0, os.SEEK_SET)
        text = os.read(file, 1 << 20).decode("utf-8", "replace")
        own = next((t for t in text.split("\n\n") if f"0x{self._watched:016x}" in t), "")
        return " < ".join(f"{name} ({where}:{line})" for where, line, name in _FRAME.findall(own)[:_DEEP])
