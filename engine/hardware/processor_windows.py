"""Cores as Windows lists them (GetLogicalProcessorInformationEx)."""

from __future__ import annotations

import ctypes
import struct
import sys

PROCESSOR_CORE = 0  # RelationProcessorCore
HEADER = struct.Struct("<II")  # relationship, bytes of this entry
CLASS_AT = 9  # EfficiencyClass: the greater, the faster


def counted(entries: bytes) -> tuple[int, int] | None:
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


def cores() -> tuple[int, int] | None:
    """(physical, fast) cores of this computer; None where Windows does not say."""
    if sys.platform != "win32":
        return None
    ask = ctypes.WinDLL("kernel32").GetLogicalProcessorInformationEx
    length = ctypes.c_uint32(0)
    ask(PROCESSOR_CORE, None, ctypes.byref(length))  # says how much room it wants
    entries = ctypes.create_string_buffer(length.value)
    # The entries are copied before the buffer goes; it may have grown since the first call, then this one fails.
    if not length.value or not ask(PROCESSOR_CORE, entries, ctypes.byref(length)):
        return None
    return counted(entries.raw[: length.value])
