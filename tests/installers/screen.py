"""A screen that nobody sees, and a person at it: pictures of it, and keys."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtGui import QGuiApplication, QImage

_STEP = 0.02  # seconds between two looks
_GRID = 6  # pixels between two that are compared
_COLOURS = 12  # of a window that has more than its background: text is drawn in many shades
_TITLE = 40  # pixels; the window manager draws a frame and the title before the window has anything in it


class Screen:
    """Xvfb, of ``width`` × ``height`` pixels. Only one in a process. Ends with `close`."""

    def __init__(self, width: int, height: int) -> None:
        self._shown, writing = os.pipe()
        size = f"{width}x{height}x24"
        command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", size, "-nolisten", "tcp", "-noreset", "-ac"]
        self._server = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
        os.close(writing)
        self.name = ":" + os.read(self._shown, 16).decode().strip()
        os.environ |= {"DISPLAY": self.name, "QT_QPA_PLATFORM": "xcb"}
        self._manager = subprocess.Popen(["openbox", "--sm-disable"], stderr=subprocess.DEVNULL)
        self._application = QGuiApplication([])

    def close(self) -> None:
        """End it."""
        self._application.shutdown()
        self._manager.kill()
        self._server.kill()
        self._server.wait()

    def picture(self) -> QImage:
        """What is on it now."""
        return QGuiApplication.primaryScreen().grabWindow(0).toImage()

    def has_window(self) -> bool:
        """Whether something with text is on it, below a title."""
        seen = self.picture()
        rows = [{seen.pixel(x, y) for x in range(0, seen.width(), _GRID)} for y in range(0, seen.height(), _GRID)]
        top = next((number for number, row in enumerate(rows) if len(row) > 1), len(rows))
        return len(set().union(*rows[top + _TITLE // _GRID :])) > _COLOURS

    def press(self, *keys: str) -> None:
        """Press keys by their X names, as Return, in the window that has the focus."""
        subprocess.run(["xdotool", "key", "--delay", "60", *keys], check=True)

    def write(self, text: str) -> None:
        """Type a text."""
        subprocess.run(["xdotool", "type", "--delay", "20", text], check=True)

    def settle(self, longest: float = 8.0) -> QImage:
        """The picture once it has not changed for half a second, or after the longest time."""
        end, before, since = time.monotonic() + longest, self.picture(), time.monotonic()
        while time.monotonic() < end and time.monotonic() - since < 0.5:
            time.sleep(_STEP)
            now = self.picture()
            if now != before:
                before, since = now, time.monotonic()
        return before

    def save(self, file: Path) -> None:
        """Keep a picture of it."""
        file.parent.mkdir(parents=True, exist_ok=True)
        self.settle().save(str(file))


def wait_until(true: Callable[[], object], what: str, longest: float = 300.0) -> float:
    """Seconds until `true` was. Raises TimeoutError(what)."""
    begun = time.monotonic()
    while not true():
        if time.monotonic() - begun > longest:
            raise TimeoutError(what)
        time.sleep(_STEP)
    return time.monotonic() - begun
