"""Chats that were deleted: take them back, or remove them for good."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.i18n.dates import moment
from app.i18n.translate import tr
from app.storage.records import Chat
from app.storage.trash import DAYS


class TrashDialog(QDialog):
    """Signals bear the Chat."""

    taken_back = Signal(object)
    removed = Signal(object)
    emptied = Signal()

    def __init__(self, chats: list[tuple[Chat, float]], parent: QWidget | None = None) -> None:
        """chats: with the time (seconds since 1970) at which each was deleted."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Recently deleted"))
        self.resize(520, 420)
        self._note = QLabel(self)
        self._note.setObjectName("muted")
        self._note.setWordWrap(True)
        self.list = QListWidget(self)
        self.list.setObjectName("rows")
        self.list.setAccessibleName(tr("Deleted chats"))
        for chat, at in chats:
            entry = QListWidgetItem(f"{chat.title or tr('New chat')}\n{moment(datetime.fromtimestamp(at))}")
            entry.setData(Qt.ItemDataRole.UserRole, chat)
            self.list.addItem(entry)
        self.list.setCurrentRow(0)
        self.list.itemActivated.connect(self._take_back)
        self.back = QPushButton(tr("Restore"), self)
        self.back.setObjectName("primary")
        self.back.clicked.connect(self._take_back)
        self.remove = QPushButton(tr("Delete for good"), self)
        self.remove.clicked.connect(self._remove)
        self.empty = QPushButton(tr("Delete all for good"), self)
        self.empty.clicked.connect(self._empty)
        close = QPushButton(tr("Close"), self)
        close.clicked.connect(self.accept)
        for button in (self.remove, self.empty, close):
            button.setAutoDefault(False)
        row = QHBoxLayout()
        row.addWidget(self.back)
        row.addWidget(self.remove)
        row.addWidget(self.empty)
        row.addStretch(1)
        row.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(12)
        column.addWidget(self._note)
        column.addWidget(self.list, 1)
        column.addLayout(row)
        self._fit()

    @Slot()
    def _take_back(self) -> None:
        chat = self._take()
        if chat is not None:
            self.taken_back.emit(chat)

    @Slot()
    def _remove(self) -> None:
        chat = self._take()
        if chat is not None:
            self.removed.emit(chat)

    @Slot()
    def _empty(self) -> None:
        self.list.clear()
        self._fit()
        self.emptied.emit()

    def _take(self) -> Chat | None:
        """The chosen chat, out of the list."""
        if self.list.currentRow() < 0:
            return None
        chat = self.list.takeItem(self.list.currentRow()).data(Qt.ItemDataRole.UserRole)
        self._fit()
        return chat if isinstance(chat, Chat) else None

    def _fit(self) -> None:
        some = self.list.count() > 0
        for button in (self.back, self.remove, self.empty):
            button.setEnabled(some)
        self._note.setText(
            tr("Deleted chats are kept for {days} days, then removed for good.", days=DAYS)
            if some
            else tr("No chat has been deleted.")
        )
