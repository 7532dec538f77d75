"""Dialog of deleted chats: restore them, or remove them for good."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QWidget

from app.i18n.dates import moment
from app.i18n.translate import tr
from app.storage.records import Chat
from app.storage.trash import DAYS
from app.widgets.builders import hbox, make_button, make_label, vbox


class TrashDialog(QDialog):
    """List of deleted chats. Signals carry the Chat."""

    taken_back = Signal(object)
    removed = Signal(object)
    emptied = Signal()

    def __init__(self, chats: list[tuple[Chat, float]], parent: QWidget | None = None) -> None:
        """chats: with the time (seconds since 1970) at which each was deleted."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Recently deleted"))
        self.resize(520, 420)
        self._note = make_label("", self, "muted", wrap=True)
        self.list = QListWidget(self)
        self.list.setObjectName("rows")
        self.list.setAccessibleName(tr("Deleted chats"))
        for chat, at in chats:
            entry = QListWidgetItem(f"{chat.title or tr('New chat')}\n{moment(datetime.fromtimestamp(at))}")
            entry.setData(Qt.ItemDataRole.UserRole, chat)
            self.list.addItem(entry)
        self.list.setCurrentRow(0)
        self.list.itemActivated.connect(self._take_back)
        self.back = make_button(tr("Restore"), self, self._take_back, "primary")
        self.remove = make_button(tr("Delete for good"), self, self._remove)
        self.empty = make_button(tr("Delete all for good"), self, self._empty)
        close = make_button(tr("Close"), self, self.accept)
        for button in (self.remove, self.empty, close):
            button.setAutoDefault(False)
        row = hbox(self.back, self.remove, self.empty, ..., close)
        vbox(self._note, (self.list, 1), row, parent=self, margins=(20, 18, 20, 16), spacing=12)
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
        """Remove the selected chat from the list and return it."""
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
