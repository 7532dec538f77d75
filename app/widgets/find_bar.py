"""Find bar: a field for what to find, with steps to the match before and after."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from app.i18n.translate import plural, tr
from app.theme.theme import Theme
from app.widgets.builders import hbox, make_label
from app.widgets.icon_button import IconButton

_AFTER = 120  # milliseconds of rest before what is typed is looked for


class FindBar(QFrame):
    """Hidden until it is asked for. typed: another text. stepped: to the match after (1) or before (-1)."""

    typed = Signal(str)
    stepped = Signal(int)
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None, name: str = "") -> None:
        """name: of what one types into it."""
        super().__init__(parent)
        self.setObjectName("header")
        self.edit = QLineEdit(self)
        self.edit.setPlaceholderText(name or tr("Find in this chat"))
        self.edit.setAccessibleName(name or tr("Find in this chat"))
        self.edit.setMaximumWidth(340)
        self.edit.installEventFilter(self)
        self._rest = QTimer(self, singleShot=True, interval=_AFTER)
        self._rest.timeout.connect(self._typed)
        self.edit.textChanged.connect(self._rest.start)
        self.count = make_label("", self, "muted")
        before = IconButton(theme, "chevron-left", tr("Place before"), self)
        before.clicked.connect(lambda: self.stepped.emit(-1))
        after = IconButton(theme, "chevron-right", tr("Place after"), self, "Enter")
        after.clicked.connect(lambda: self.stepped.emit(1))
        close = IconButton(theme, "close", tr("Close the search"), self, "Esc")
        close.clicked.connect(self.closed)
        hbox((self.edit, 1), before, after, 6, (self.count, 1), close, parent=self, margins=(20, 6, 10, 6), spacing=4)
        self.hide()

    def show_count(self, at: int, messages: int) -> None:
        """Show which message is looked at, from 0, of how many that have the words."""
        if not self.edit.text():
            self.count.setText("")
        elif not messages:
            self.count.setText(tr("Not in this chat."))
        else:
            self.count.setText(plural("{at} of 1 message", "{at} of %n messages", messages, at=at + 1))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        enter = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress or event.key() not in enter:
            return super().eventFilter(watched, event)
        if self._rest.isActive():
            self._typed()
        else:
            self.stepped.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        return True

    @Slot()
    def _typed(self) -> None:
        self._rest.stop()
        self.typed.emit(self.edit.text().strip())
