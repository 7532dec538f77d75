"""Free memory of graphics cards without a context on them, by NVIDIA's management library (NVML).

The driver API tells free memory only to who has a context, and a context takes 100 to 300 MB of the card: too much for
looking. NVML comes with every driver and takes none.
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_uint64, c_void_p

from engine.cuda.driver import Library

_SYSTEM32 = 0x800  # LOAD_LIBRARY_SEARCH_SYSTEM32


class _Memory(ctypes.Structure):
    """nvmlMemory_t."""

    _fields_ = (("total", c_uint64), ("free", c_uint64), ("used", c_uint64))


_SIGNATURES = {
    "nvmlInit_v2": (),
    "nvmlShutdown": (),
    "nvmlDeviceGetHandleByPciBusId_v2": (c_char_p, POINTER(c_void_p)),
    "nvmlDeviceGetMemoryInfo": (c_void_p, POINTER(_Memory)),
}


def management_library() -> Library | None:
    """NVML, or None where there is none: then free memory is not known before a context is made."""
    try:
        if sys.platform == "win32":
            return ctypes.WinDLL("nvml.dll", winmode=_SYSTEM32)
        return ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None


def free_memory(library: Library | None, bus: str) -> int | None:
    """Bytes free on the card at this PCI address; None where nobody can tell."""
    if library is None:
        return None
    try:
        functions = {name: getattr(library, name) for name in _SIGNATURES}
    except AttributeError:
        return None
    for name, function in functions.items():
        function.argtypes, function.restype = _SIGNATURES[name], c_int
    if functions["nvmlInit_v2"]():
        return None
    try:
        card, found = c_void_p(), _Memory()
        if functions["nvmlDeviceGetHandleByPciBusId_v2"](bus.encode(), byref(card)):
            return None
        return None if functions["nvmlDeviceGetMemoryInfo"](card, byref(found)) else int(found.free)
    finally:
        functions["nvmlShutdown"]()
