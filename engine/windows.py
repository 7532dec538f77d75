"""What only Windows has: job objects, which end processes with their parent; error boxes, which are turned off; where
libraries are looked for; and the name by which the taskbar groups windows."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

_EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
_PROCESS_MEMORY, _KILL_ON_CLOSE = 0x100, 0x2000
_BEFORE = 200_000_000  # bytes that a Python process has committed once its libraries are there
_NO_BOXES = 0x0001 | 0x0002 | 0x8000  # SEM_FAILCRITICALERRORS, SEM_NOGPFAULTERRORBOX, SEM_NOOPENFILEERRORBOX
_NO_REPORT = 0x20  # WER_FAULT_REPORTING_NO_UI
_RUNTIME = "msvcp140.dll"
_APPLICATION = "Underhill.Underhill"  # as Microsoft has such ids formed, Company.Product


class _BasicLimits(ctypes.Structure):
    _fields_ = [
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", ctypes.c_uint32),
        ("SchedulingClass", ctypes.c_uint32),
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


def end_with_this_process(process: subprocess.Popen[bytes], memory: int = 0) -> None:
    """Put a process into a job object, so that it ends when this one does, however that is; elsewhere does nothing.

    memory: bytes that it may have beyond those that a Python process takes anyway; 0: no limit. Raises OSError.
    The job ends with its last handle, which this process has alone and which goes with `process`.
    """
    if sys.platform != "win32":
        return
    kernel = _kernel()
    kernel.CreateJobObjectW.restype = ctypes.c_void_p
    # A HANDLE is a pointer: without restype ctypes would take it for a 32-bit int, and pass on a cut one.
    job = ctypes.c_void_p(kernel.CreateJobObjectW(None, None))
    weakref.finalize(process, kernel.CloseHandle, job)
    limits = _ExtendedLimits()
    limits.BasicLimitInformation.LimitFlags = _KILL_ON_CLOSE | (_PROCESS_MEMORY if memory else 0)
    # Committed memory in all: what the imports take by themselves is added, as it cannot be measured before the process
    # runs. Linux' worker measures it (engine/sandbox/worker.py).
    limits.ProcessMemoryLimit = _BEFORE + memory if memory else 0
    handle = ctypes.c_void_p(int(process._handle))  # type: ignore[attr-defined,unused-ignore]
    size = ctypes.sizeof(limits)
    done = kernel.SetInformationJobObject(job, _EXTENDED_LIMITS, ctypes.byref(limits), size)
    if not (done and kernel.AssignProcessToJobObject(job, handle)):
        raise OSError(ctypes.get_last_error(), "the process cannot be put into a job object")


def no_error_boxes() -> None:
    """Have Windows show no box when this process or a child of it crashes, or meets a drive without a disk.

    Such a box keeps the process alive until somebody clicks on it, so that nobody hears of its end.
    """
    if sys.platform == "win32":
        kernel = _kernel()
        # Inherited by processes that are started later, so that theirs show no box either.
        kernel.SetErrorMode(kernel.GetErrorMode() | _NO_BOXES)
        kernel.WerSetFlags(_NO_REPORT)


def find_runtime_library() -> Path | None:
    """Have Windows find Microsoft's C++ runtime, to which torch is linked and which neither Windows nor Python brings.

    It lies among the window's libraries: in a release's qt folder, or where pip has installed them. Without it torch is
    not loaded where no other program has installed it, either. Returns the folder that is looked into now.
    """
    if sys.platform != "win32":
        return None
    qt = importlib.util.find_spec("shiboken6")  # not imported: the engine has nothing to do with it
    places = [Path(__file__).parents[2] / "qt" / "shiboken6", *([Path(qt.origin).parent] if qt and qt.origin else [])]
    for place in places:
        if (place / _RUNTIME).is_file():
            os.add_dll_directory(str(place))
            return place
    return None


def name_application() -> None:
    """Tell the taskbar whose windows these are; otherwise they would be grouped, and pinned, as Python's."""
    if sys.platform == "win32":
        ctypes.WinDLL("shell32").SetCurrentProcessExplicitAppUserModelID(ctypes.c_wchar_p(_APPLICATION))


def _kernel() -> Any:
    return ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
