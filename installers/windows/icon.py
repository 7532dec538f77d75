"""Draws an SVG into an .ico of the sizes that Windows shows: `python installers/windows/icon.py IN.svg OUT.ico`."""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

SIZES = (16, 20, 24, 32, 48, 64, 256)


def draw(svg: Path, side: int) -> bytes:
    """A PNG of so many pixels."""
    image = QImage(side, side, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    QSvgRenderer(str(svg)).render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(buffer.data().data())


def main() -> None:
    """Write the icon: a directory of images, then PNGs, which Windows takes since Vista."""
    svg, target = map(Path, sys.argv[1:])
    QGuiApplication([])
    pictures = [draw(svg, side) for side in SIZES]
    at = 6 + 16 * len(pictures)
    made = struct.pack("<HHH", 0, 1, len(pictures))
    for side, picture in zip(SIZES, pictures):
        made += struct.pack("<BBBBHHII", side % 256, side % 256, 0, 0, 1, 32, len(picture), at)
        at += len(picture)
    target.write_bytes(made + b"".join(pictures))


if __name__ == "__main__":
    main()
