"""Waiting until the window can be seen, before anything heavy competes with it for the processor."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

_LATEST = 1000  # milliseconds; a window that starts minimized is never painted


class AfterFirstPaint(QObject):
    """Calls `then` once, after the first painting of a widget or a second."""

    def __init__(self, widget: QWidget, then: Callable[[], object]) -> None:
        super().__init__(widget)
        self._widget, self._then = widget, then
        self._done = False
        widget.installEventFilter(self)
        QTimer.singleShot(_LATEST, self, self._over)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Only looks on."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self, self._over)  # the painting itself comes first
        return False

    def _over(self) -> None:
        if not self._done:
            self._done = True
            self._widget.removeEventFilter(self)
            self._then()
