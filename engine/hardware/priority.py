"""Threads that give way to whatever else the computer is doing."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading

NICE = 10
_BELOW_NORMAL = -1  # THREAD_PRIORITY_BELOW_NORMAL


def give_way() -> None:
    """Lower the priority of the calling thread, for good: it cannot be raised again."""
    if sys.platform == "win32":
        kernel32 = ctypes.WinDLL("kernel32")
        kernel32.GetCurrentThread.restype = ctypes.c_void_p
        kernel32.SetThreadPriority.argtypes = (ctypes.c_void_p, ctypes.c_int)
        kernel32.SetThreadPriority(kernel32.GetCurrentThread(), _BELOW_NORMAL)
    elif sys.platform.startswith("linux"):  # there, a thread has a priority of its own
        thread = threading.get_native_id()
        with contextlib.suppress(OSError):  # forbidden in some sandboxes; then it goes on as it is
            os.setpriority(os.PRIO_PROCESS, thread, max(NICE, os.getpriority(os.PRIO_PROCESS, thread)))
