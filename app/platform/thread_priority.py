"""Lowers the scheduling latency of the window's thread: EEVDF slice, Windows priority, and Python's switch interval.

It works little and seldom, so the engine loses nothing by it; but without, it would wait until what runs has used up
its time: docs/benchmarks.md has the figures. Neither way needs any rights.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading

SWITCH_INTERVAL = 0.001  # seconds that another thread may keep Python's lock when this one wants it; 5 ms unless told
EEVDF_SLICE = (
    100_000  # nanoseconds, the shortest that Linux gives: the shorter it is, the sooner a thread gets its turn
)
_SET_ATTRIBUTES = {"x86_64": 314, "aarch64": 274}  # number of the system call, by machine
_RESET_ON_FORK = 0x01  # threads that it starts, those of the engine above all, shall not inherit it
_ABOVE_NORMAL = 1  # THREAD_PRIORITY_ABOVE_NORMAL


class _Attributes(ctypes.Structure):
    """struct sched_attr of Linux. runtime: of ordinary threads, since Linux 6.12, the length of a turn."""

    _fields_ = (
        ("size", ctypes.c_uint32), ("policy", ctypes.c_uint32), ("flags", ctypes.c_uint64), ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32), ("runtime", ctypes.c_uint64), ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    )  # fmt: skip


def lower_latency() -> None:
    """Call on the window's thread. A system that knows no such thing, or forbids it, leaves its turns as they were."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    if sys.platform == "win32":
        kernel32 = ctypes.WinDLL("kernel32")
        kernel32.GetCurrentThread.restype = ctypes.c_void_p
        kernel32.SetThreadPriority.argtypes = (ctypes.c_void_p, ctypes.c_int)
        kernel32.SetThreadPriority(kernel32.GetCurrentThread(), _ABOVE_NORMAL)
    elif sys.platform.startswith("linux") and os.sched_getscheduler(0) == os.SCHED_OTHER:
        call = _SET_ATTRIBUTES.get(platform.machine())
        if call is None:
            return
        nice = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        wanted = _Attributes(ctypes.sizeof(_Attributes), os.SCHED_OTHER, _RESET_ON_FORK, nice, runtime=EEVDF_SLICE)
        ctypes.CDLL(None).syscall(ctypes.c_long(call), ctypes.c_long(0), ctypes.byref(wanted), ctypes.c_long(0))
