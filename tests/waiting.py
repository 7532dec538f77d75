"""Waiting in tests for what another thread or process does, however busy the computer is."""

from __future__ import annotations

import time
from collections.abc import Callable

LONGEST = 60.0  # seconds; nothing that is waited for takes a tenth of it
PROCESS = 240.0  # seconds for one that has everything to import first; a test may take 300


def until(true: Callable[[], object], what: str = "it never came") -> None:
    """Back as soon as `true` is; AssertionError(what) where it never gets so."""
    end = time.monotonic() + LONGEST
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.005)
