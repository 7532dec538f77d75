"""The line beside the current message, for those who use the keyboard."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame

_WIDTH = 3  # pixels
_GAP = 13  # pixels between the marker and the text


class FocusMarker(QFrame):
    """Line beside the current message while the keyboard is in the conversation: it is what the keys are about.

    Hidden for those who click: they see the message's buttons under the pointer.
    """

    def __init__(self, view: QAbstractScrollArea) -> None:
        super().__init__(view.viewport())
        self._keys = False  # the keyboard came by keys, or they were used since
        self._place = QRect()
        self.setObjectName("mark")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        view.installEventFilter(self)

    def place(self, left: float, top: float, height: float) -> None:
        """Place it beside a text that begins there; height 0: there is none."""
        self._place = QRect(round(left) - _GAP, round(top), _WIDTH, round(height))
        self._show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusIn:
            assert isinstance(event, QFocusEvent)
            self._keys = event.reason() != Qt.FocusReason.MouseFocusReason
        elif event.type() == QEvent.Type.KeyPress:
            self._keys = True
        elif event.type() == QEvent.Type.FocusOut:
            assert isinstance(event, QFocusEvent)
            self._keys &= event.reason() == Qt.FocusReason.PopupFocusReason  # its menu is about it
        else:
            return False
        self._show()
        return False

    def _show(self) -> None:
        self.setGeometry(self._place)
        self.setVisible(self._keys and self._place.height() > 0)
