"""Tables in answers: their style, and column widths that suit their contents."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QTextDocument, QTextFrameFormat, QTextLength, QTextTable

from app.theme.tokens import Palette

_PADDING = 7
_AROUND = 2 * _PADDING + 5.0  # pixels beside the words of a cell: borders, and what is lost by rounding
_BREAK = re.compile(r"(?<=[-/])|\s")  # where a line may end
_WIDEST_WORD = 0.5  # of the whole width; what is longer than that may break


def style(document: QTextDocument, palette: Palette) -> None:
    """Style all tables of a document: lines, and a head of another shade."""
    for table in _tables(document):
        form = table.format()
        form.setBorder(1)
        form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        form.setBorderBrush(QBrush(QColor(palette.border)))
        form.setBorderCollapse(True)
        form.setCellPadding(_PADDING)
        form.setCellSpacing(0)
        form.setWidth(QTextLength())
        head = table.cellAt(0, 0).firstCursorPosition().block()
        if head.textDirection() == Qt.LayoutDirection.RightToLeft:
            form.setAlignment(Qt.AlignmentFlag.AlignRight)
        table.setFormat(form)
        for column in range(table.columns()):
            cell = table.cellAt(0, column)
            shade = cell.format()
            shade.setBackground(QColor(palette.code))
            cell.setFormat(shade)


def fit(document: QTextDocument, width: float) -> None:
    """Set column widths. Qt would give all columns the same, and break a name beside a number with room to spare."""
    for table in _tables(document):
        columns = [_wishes(table, column) for column in range(table.columns())]
        form = table.format()
        if sum(natural for natural, _ in columns) <= width:
            constraints, whole = [], QTextLength()
        else:
            percent = QTextLength.Type.PercentageLength
            constraints = [QTextLength(percent, 100 * w / width) for w in shared(columns, width)]
            whole = QTextLength(percent, 100)
        form.setColumnWidthConstraints(constraints)
        form.setWidth(whole)
        table.setFormat(form)


def shared(columns: list[tuple[float, float]], width: float) -> list[float]:
    """Widths that sum up to `width`. columns: what each needs to be on one line, and for its longest word.

    Every column gets its longest word where that is possible; the rest is shared out evenly among those that lack some.
    """
    least = [min(word, _WIDEST_WORD * width) for _, word in columns]
    room = width - sum(least)
    if room <= 0:
        weights = [(natural * word) ** 0.5 for (natural, _), word in zip(columns, least)]
        return [width * weight / sum(weights) for weight in weights]
    widths = list(least)
    lacking = sorted((max(0.0, natural - word), i) for i, ((natural, _), word) in enumerate(zip(columns, least)))
    for done, (lack, i) in enumerate(lacking):  # who lacks least first: what it does not take is left to the others
        more = min(lack, room / (len(lacking) - done))
        widths[i] += more
        room -= more
    return [w * width / sum(widths) for w in widths]


def _wishes(table: QTextTable, column: int) -> tuple[float, float]:
    """Width of the widest cell on one line, and of its longest word."""
    natural = word = 0.0
    for row in range(table.rows()):
        cell = table.cellAt(row, column)
        block, end = cell.firstCursorPosition().block(), cell.lastCursorPosition().block()
        while block.isValid():
            long = 0.0
            for run in [it.fragment() for it in block]:  # type: ignore[attr-defined]
                form = run.charFormat()
                if form.isImageFormat():
                    picture = form.toImageFormat().width()
                    long, word = long + picture, max(word, picture)
                    continue
                metrics = QFontMetricsF(form.font())
                long += metrics.horizontalAdvance(run.text())
                word = max([word, *(metrics.horizontalAdvance(part) for part in _BREAK.split(run.text()))])
            natural = max(natural, long)
            if block == end:
                break
            block = block.next()
    return natural + _AROUND, word + _AROUND


def _tables(document: QTextDocument) -> list[QTextTable]:
    return [frame for frame in document.rootFrame().childFrames() if isinstance(frame, QTextTable)]
