"""Syntax highlighting: computed in a sandboxed process, put into the document in slices."""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextDocument
from shiboken6 import isValid

from app.markdown import typeset

_BUDGET = 0.003  # seconds per turn of the event loop
_SPANS = 20  # runs between looks at the clock

Span = tuple[int, int, str]


class Highlighter(QObject):
    """Highlights documents one after the other. coloured: this document has its colours now."""

    coloured = Signal(object)
    _found = Signal(object, object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="highlight")
        self._jobs: deque[tuple[QTextDocument, deque[Span], dict[str, str]]] = deque()
        self._found.connect(self._take)  # a bound method: it is called on this object's thread
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._work)

    def add(self, document: QTextDocument, language: str, colours: dict[str, str]) -> None:
        """Highlight a document of plain code. colours: style name to '#rrggbb'."""
        self._worker.submit(self._find, document, document.toPlainText(), language, colours)

    @Slot()
    def prepare(self) -> None:
        """Start the process and load the library before the first code comes."""
        self._worker.submit(typeset.sandboxed_spans, "x = 1", "python")

    def close(self) -> None:
        """Take no more work and end the thread."""
        typeset.end(self._worker)

    def _find(self, document: QTextDocument, code: str, language: str, colours: dict[str, str]) -> None:
        self._found.emit(document, typeset.sandboxed_spans(code, language), colours)

    @Slot(object, object, object)
    def _take(self, document: QTextDocument, found: list[Span], colours: dict[str, str]) -> None:
        self._jobs.append((document, deque(found), colours))
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

    def _slice(self, document: QTextDocument, runs: deque[Span], colours: dict[str, str], end: float) -> bool:
        """Colour until the time is up; True when the document is done."""
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        while runs and time.perf_counter() < end:
            for _ in range(min(_SPANS, len(runs))):
                start, length, style = runs.popleft()
                form = QTextCharFormat()
                form.setForeground(QColor(colours[style]))
                cursor.setPosition(start)
                cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
                cursor.mergeCharFormat(form)
        cursor.endEditBlock()
        if not runs:
            self.coloured.emit(document)
        return not runs
