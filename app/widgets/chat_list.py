"""The model and the look of the chat list: chats under headings of time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.chats.records import Chat
from app.theme import fonts
from app.theme.theme import Theme

CHAT_ROLE = Qt.ItemDataRole.UserRole + 1
_Index = QModelIndex | QPersistentModelIndex


class ChatListModel(QAbstractListModel):
    """Rows are chats and headings (strings). renamed: chat id and new title."""

    renamed = Signal(object, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Chat | str] = []

    def fill(self, chats: list[Chat], now: datetime | None = None) -> None:
        """Show these chats, which come latest first."""
        now = now or datetime.now()
        rows: list[Chat | str] = []
        last = ""
        for chat in chats:
            heading = when(datetime.fromtimestamp(chat.updated_at), now)
            if heading != last:
                rows.append(heading)
                last = heading
            rows.append(chat)
        if rows != self.rows:
            self.beginResetModel()
            self.rows = rows
            self.endResetModel()

    def index_of(self, chat_id: int) -> QModelIndex:
        """Where a chat is, or an invalid index."""
        for number, row in enumerate(self.rows):
            if isinstance(row, Chat) and row.id == chat_id:
                return self.index(number)
        return QModelIndex()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.rows[index.row()]
        if role == CHAT_ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole, Qt.ItemDataRole.ToolTipRole):
            return row.title if isinstance(row, Chat) else row
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"Chat: {row.title}" if isinstance(row, Chat) else row
        return None

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        row = self.rows[index.row()]
        title = str(value).strip()
        if isinstance(row, Chat) and title and title != row.title:
            self.renamed.emit(row.id, title)
        return True

    def flags(self, index: _Index) -> Qt.ItemFlag:
        if isinstance(self.rows[index.row()], str):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable


class ChatDelegate(QStyledItemDelegate):
    """One line for a chat, a small muted one for a heading."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        heading = isinstance(index.data(CHAT_ROLE), str)
        line = QFontMetrics(fonts.text()).height()
        return QSize(100, line + (18 if heading else 16))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        p = self._theme.palette
        rect: QRect = option.rect
        row = index.data(CHAT_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, str):
            painter.setFont(fonts.text(0.82))
            painter.setPen(QColor(p.muted))
            painter.drawText(rect.adjusted(9, 6, -6, 0), Qt.AlignmentFlag.AlignVCenter, row)
        else:
            state = option.state
            chosen = bool(state & QStyle.StateFlag.State_Selected)
            if chosen or state & QStyle.StateFlag.State_MouseOver:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(p.pressed if chosen else p.hover))
                painter.drawRoundedRect(rect.adjusted(0, 1, 0, -1), 8, 8)
            if state & QStyle.StateFlag.State_HasFocus:
                painter.setPen(QColor(p.accent))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(rect.adjusted(0, 1, -1, -2), 8, 8)
            painter.setPen(QColor(p.text))
            painter.setFont(fonts.text())
            room = rect.adjusted(10, 0, -8, 0)
            title = QFontMetrics(painter.font()).elidedText(row.title, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, title)
        painter.restore()

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: _Index) -> None:
        editor.setGeometry(option.rect)


def when(at: datetime, now: datetime) -> str:
    """The heading a chat of that time stands under."""
    days = (now.date() - at.date()).days
    if days <= 0:
        return "Today"
    if days == 1:
        return "Yesterday"
    if days < 7:
        return "Last seven days"
    return at.strftime("%B") if at.year == now.year else at.strftime("%B %Y")
