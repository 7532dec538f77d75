"""The window on a real X display: Qt's own platform plugin, the system's libraries, and pixels."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.waiting import LONGEST, PROCESS

pytestmark = pytest.mark.long

# A program of its own, since this process already has Qt off screen.
COUNT_COLOURS = """
from PySide6.QtGui import QGuiApplication
app = QGuiApplication([])
image = app.primaryScreen().grabWindow(0).toImage().scaled(320, 200)
print(len({image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}))
"""


def colours(environment: dict[str, str]) -> int:
    """Different colours on the screen; an empty one has one."""
    command = [sys.executable, "-c", COUNT_COLOURS]
    return int(subprocess.run(command, env=environment, capture_output=True, check=True, timeout=LONGEST).stdout)


@pytest.mark.display
def test_the_window_is_drawn_on_a_display(xvfb: str, qtbot: QtBot, tmp_path: Path, root: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "WAYLAND_DISPLAY"}
    environment |= {"DISPLAY": xvfb, "QT_QPA_PLATFORM": "xcb", "UNDERHILL_HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    assert colours(environment) == 1
    with open(tmp_path / "log", "w", encoding="utf-8") as log:
        window = subprocess.Popen([sys.executable, "-m", "app"], cwd=root, env=environment, stdout=log, stderr=log)
    try:
        qtbot.waitUntil(lambda: window.poll() is not None or colours(environment) > 20, timeout=int(1000 * PROCESS))
        assert window.poll() is None, (tmp_path / "log").read_text()
    finally:
        window.kill()
        window.wait(LONGEST)


# Qt gives labels and buttons the fonts of a GNOME desktop, and of Windows menus, again with every style sheet.
SHOW_FONTS = """
import sys
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QPushButton
from app.theme.theme import Theme
app = QApplication([])
theme = Theme(app)
for _ in range(2):
    print({QApplication.font(kind.__name__).family() for kind in (QLabel, QPushButton, QMenu)} - {app.font().family()})
    theme.set_mode("dark")
"""


@pytest.mark.display
def test_no_part_of_the_window_has_the_fonts_of_the_desktop(xvfb: str, root: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS")}
    environment |= {"DISPLAY": xvfb, "QT_QPA_PLATFORM": "xcb", "XDG_CURRENT_DESKTOP": "GNOME", "LC_ALL": "C.UTF-8"}
    command = [sys.executable, "-c", SHOW_FONTS]
    told = subprocess.run(command, cwd=root, env=environment, capture_output=True, check=True, timeout=LONGEST)
    assert told.stdout.decode().split("\n") == ["set()", "set()", ""]
