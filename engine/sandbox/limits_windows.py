"""A job object that ends a process when it wants more memory than it may have, or when this process ends."""

from __future__ import annotations

import ctypes
import subprocess
from ctypes import wintypes

_EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
_PROCESS_MEMORY, _KILL_ON_CLOSE = 0x100, 0x2000  # JOB_OBJECT_LIMIT_..., winnt.h
_BEFORE = 200_000_000  # bytes that a Python process has committed once its libraries are there


# JOBOBJECT_BASIC_LIMIT_INFORMATION and _EXTENDED_ of winnt.h: Windows refuses another size.
class _BasicLimits(ctypes.Structure):
    _fields_ = [
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", wintypes.DWORD),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", wintypes.DWORD),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", wintypes.DWORD),
        ("SchedulingClass", wintypes.DWORD),
    ]


class _ExtendedLimits(ctypes.Structure):
    _fields_ = [
        ("BasicLimitInformation", _BasicLimits),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    ]


def limit_memory(process: subprocess.Popen[bytes], memory: int) -> None:
    """memory: bytes beyond those that a Python process takes anyway. Raises OSError.

    The handle of the job is kept with the process: when both are gone, here or because this process ended, so is what
    runs in it.
    """
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
    # A handle has 64 bits; as int, the default, it would be cut.
    kernel.CreateJobObjectW.restype = wintypes.HANDLE
    job = kernel.CreateJobObjectW(None, None)
    limits = _ExtendedLimits()
    limits.BasicLimitInformation.LimitFlags = _PROCESS_MEMORY | _KILL_ON_CLOSE
    limits.ProcessMemoryLimit = _BEFORE + memory
    handle = wintypes.HANDLE(int(process._handle))  # type: ignore[attr-defined,unused-ignore]
    done = kernel.SetInformationJobObject(
        wintypes.HANDLE(job), _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
    ) and kernel.AssignProcessToJobObject(wintypes.HANDLE(job), handle)
    if not done:
        process.kill()
        raise OSError(ctypes.get_last_error(), "the helper process could not be limited")  # type: ignore[attr-defined,unused-ignore]
    process.underhill_job = job  # type: ignore[attr-defined]
