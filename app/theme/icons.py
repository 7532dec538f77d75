"""Icons drawn from our own SVG files in the colour that is asked for."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.theme import fonts
from engine import resources

_SIZES = (12, 15, 18, 20)  # beside text of the base size
_MARK_SIZES = (16, 24, 32, 48, 64, 128)  # of the application's own icon


@lru_cache(maxsize=64)
def _source(name: str) -> str:
    return resources.path("icons", f"{name}.svg").read_text(encoding="utf-8")


def pixmap(name: str, colour: str, size: int, scale: float = 1.0) -> QPixmap:
    """The icon `name` as a square of size x size logical pixels at the device pixel ratio `scale`."""
    return QPixmap(_drawn(name, colour, size, scale))  # the pixels are shared, and whoever changes them has others


@lru_cache(maxsize=256)  # some are asked for in every painting
def _drawn(name: str, colour: str, size: int, scale: float) -> QPixmap:
    renderer = QSvgRenderer(QByteArray(_source(name).replace("currentColor", colour).encode()))
    side = round(size * scale)
    made = QPixmap(QSize(side, side))
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    renderer.render(painter, QRectF(0, 0, side, side))
    painter.end()
    made.setDevicePixelRatio(scale)
    return made


def icon(name: str, colour: str) -> QIcon:
    """The icon `name` for buttons and menus, in every size and for screens of pixel ratio 1 and 2."""
    sizes = _MARK_SIZES if name == "underhill" else tuple(map(fonts.pixels, _SIZES))
    return _made(name, colour, sizes)


@lru_cache(maxsize=256)
def _made(name: str, colour: str, sizes: tuple[int, ...]) -> QIcon:
    made = QIcon()
    for size in sizes:
        for scale in (1.0, 2.0):
            made.addPixmap(pixmap(name, colour, size, scale))
    return made
