"""View of the list of chats, with multiple selection and drag and drop into folders."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QMimeData, QPoint, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPixmap,
)
from PySide6.QtWidgets import QListView, QWidget

from app.i18n.translate import plural, tr
from app.sidebar.chat_model import ROW_ROLE, ChatDelegate, ChatListModel, Identity, Row, SectionRow, identity
from app.storage.records import Chat, Folder
from app.theme import fonts, sizes
from app.theme.theme import Theme
from app.widgets.buttons import elided_title
from app.widgets.keyboard import types_text

MIME = "application/x-underhill-chats"  # ids, with spaces between them
_WIDEST = 220  # pixels of what is dragged


class ChatView(QListView):
    """List view. dropped: tuple of chats, and the Folder they go into, or None for out of theirs.

    renaming_over: with another title or without.
    """

    rename = Signal()
    remove = Signal()
    move_wanted = Signal()
    dropped = Signal(object, object)
    renaming_over = Signal()

    def __init__(self, theme: Theme, model: ChatListModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows = model
        self._delegate = ChatDelegate(theme, self)
        self.setObjectName("chats")
        self.setAccessibleName(tr("Chats"))
        self.setModel(model)
        self.setItemDelegate(self._delegate)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.setDragEnabled(True)
        self.setAcceptDrops(True)
        sizes.follow(self, ChatView.scheduleDelayedItemsLayout)
        self._delegate.closeEditor.connect(lambda: self.renaming_over.emit())
        model.modelReset.connect(self._filled)
        self._filled()

    @Slot()
    def _filled(self) -> None:
        """Let Tab skip an empty list."""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if self._rows.rowCount() else Qt.FocusPolicy.NoFocus)

    def chats(self) -> tuple[Chat, ...]:
        """Selected chats, from the top."""
        rows = sorted(self.selectedIndexes(), key=lambda index: index.row())
        return tuple(row for row in (index.data(ROW_ROLE) for index in rows) if isinstance(row, Chat))

    @property
    def renaming(self) -> bool:
        """Whether a title is being edited. Filling the list again would lose it."""
        return self.state() == QListView.State.EditingState

    def fill(self, rows: list[Row]) -> bool:
        """Replace the rows and restore the selection; False where nothing was selected.

        If the chat is gone that the keys are for, they are for the one next to it; after a folder they are for none.
        """
        now = self.currentIndex()
        current, at = identity(now.data(ROW_ROLE)), now.row()
        chosen = {identity(index.data(ROW_ROLE)) for index in self.selectedIndexes()}
        self._rows.fill(rows)
        places = {identity(row): number for number, row in enumerate(rows)}
        if current is not None and current[0] == "chat" and current not in places:
            current = _beside(rows, at)
            chosen = {current}
        if current is None or current not in places:
            return current is not None and current[0] == "folder"
        self.setAutoScroll(False)  # the user did not move there
        keys = self.selectionModel()
        keys.setCurrentIndex(self._rows.index(places[current]), QItemSelectionModel.SelectionFlag.Clear)
        for one in chosen & places.keys() - {None}:
            keys.select(self._rows.index(places[one]), QItemSelectionModel.SelectionFlag.Select)
        self.setAutoScroll(True)
        return True

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Keep the current row selected after a click beside the rows."""
        super().mouseReleaseEvent(event)
        if not self.selectedIndexes() and not self.indexAt(event.position().toPoint()).isValid():
            self.selectionModel().select(self.currentIndex(), QItemSelectionModel.SelectionFlag.Select)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        if event.key() == Qt.Key.Key_F2:
            self.rename.emit()
        elif event.key() == Qt.Key.Key_Delete:
            self.remove.emit()
        elif event.key() == Qt.Key.Key_F and event.modifiers() == control:
            self.move_wanted.emit()
        elif types_text(event):
            event.ignore()  # it is for the message
        else:
            super().keyPressEvent(event)

    def startDrag(self, supported: Qt.DropAction) -> None:
        chats = self.chats()
        if chats:
            drag = QDrag(self)
            data = QMimeData()
            data.setData(MIME, " ".join(str(chat.id) for chat in chats).encode())
            drag.setMimeData(data)
            drag.setPixmap(
                self._picture(chats[0].title if len(chats) == 1 else plural("1 chat", "%n chats", len(chats)))
            )
            drag.setHotSpot(QPoint(-12, -6))
            drag.exec(Qt.DropAction.MoveAction)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasFormat(MIME):
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        super().dragMoveEvent(event)  # scrolls at the edges
        if event.mimeData().hasFormat(MIME):
            event.acceptProposedAction()
            self._mark(self._section_at(event.position().toPoint()))

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        super().dragLeaveEvent(event)
        self._mark(-1)

    def dropEvent(self, event: QDropEvent) -> None:
        self._mark(-1)
        ids = {int(part) for part in bytes(event.mimeData().data(MIME).data()).split()}
        at = self._section_at(event.position().toPoint())
        section = self._rows.rows[at] if at >= 0 else None
        folder = section.folder if isinstance(section, SectionRow) else None
        self.setState(QListView.State.NoState)  # which ends scrolling at the edges
        event.acceptProposedAction()
        there = folder.id if isinstance(folder, Folder) else None
        moved = tuple(r for r in self._rows.rows if isinstance(r, Chat) and r.id in ids and r.folder_id != there)
        if moved:
            self.dropped.emit(moved, folder)

    def _section_at(self, point: QPoint) -> int:
        """Row of the folder at a point; -1 where it is in none."""
        index = self.indexAt(point)
        row = index.data(ROW_ROLE)
        if isinstance(row, SectionRow) and row.folder is not None:
            return index.row()
        if isinstance(row, Chat) and row.folder_id is not None and not row.pinned:
            rows = enumerate(self._rows.rows)
            return next(
                (n for n, s in rows if isinstance(s, SectionRow) and s.folder and s.folder.id == row.folder_id), -1
            )
        return -1

    def _mark(self, row: int) -> None:
        """Highlight the folder that a drop would go into."""
        if row != self._delegate.target:
            self._delegate.target = row
            self.viewport().update()

    def _picture(self, words: str) -> QPixmap:
        font, p = fonts.text(), self._theme.palette
        metrics = QFontMetrics(font)
        words = elided_title(words, metrics, _WIDEST)
        scale = self.devicePixelRatioF()
        wide, high = metrics.horizontalAdvance(words) + 24, metrics.height() + 12
        made = QPixmap(round(wide * scale), round(high * scale))
        made.setDevicePixelRatio(scale)
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(p.accent))
        painter.setBrush(QColor(p.surface))
        painter.drawRoundedRect(0, 0, wide - 1, high - 1, 8, 8)
        painter.setPen(QColor(p.text))
        painter.setFont(font)
        painter.drawText(0, 0, wide, high, Qt.AlignmentFlag.AlignCenter, words)
        painter.end()
        return made


def _beside(rows: list[Row], at: int) -> Identity | None:
    """The chat that is at that row now, or below it; where there is none, the last one above."""
    order = [*rows[at:], *reversed(rows[:at])]
    return next((identity(row) for row in order if isinstance(row, Chat)), None)
