"""Formulas in LaTeX: found in Markdown, set by ziamath on a thread of its own, kept as pictures."""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from PySide6.QtCore import QByteArray, QObject, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QFontInfo, QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from app.theme import fonts

_FORMULA = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`)[\s\S]*?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<escaped>\\\\|\\\$)"
    r"|\\\((?P<round>[\s\S]+?)\\\)"
    r"|\\\[(?P<square>[\s\S]+?)\\\]"
    r"|\$\$(?P<double>[^$]+?)\$\$"
    r"|(?<![\w$])\$(?P<single>(?=\S)[^$\n]+?(?<=\S))\$(?!\w)"
)
_RAISED = re.compile(r"(\\begin\{(\w+)\}[\s\S]*?\\end\{\2\})(?=\s*[\^_])")  # refused unless in braces
_PLACE = 0xE000  # of Unicode's private characters, the first that stands for a formula while Markdown is read
_MOST = 6000  # formulas in a block
_SCALE = 1.16  # its typeface looks smaller than ours at the same size
_KEPT = 400  # formulas kept as pictures
_LONGEST = 4000  # characters; what is longer is no formula but a mistake

Key = tuple[str, bool, str, float]  # the formula, whether it stands alone, colour, pixels of size


@dataclass(frozen=True)
class Picture:
    """A formula as an image, in logical pixels: its size, and how far below the line of writing it reaches."""

    image: QImage
    width: float
    height: float
    below: float


@dataclass(frozen=True)
class Found:
    """A formula in a text. source: as it was written, delimiters and all."""

    latex: str
    display: bool
    source: str


def take_out(text: str) -> tuple[str, list[Found]]:
    """Markdown with a private character in place of each formula, and the formulas. Code is left alone."""
    found: list[Found] = []

    def put(match: re.Match[str]) -> str:
        latex = match["round"] or match["square"] or match["double"] or match["single"]
        if not latex or not latex.strip() or len(found) >= _MOST:
            return match[0]
        found.append(Found(latex.strip(), bool(match["square"] or match["double"]), match[0]))
        return chr(_PLACE + len(found) - 1)

    if "$" not in text and "\\(" not in text and "\\[" not in text:
        return text, found
    return _FORMULA.sub(put, text), found


def stand_in(number: int) -> str:
    """The private character of formula `number`."""
    return chr(_PLACE + number)


def to_svg(latex: str, display: bool, size: float, colour: str) -> str:
    """A formula as SVG whose line of writing is at 0. Any exception: it cannot be set."""
    import ziafont  # half a second with its typeface, and most chats hold no formula
    import ziamath

    latex = _RAISED.sub(r"{\1}", latex)
    ziafont.config.svg2 = False  # no <symbol>: Qt draws SVG 1.2 Tiny
    set_ = ziamath.Latex(latex, size=size, color=colour, inline=not display)
    return str(set_.svg())


class Formulas(QObject):
    """Pictures of formulas. ready: some that were asked for are there now, or are known to be wrong."""

    ready = Signal()
    _set = Signal(object, str)

    def __init__(self, parent: QObject | None = None, setter: Callable[..., str] = to_svg) -> None:
        super().__init__(parent)
        self._setter = setter
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="formulas")
        self._pictures: OrderedDict[Key, Picture | None] = OrderedDict()
        self._asked: set[Key] = set()
        self._set.connect(self._take)  # a bound method: it is called on this object's thread
        self._tell = QTimer(self, singleShot=True, interval=30)
        self._tell.timeout.connect(self.ready)

    def picture(self, formula: Found, colour: str) -> Picture | None:
        """The picture; None while it is being made, and for good where the formula is wrong."""
        key = _key(formula, colour)
        if key in self._pictures:
            self._pictures.move_to_end(key)
            return self._pictures[key]
        if key not in self._asked and len(formula.latex) <= _LONGEST:
            self._asked.add(key)
            self._worker.submit(self._make, key)
        return None

    def waiting(self, formula: Found, colour: str) -> bool:
        """Is it being made?"""
        return _key(formula, colour) in self._asked

    def close(self) -> None:
        """Take no more work and end the thread."""
        self._worker.shutdown(wait=True, cancel_futures=True)

    def _make(self, key: Key) -> None:
        latex, display, colour, size = key
        try:
            svg = self._setter(latex, display, size, colour)
        except Exception:  # whatever a parser says to what is no LaTeX: the source is shown instead
            svg = ""
        self._set.emit(key, svg)

    @Slot(object, str)
    def _take(self, key: Key, svg: str) -> None:
        self._asked.discard(key)
        self._pictures[key] = _drawn(svg) if svg else None
        while len(self._pictures) > _KEPT:
            self._pictures.popitem(last=False)
        self._tell.start()


def _key(formula: Found, colour: str) -> Key:
    return formula.latex, formula.display, colour, QFontInfo(fonts.text()).pixelSize() * _SCALE


def _drawn(svg: str) -> Picture | None:
    """The image at the resolution of the finest screen, or twice the usual; None where Qt cannot read it."""
    renderer = QSvgRenderer(QByteArray(svg.encode()))
    box = renderer.viewBoxF()
    if not renderer.isValid() or box.isEmpty():
        return None
    scale = max(2.0, *(s.devicePixelRatio() for s in QGuiApplication.screens()))
    width, height = min(math.ceil(box.width()), 8000), min(math.ceil(box.height()), 4000)
    image = QImage(round(width * scale), round(height * scale), QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(QColor(Qt.GlobalColor.transparent))
    painter = QPainter(image)
    renderer.render(painter, QRectF(0, 0, box.width() * scale, box.height() * scale))
    painter.end()
    foot = box.bottom() + height - box.height()  # 0 is the line of writing
    return Picture(image, float(width), float(height), max(0.0, foot))
