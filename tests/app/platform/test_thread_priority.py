"""The window's thread gets its turn soon; the threads that it starts are ordinary ones."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading
from collections.abc import Callable

import pytest

from app.application import Application
from app.platform.main_thread import EEVDF_SLICE, SWITCH_INTERVAL, _Attributes, lower_latency

GET_ATTRIBUTES = {"x86_64": 315, "aarch64": 275}


def attributes() -> tuple[int, int]:
    """Of the calling thread: the length of its turns in nanoseconds, and how nice it is."""
    size = ctypes.sizeof(_Attributes)
    found = _Attributes()
    call = ctypes.c_long(GET_ATTRIBUTES[platform.machine()])
    zero = ctypes.c_long(0)
    assert ctypes.CDLL(None).syscall(call, zero, ctypes.byref(found), ctypes.c_long(size), zero) == 0
    return int(found.runtime), int(found.nice)


def _knows_turns() -> bool:
    if not sys.platform.startswith("linux") or platform.machine() not in GET_ATTRIBUTES:
        return False
    major, minor = (int(part) for part in platform.release().split(".")[:2])
    return (major, minor) >= (6, 12)


turns = pytest.mark.skipif(not _knows_turns(), reason="the system knows no turns of another length")


@turns
def test_only_the_calling_thread_has_short_turns() -> None:
    seen: dict[str, tuple[int, int]] = {}

    def work() -> None:
        lower_latency()
        seen["window"] = attributes()
        child = threading.Thread(target=lambda: seen.update(child=attributes()))
        child.start()
        child.join()

    nice = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen["window"] == (EEVDF_SLICE, nice)
    assert seen["child"][0] != EEVDF_SLICE
    assert seen["child"][1] == nice


@turns
def test_the_window_asks_for_it(launch: Callable[..., Application]) -> None:
    launch()
    assert attributes()[0] == EEVDF_SLICE


def test_the_window_does_not_wait_long_for_python(launch: Callable[..., Application]) -> None:
    launch()
    assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL)
