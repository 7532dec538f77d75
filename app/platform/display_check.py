"""Checks for a usable display before Qt would abort the process for want of one."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from pathlib import Path


def no_display_reason() -> str:
    """A sentence why no window can be opened here; empty where one can. Asks nothing of Qt."""
    chosen = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0].split(";")[0]
    if not sys.platform.startswith("linux") or chosen in ("offscreen", "minimal", "vnc", "eglfs", "linuxfb"):
        return ""
    if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
        return "There is no display here, so the window cannot be opened."
    if os.environ.get("WAYLAND_DISPLAY") and chosen != "xcb":
        return ""
    return _missing_library() or _unreachable_server()


def _missing_library() -> str:
    """Qt's own message names the wrong library; the loader's names the right one."""
    qt = importlib.util.find_spec("PySide6")
    if qt is None or not qt.submodule_search_locations:
        return "Qt (PySide6) is not installed, so the window cannot be opened."
    plugin = Path(qt.submodule_search_locations[0]) / "Qt" / "plugins" / "platforms" / "libqxcb.so"
    if plugin.exists():
        try:
            ctypes.CDLL(str(plugin), mode=os.RTLD_LAZY | os.RTLD_LOCAL)
        except OSError as error:
            library = str(error).split(":")[0]
            return f"The system library {library} is missing, so the window cannot be opened."
    return ""


def _unreachable_server() -> str:
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return "The system library libxcb.so.1 is missing, so the window cannot be opened."
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(None, None)
    failed = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    if failed:
        return f"The display {os.environ['DISPLAY']} does not answer, so the window cannot be opened."
    return ""
