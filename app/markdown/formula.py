"""LaTeX formulas: found in Markdown, rendered by ziamath in a sandboxed process, put into documents as images."""

from __future__ import annotations

import math
import re
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from PySide6.QtCore import QByteArray, QObject, QRect, QRectF, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFontInfo,
    QFontMetricsF,
    QGuiApplication,
    QImage,
    QPainter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextImageFormat,
)
from PySide6.QtSvg import QSvgRenderer

from app.markdown import typeset
from app.markdown.split import ENVIRONMENT
from app.theme import fonts
from app.theme.theme import Palette

_SIGN = re.compile(rf"`+|\\[\\$(\[]|\$\$?|{ENVIRONMENT}")  # where code, an escape or a formula may begin
_PLACE = 0xE000  # of Unicode's private characters, the first that stands for a formula while Markdown is read
_MOST = 6000  # formulas in a block
_SCALE = 1.16  # its typeface looks smaller than ours at the same size
_KEPT = 400  # formulas kept as images
_LONGEST = 4000  # characters; what is longer is no formula but a mistake
_PIXELS = 1_000_000  # of an image; a larger one is drawn less finely, for 400 may be kept

Key = tuple[str, bool, str, float]  # the formula, whether it stands alone, colour, pixels of size
_SCHEME = "formula:"
_OBJECT = "\ufffc"  # what Qt has in the text where an image is


@dataclass(frozen=True)
class FormulaImage:
    """A formula as an image, in logical pixels: its size, and how far below the line of writing it reaches."""

    image: QImage
    width: float
    height: float
    below: float


@dataclass(frozen=True)
class FormulaSource:
    """A formula in a text. source: as it was written, delimiters and all."""

    latex: str
    display: bool
    source: str


def extract_formulas(text: str) -> tuple[str, list[FormulaSource]]:
    """Replace each formula in Markdown by a private character; returns text and formulas. Code is left alone."""
    found: list[FormulaSource] = []
    parts: list[str] = []
    done = 0
    for start, end, latex, display in _formulas(text):
        if len(found) >= _MOST:
            break
        found.append(FormulaSource(latex, display, text[start:end]))
        parts += text[done:start], chr(_PLACE + len(found) - 1)
        done = end
    return "".join([*parts, text[done:]]), found


def _formulas(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """(start, end, the formula, whether it stands alone) of each, delimiters included.

    In time that grows as the text does, whatever is in it: what is looked for in vain is not looked for again.
    """
    ticks = _Ticks(text)
    missing: set[str] = set()  # what ends a formula and does not come any more
    at = 0
    while (sign := _SIGN.search(text, at)) is not None:
        start, at = sign.span()
        mark = sign[0]
        named = f"\\end{{{sign[1]}}}" if sign[1] else ""
        close = named or {"\\(": "\\)", "\\[": "\\]", "$$": "$$", "$": "$"}.get(mark, "")
        if mark[0] == "`":
            at = ticks.end(start, at)
        elif close and close not in missing:
            end = text.find(close[0] if mark == "$$" else close, at + 1)
            if end < 0:
                missing.add(close)
            elif _is_formula(text, start, at, end, mark):
                begun, over = (start, end + len(close)) if named else (at, end)  # its name says how it is set
                yield start, end + len(close), text[begun:over].strip(), bool(named) or mark in ("\\[", "$$")
                at = end + len(close)
        if mark == "$$" and at == start + 2:
            at -= 1  # the second may begin one


def _is_formula(text: str, start: int, at: int, end: int, mark: str) -> bool:
    """Whether text[at:end] is one, where `mark` stands at `start` and what ends it at `end`."""
    inside = text[at:end]
    if not inside.strip():
        return False
    if mark == "$$":
        return text.startswith("$$", end)
    if mark != "$":
        return True
    before, behind = text[start - 1 : start], text[end + 1 : end + 2]
    word = before == "$" or _is_word(before) or _is_word(behind)
    return not (word or "\n" in inside or inside[0].isspace() or inside[-1].isspace())


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()


class _Ticks:
    """Runs of backticks: code ends at the next run that is as long as the one it begins with."""

    def __init__(self, text: str) -> None:
        self._runs: dict[int, deque[int]] = {}
        for run in re.finditer("`+", text):
            self._runs.setdefault(len(run[0]), deque()).append(run.start())

    def end(self, start: int, at: int) -> int:
        """End of the code that begins with the run from `start` to `at`; that very place where it is none."""
        length = at - start
        runs = self._runs[length]
        while runs and runs[0] < at:
            runs.popleft()
        return runs.popleft() + length if runs else at


def placeholder(number: int) -> str:
    """Private character of formula `number`."""
    return chr(_PLACE + number)


class FormulaRenderer(QObject):
    """Renders and caches images of formulas. ready: some are there now, or are known to be wrong."""

    ready = Signal()
    _set = Signal(object, str)

    def __init__(self, parent: QObject | None = None, setter: Callable[..., str] = typeset.sandboxed_svg) -> None:
        super().__init__(parent)
        self._setter = setter
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="formulas")
        self._images: OrderedDict[Key, FormulaImage | None] = OrderedDict()
        self._asked: set[Key] = set()
        self._set.connect(self._take)  # a bound method: it is called on this object's thread
        self._tell = QTimer(self, singleShot=True, interval=30)
        self._tell.timeout.connect(self.ready)

    def image(self, formula: FormulaSource, colour: str) -> FormulaImage | None:
        """Image of a formula; None while it is being made, and for good where the formula is wrong."""
        key = _key(formula, colour)
        if key in self._images:
            self._images.move_to_end(key)
            return self._images[key]
        if key not in self._asked and len(formula.latex) <= _LONGEST:
            self._asked.add(key)
            self._worker.submit(self._make, key)
        return None

    def waiting(self, formula: FormulaSource, colour: str) -> bool:
        """Whether it is being made."""
        return _key(formula, colour) in self._asked

    def close(self) -> None:
        """Take no more work and end the thread."""
        typeset.end(self._worker)

    def _make(self, key: Key) -> None:
        latex, display, colour, size = key
        self._set.emit(key, self._setter(latex, display, size, colour))  # '': the source is shown instead

    @Slot(object, str)
    def _take(self, key: Key, svg: str) -> None:
        self._asked.discard(key)
        self._images[key] = _drawn(svg) if svg else None
        while len(self._images) > _KEPT:
            self._images.popitem(last=False)
        self._tell.start()


def _key(formula: FormulaSource, colour: str) -> Key:
    return formula.latex, formula.display, colour, QFontInfo(fonts.text()).pixelSize() * _SCALE


def _drawn(svg: str) -> FormulaImage | None:
    """Image at the resolution of the finest screen, or twice the usual; None where Qt cannot read it."""
    renderer = QSvgRenderer(QByteArray(svg.encode()))
    box = renderer.viewBoxF()
    if not renderer.isValid() or box.isEmpty():
        return None
    scale = max(2.0, *(s.devicePixelRatio() for s in QGuiApplication.screens()))
    width, height = min(math.ceil(box.width()), 8000), min(math.ceil(box.height()), 4000)
    scale = min(scale, math.sqrt(_PIXELS / (width * height)))
    image = QImage(round(width * scale), round(height * scale), QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(QColor(Qt.GlobalColor.transparent))
    painter = QPainter(image)
    renderer.render(painter, QRectF(0, 0, box.width() * scale, box.height() * scale))
    painter.end()
    foot = box.bottom() + height - box.height()  # 0 is the line of writing
    return FormulaImage(image, float(width), float(height), max(0.0, foot))


def insert_formulas(
    document: QTextDocument, found: list[FormulaSource], formulas: FormulaRenderer, palette: Palette, space: float
) -> bool:
    """Replace placeholders by images no wider than `space`, or by the source; True: some are still being made."""
    waiting = False
    for number, formula in enumerate(found):
        cursor = document.find(placeholder(number))
        if cursor.isNull():
            continue
        drawn = formulas.image(formula, palette.text)
        if drawn is not None:
            alone = cursor.block().text().strip() == placeholder(number)
            _insert(document, cursor, number, drawn, space, alone)
            continue
        waiting = formulas.waiting(formula, palette.text) or waiting
        form = QTextCharFormat(cursor.charFormat())
        form.setFontFamilies(fonts.code().families())
        form.setForeground(QColor(palette.muted))
        cursor.insertText(formula.source, form)
    return waiting


def source_text(cursor: QTextCursor, sources: list[str]) -> str:
    """Selected text as typed: formulas as their sources."""
    text = cursor.selection().toPlainText()
    if _OBJECT not in text:
        return text
    parts = text.split(_OBJECT)
    numbers = _numbers(cursor)
    shown = [sources[n] if n < len(sources) else "" for n in numbers]
    shown += [""] * (len(parts) - 1 - len(shown))
    return "".join(a + b for a, b in zip(parts, [*shown, ""]))


def _numbers(cursor: QTextCursor) -> list[int]:
    """Numbers of the selected formulas, in order."""
    document = cursor.document()
    found = []
    for position in range(cursor.selectionStart(), cursor.selectionEnd()):
        if document.characterAt(position) == _OBJECT:
            at = QTextCursor(document)
            at.setPosition(position + 1)
            name = at.charFormat().toImageFormat().name()
            found.append(int(name.removeprefix(_SCHEME)) if name.startswith(_SCHEME) else len(document.toPlainText()))
    return found


def _insert(
    document: QTextDocument, cursor: QTextCursor, number: int, drawn: FormulaImage, space: float, alone: bool
) -> None:
    """Qt can set an image's middle half an x above the line of writing, and no other height but that of its foot: so
    the image gets what it lacks above or below, until that is where its line of writing lies. alone: there is no
    line of writing to be on.
    """
    shrink = min(1.0, space / drawn.width)
    width, height, below = drawn.width * shrink, drawn.height * shrink, drawn.below * shrink
    lacking = 0.0 if alone else height - 2 * below - QFontMetricsF(fonts.text()).xHeight()
    above, under = max(0.0, -lacking), max(0.0, lacking)
    name = f"{_SCHEME}{number}"
    document.addResource(
        QTextDocument.ResourceType.ImageResource.value, QUrl(name), _padded(drawn, above / shrink, under / shrink)
    )
    form = QTextImageFormat()
    form.setName(name)
    form.setWidth(width)
    form.setHeight(height + above + under)
    form.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
    cursor.insertImage(form)


def _padded(drawn: FormulaImage, above: float, under: float) -> QImage:
    scale = drawn.image.height() / drawn.height
    top, bottom = round(above * scale), round(under * scale)
    if not top and not bottom:
        return drawn.image
    size = drawn.image.size()
    image = QImage(size.width(), size.height() + top + bottom, drawn.image.format())
    image.fill(QColor(0, 0, 0, 0))
    painter = QPainter(image)
    painter.drawImage(QRect(0, top, size.width(), size.height()), drawn.image)
    painter.end()
    return image
