"""Painting stays on the window's thread: helpers of Qt's would have to wait for a core that the engine holds."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.waiting import PROCESS

PAINTS = """
import app
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter
image = QImage(2000, 2000, QImage.Format.Format_ARGB32_Premultiplied)
image.fill(QColor("white"))
painter = QPainter(image)
painter.setRenderHint(QPainter.RenderHint.Antialiasing)
painter.setBrush(QColor(10, 20, 30, 80))
painter.drawEllipse(QRectF(10, 10, 1900, 1900))
painter.end()
image.scaled(900, 900).convertToFormat(QImage.Format.Format_RGB32)
import os
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system does not say")
def test_qt_paints_without_threads_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", PAINTS], capture_output=True, text=True, check=True, timeout=PROCESS)
    assert int(done.stdout) == 1
