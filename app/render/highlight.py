"""Colours for code, worked out in slices so that a long listing never blocks the window."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextDocument
from shiboken6 import isValid

_BUDGET = 0.004  # seconds per turn of the event loop
_SPANS = 40  # tokens between looks at the clock

Span = tuple[int, int, str]


def spans(code: str, language: str) -> Iterator[Span]:
    """(start, length, style) of each coloured run; none where the language is not known."""
    from pygments import lexers, token, util  # 30 ms to import, and most chats hold no code

    styles = (
        (token.Comment, "comment"), (token.String, "string"), (token.Number, "number"), (token.Keyword, "keyword"),
        (token.Name.Builtin, "builtin"), (token.Name.Function, "name"), (token.Name.Class, "name"),
        (token.Name.Decorator, "builtin"), (token.Name.Tag, "keyword"), (token.Name.Attribute, "name"),
        (token.Operator.Word, "keyword"), (token.Operator, "operator"), (token.Error, "error"),
    )  # fmt: skip
    try:
        lexer = lexers.get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except util.ClassNotFound:
        return
    at = 0
    for kind, text in lexer.get_tokens(code):
        style = next((name for family, name in styles if kind in family), "")  # type: ignore[comparison-overlap]
        if style and text.strip():
            yield at, len(text), style
        at += len(text)


class Highlighter(QObject):
    """Colours documents one after the other. coloured: this document has its colours now."""

    coloured = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: deque[tuple[QTextDocument, Iterator[Span], dict[str, str]]] = deque()
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._work)

    def add(self, document: QTextDocument, language: str, colours: dict[str, str]) -> None:
        """Colour a document of plain code. colours: style name to '#rrggbb'."""
        self._jobs.append((document, spans(document.toPlainText(), language), colours))
        self._timer.start()

    @Slot()
    def _work(self) -> None:
        end = time.perf_counter() + _BUDGET
        while self._jobs:
            document, runs, colours = self._jobs[0]
            if not isValid(document) or self._slice(document, runs, colours, end):
                self._jobs.popleft()
            if time.perf_counter() > end:
                return
        self._timer.stop()

    def _slice(self, document: QTextDocument, runs: Iterator[Span], colours: dict[str, str], end: float) -> bool:
        """Colour until the time is up; True when the document is done."""
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        done = False
        while not done and time.perf_counter() < end:
            for _ in range(_SPANS):
                run = next(runs, None)
                if run is None:
                    done = True
                    break
                start, length, style = run
                form = QTextCharFormat()
                form.setForeground(QColor(colours[style]))
                cursor.setPosition(start)
                cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
                cursor.mergeCharFormat(form)
        cursor.endEditBlock()
        if done:
            self.coloured.emit(document)
        return done
