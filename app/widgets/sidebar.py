"""The list of chats: new, search, open, rename, delete."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.chats.records import Chat
from app.theme import fonts
from app.theme.icons import icon, pixmap
from app.theme.theme import Theme
from app.widgets.chat_list import CHAT_ROLE, ChatDelegate, ChatListModel


class _List(QListView):
    """Adds F2 and Delete to the keys of a list."""

    rename = Signal()
    remove = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F2:
            self.rename.emit()
        elif event.key() == Qt.Key.Key_Delete:
            self.remove.emit()
        else:
            super().keyPressEvent(event)


class Sidebar(QFrame):
    """Signals bear the Chat, or its id and a new title."""

    new = Signal()
    opened = Signal(object)
    renamed = Signal(object, str)
    deleted = Signal(object)
    searched = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidebar")
        self.setMinimumWidth(190)
        self.setMaximumWidth(420)
        self._theme = theme
        mark = QLabel(self)
        mark.setPixmap(pixmap("underhill", "", 26, self.devicePixelRatioF()))
        name = QLabel("Underhill", self)
        name.setFont(fonts.text(1.15, name.font().Weight.DemiBold))
        head = QHBoxLayout()
        head.setContentsMargins(6, 2, 0, 8)
        head.addWidget(mark)
        head.addWidget(name, 1)
        self.button = QPushButton("New chat", self)
        self.button.setObjectName("new")
        self.button.setToolTip("New chat  (Ctrl+N)")
        self.button.clicked.connect(self.new)
        self.search = QLineEdit(self)
        self.search.setObjectName("search")
        self.search.setPlaceholderText("Search chats")
        self.search.setAccessibleName("Search chats")
        self.search.setToolTip("Search chats  (Ctrl+K)")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self.searched)
        self._glass = self.search.addAction(
            icon("search", theme.palette.muted), QLineEdit.ActionPosition.LeadingPosition
        )
        self.model = ChatListModel(self)
        self.list = _List(self)
        self.list.setObjectName("chats")
        self.list.setAccessibleName("Chats")
        self.list.setModel(self.model)
        self.list.setItemDelegate(ChatDelegate(theme, self.list))
        self.list.setMouseTracking(True)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.customContextMenuRequested.connect(self._menu)
        self.list.clicked.connect(self._activated)
        self.list.activated.connect(self._activated)
        self.list.rename.connect(self.rename_current)
        self.list.remove.connect(self._delete_current)
        self.model.renamed.connect(self.renamed)
        self._nothing = QLabel(self)
        self._nothing.setObjectName("muted")
        self._nothing.setWordWrap(True)
        self._nothing.setContentsMargins(8, 8, 8, 8)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 12, 10, 8)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.button)
        column.addWidget(self.search)
        column.addWidget(self._nothing)
        column.addWidget(self.list, 1)
        self._tint()
        theme.changed.connect(self._tint)

    def show_chats(self, chats: list[Chat], current: int) -> None:
        """Fill the list. current: id of the open chat, 0 for none."""
        self.model.fill(chats)
        self._nothing.setVisible(not chats)
        self._nothing.setText(
            "No chat has that in its title." if self.search.text() else "Your chats will be listed here."
        )
        self.mark(current)

    def mark(self, current: int) -> None:
        """Show which chat is open."""
        index = self.model.index_of(current)
        if index.isValid():
            self.list.setCurrentIndex(index)
        else:
            self.list.setCurrentIndex(QModelIndex())
            self.list.clearSelection()

    @Slot()
    def rename_current(self) -> None:
        """Edit the title of the chosen chat in place."""
        if self.list.currentIndex().isValid():
            self.list.edit(self.list.currentIndex())

    @Slot(QModelIndex)
    def _activated(self, index: QModelIndex) -> None:
        chat = index.data(CHAT_ROLE)
        if isinstance(chat, Chat):
            self.opened.emit(chat)

    @Slot()
    def _delete_current(self) -> None:
        chat = self.list.currentIndex().data(CHAT_ROLE)
        if isinstance(chat, Chat):
            self.deleted.emit(chat)

    @Slot(QPoint)
    def _menu(self, point: QPoint) -> None:
        index = self.list.indexAt(point) if self.list.rect().contains(point) else self.list.currentIndex()
        if not isinstance(index.data(CHAT_ROLE), Chat):
            return
        self.list.setCurrentIndex(index)
        colour = self._theme.palette.muted
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(icon("edit", colour), "Rename\tF2", self.rename_current)
        menu.addAction(icon("trash", colour), "Delete\tDel", self._delete_current)
        menu.popup(self.list.viewport().mapToGlobal(point))

    @Slot()
    def _tint(self) -> None:
        self.button.setIcon(icon("new-chat", self._theme.palette.accent))
        self._glass.setIcon(icon("search", self._theme.palette.muted))
