"""The processor: its name, its cores, and which of them are the fast ones."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import struct
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import psutil

SYSTEM = Path("/sys/devices")
CPUINFO = Path("/proc/cpuinfo")
AS_FAST = 0.8  # of the fastest core's capacity, from which on a core counts as one of the fast ones
NICE = 10  # half of what Linux gives: an import takes what is left over, and still ends on a busy computer
_BELOW_NORMAL = -1  # THREAD_PRIORITY_BELOW_NORMAL
PROCESSOR_CORE = 0  # RelationProcessorCore
HEADER = struct.Struct("<II")  # relationship, bytes of this entry
# winnt.h: 8 bytes of header, then PROCESSOR_RELATIONSHIP begins with Flags and EfficiencyClass, a byte each.
CLASS_AT = 9  # EfficiencyClass: the greater, the faster


@dataclass(frozen=True)
class Processor:
    """physical: cores, a core with two threads counted once. performance: of these, the fast ones; all where there is
    one kind. logical: hardware threads. What this process may not use is left out."""

    name: str
    physical: int
    performance: int
    logical: int


def processor() -> Processor:
    """This computer's, as far as this process may use it."""
    found = None
    if sys.platform == "win32":
        found = _windows_cores()
    elif sys.platform.startswith("linux"):
        found = linux_cores(os.sched_getaffinity(0))
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if found is None:
        physical = max(1, min(psutil.cpu_count(logical=False) or allowed, allowed))
        found = physical, physical
    return Processor(name(), *found, allowed)


def linux_cores(allowed: set[int], system: Path = SYSTEM) -> tuple[int, int] | None:
    """(physical, fast) cores among the threads `allowed`; None where /sys does not say.

    Fast ones: what Intel's hybrid processors list as cpu_core, else those whose cpu_capacity is near the greatest.
    """
    threads: dict[int, str] = {}
    for number in sorted(allowed):
        topology = system / "system" / "cpu" / f"cpu{number}" / "topology"
        siblings = _text(topology / "core_cpus_list") or _text(topology / "thread_siblings_list")
        if not siblings:
            return None
        threads[number] = siblings
    big = _numbers(_text(system / "cpu_core" / "cpus"))
    if big and _text(system / "cpu_atom" / "cpus"):
        fast = {number for number in threads if number in big}
    else:
        capacity = {n: _text(system / "system" / "cpu" / f"cpu{n}" / "cpu_capacity") for n in threads}
        known = {n: int(text) for n, text in capacity.items() if text.isdigit()}
        most = max(known.values(), default=0)
        fast = {n for n in threads if known.get(n, most) >= AS_FAST * most}
    physical = len(set(threads.values()))
    return physical, len({threads[n] for n in fast}) or physical


def name() -> str:
    """As its maker calls it."""
    for line in _text(CPUINFO).splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model"):
            return value.strip()
    return platform.processor() or platform.machine()


def _numbers(text: str) -> set[int]:
    """Of a list as the kernel writes it: '0-3,8'."""
    found: set[int] = set()
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def give_way() -> None:
    """Lower the priority of the calling thread, for good: it cannot be raised again."""
    if sys.platform == "win32":
        kernel32 = ctypes.WinDLL("kernel32")
        # A handle has 64 bits; int, the default, has 32.
        kernel32.GetCurrentThread.restype = ctypes.c_void_p
        kernel32.SetThreadPriority.argtypes = (ctypes.c_void_p, ctypes.c_int)
        kernel32.SetThreadPriority(kernel32.GetCurrentThread(), _BELOW_NORMAL)
    elif sys.platform.startswith("linux"):  # there, a thread has a priority of its own
        thread = threading.get_native_id()
        with contextlib.suppress(OSError):  # forbidden in some sandboxes; then it goes on as it is
            # By the thread's own id: Linux takes it where POSIX speaks of processes, and then means that thread alone
            # (setpriority(2), notes).
            os.setpriority(os.PRIO_PROCESS, thread, max(NICE, os.getpriority(os.PRIO_PROCESS, thread)))


def count_windows_cores(entries: bytes) -> tuple[int, int] | None:
    """(physical, fast) cores of a buffer of SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX; None where there are none."""
    classes: list[int] = []
    at = 0
    while at + HEADER.size <= len(entries):
        relationship, length = HEADER.unpack_from(entries, at)
        if length <= CLASS_AT or at + length > len(entries):
            break
        if relationship == PROCESSOR_CORE:
            classes.append(entries[at + CLASS_AT])
        at += length
    return (len(classes), classes.count(max(classes))) if classes else None


def _windows_cores() -> tuple[int, int] | None:
    """(physical, fast) cores of this computer; None where Windows does not say."""
    if sys.platform != "win32":
        return None
    # No argtypes: its pointers are made by ctypes, which passes them whole; psutil counts no kinds of cores.
    ask = ctypes.WinDLL("kernel32").GetLogicalProcessorInformationEx
    length = ctypes.c_uint32(0)
    ask(PROCESSOR_CORE, None, ctypes.byref(length))  # says how much room it wants
    entries = ctypes.create_string_buffer(length.value)
    # The entries are copied before the buffer goes; it may have grown since the first call, then this one fails.
    if not length.value or not ask(PROCESSOR_CORE, entries, ctypes.byref(length)):
        return None
    return count_windows_cores(entries.raw[: length.value])
