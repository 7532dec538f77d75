"""Rows of the list of chats, and their Qt model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.i18n.languages import month
from app.i18n.translate import tr
from app.storage.records import Chat, Folder
from app.storage.search import SearchHit
from app.theme import fonts
from app.theme.icons import pixmap
from app.theme.theme import Theme
from app.widgets.buttons import draw_line, elided_title
from app.widgets.text import plain_tip

Identity = tuple[str, int]
NEW_FOLDER = 0  # id of a folder that is made once it has a name
ROW_ROLE = Qt.ItemDataRole.UserRole + 1
_FILLED = "filled"
_Index = QModelIndex | QPersistentModelIndex
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


@dataclass(frozen=True)
class SectionRow:
    """Heading row. folder: its chats are shown while it is open; count: how many they are."""

    title: str
    folder: Folder | None = None
    open: bool = True
    count: int = 0


Row = Chat | SectionRow | SearchHit


def identity(row: Row | None) -> Identity | None:
    """Key of a row that stays when the list is read again; None for a heading."""
    if isinstance(row, Chat):
        return "chat", row.id
    if isinstance(row, SearchHit):
        return "message", row.message_id
    return ("folder", row.folder.id) if row is not None and row.folder is not None else None


def chat_rows(chats: Sequence[Chat], folders: Sequence[Folder], closed: Collection[int], now: datetime) -> list[Row]:
    """Rows of the list: pinned chats, folders, then the rest by time. chats: the latest first. closed: folder ids."""
    rows: list[Row] = []
    pinned = [c for c in chats if c.pinned]
    if pinned:
        rows += [SectionRow(tr("Pinned")), *pinned]
    for folder in folders:
        inside = [c for c in chats if c.folder_id == folder.id and not c.pinned]
        rows.append(SectionRow(folder.name, folder, folder.id not in closed, len(inside)))
        if folder.id not in closed:
            rows += inside
    known = {f.id for f in folders}
    last = ""
    for chat in (c for c in chats if not c.pinned and c.folder_id not in known):
        heading = date_heading(datetime.fromtimestamp(chat.updated_at), now)
        if heading != last:
            rows.append(SectionRow(heading))
            last = heading
        rows.append(chat)
    return rows


def search_rows(chats: Sequence[Chat], hits: Sequence[SearchHit], most: int) -> list[Row]:
    """Rows of search results: chats by title, then messages. most: hits that are looked for at all."""
    rows: list[Row] = []
    if chats:
        rows += [SectionRow(tr("Titles")), *chats]
    if hits:
        rows += [SectionRow(tr("Messages") if len(hits) < most else tr("Latest {most} messages", most=most)), *hits]
    return rows


def date_heading(at: datetime, now: datetime) -> str:
    """Heading for a chat of that time."""
    days = (now.date() - at.date()).days
    if days <= 0:
        return tr("Today")
    if days == 1:
        return tr("Yesterday")
    if days < 7:
        return tr("Previous 7 days")
    return month(at, at.year != now.year)


class ChatListModel(QAbstractListModel):
    """Qt model of the rows. renamed: chat id and new title. folder_renamed: folder id and new name. folder_named: the
    name that NEW_FOLDER was given.
    """

    renamed = Signal(object, str)
    folder_renamed = Signal(object, str)
    folder_named = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []
        self.open_id = 0  # the chat that is on the page
        self.answering: frozenset[int] = frozenset()  # chats that an answer is on its way in
        self.fresh: frozenset[int] = frozenset()  # chats whose answer came while another was on the page

    def mark(self, open_id: int, answering: frozenset[int], fresh: frozenset[int]) -> None:
        """Set which chat is open, which are answering, and which have a new answer."""
        if (open_id, answering, fresh) != (self.open_id, self.answering, self.fresh):
            self.open_id, self.answering, self.fresh = open_id, answering, fresh
            if self.rows:
                self.dataChanged.emit(self.index(0), self.index(len(self.rows) - 1))

    def fill(self, rows: list[Row]) -> None:
        """Replace the rows."""
        if rows != self.rows:
            self.beginResetModel()
            self.rows = rows
            self.endResetModel()

    def index_of(self, chat_id: int) -> QModelIndex:
        """Index of a chat, or an invalid one."""
        for number, row in enumerate(self.rows):
            if isinstance(row, Chat) and row.id == chat_id:
                return self.index(number)
        return QModelIndex()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole, Qt.ItemDataRole.ToolTipRole):
            title = row.snippet if isinstance(row, SearchHit) else row.title
            return plain_tip(f"{title}{self._going_on(row)}") if role == Qt.ItemDataRole.ToolTipRole else title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{_spoken(row)}{self._going_on(row)}"
        return None

    def _going_on(self, row: Row) -> str:
        if not isinstance(row, Chat) or row.id not in self.answering | self.fresh:
            return ""
        said = tr("generating") if row.id in self.answering else tr("new answer")
        return f"  ·  {said}"

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        row = self.rows[index.row()]
        title = " ".join(str(value).split())
        if isinstance(row, SectionRow) and row.folder is not None and row.folder.id == NEW_FOLDER and title:
            self.folder_named.emit(title)
        elif isinstance(row, SearchHit) or not title or title == row.title:
            return True
        elif isinstance(row, Chat):
            self.renamed.emit(row.id, title)
        elif row.folder is not None:
            self.folder_renamed.emit(row.folder.id, title)
        return True

    def flags(self, index: _Index) -> Qt.ItemFlag:
        row = self.rows[index.row()]
        if isinstance(row, SectionRow) and row.folder is None:
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if isinstance(row, Chat):
            flags |= Qt.ItemFlag.ItemIsDragEnabled
        return flags if isinstance(row, SearchHit) else flags | Qt.ItemFlag.ItemIsEditable


class ChatDelegate(QStyledItemDelegate):
    """Paints rows: one line for a chat or a folder, a small one for a heading, three for a message found."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.target = -1  # row of the folder that something is being dragged into

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        row = index.data(ROW_ROLE)
        line = QFontMetrics(fonts.text()).height()
        if isinstance(row, SearchHit):
            return QSize(100, 3 * QFontMetrics(fonts.text(0.9)).height() + 18)
        if isinstance(row, SectionRow) and row.folder is None:
            return QSize(100, line + 18)  # which nobody presses
        return QSize(100, max(line + 16, fonts.touchable(0)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        row = index.data(ROW_ROLE)
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, SectionRow) and row.folder is None:
            painter.setFont(fonts.text(0.82))
            painter.setPen(QColor(self._theme.palette.muted))
            painter.drawText(rect.adjusted(9, 6, -6, 0), Qt.AlignmentFlag.AlignVCenter, row.title)
        else:
            model = index.model()
            assert isinstance(model, ChatListModel)
            shown = isinstance(row, Chat) and row.id == model.open_id
            self._ground(painter, option, index.row() == self.target, shown)
            if isinstance(row, SearchHit):
                self._hit(painter, rect.adjusted(10, 6, -8, -6), row)
            elif isinstance(row, SectionRow):
                self._folder(painter, rect, row)
            else:
                inside = 2 * fonts.pixels(15) + 2 if row.folder_id is not None and not row.pinned else 0
                going_on = row.id in model.answering | model.fresh
                space = rect.adjusted(10 + inside, 0, -24 if going_on else -8, 0)
                self._line(painter, space, row.title, self._theme.palette.text)
                if going_on:
                    self._dot(painter, rect, row.id in model.answering)
        painter.restore()

    def setEditorData(self, editor: QWidget, index: _Index) -> None:
        """Fill the editor once, so that what is typed stays when the chat changes meanwhile."""
        if not editor.property(_FILLED):
            editor.setProperty(_FILLED, True)
            super().setEditorData(editor, index)

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: _Index) -> None:
        editor.setGeometry(option.rect)

    def _dot(self, painter: QPainter, rect: QRect, answering: bool) -> None:
        """Draw a ring while an answer is being written, a full dot when it is there."""
        accent = QColor(self._theme.palette.accent)
        painter.setPen(QPen(accent, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush if answering else accent)
        painter.drawEllipse(QPointF(rect.right() - 13, rect.center().y() + 0.5), 3.5, 3.5)

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem, target: bool, shown: bool) -> None:
        """Draw the background. shown: it is the open chat."""
        p, state, rect = self._theme.palette, option.state, option.rect
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        if shown:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(p.hover))
            painter.drawRoundedRect(rect.adjusted(0, 1, 0, -1), 8, 8)
        if chosen or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(p.pressed if chosen else p.hover))
            painter.drawRoundedRect(rect.adjusted(0, 1, 0, -1), 8, 8)
        if shown:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(p.accent))
            painter.drawRoundedRect(QRectF(rect.left() + 2, rect.top() + 9, 3, rect.height() - 18), 1.5, 1.5)
        if target or state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(p.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 1.5, -0.5, -1.5), 8, 8)

    def _line(self, painter: QPainter, space: QRect, text: str, colour: str, font: QFont | None = None) -> None:
        painter.setPen(QColor(colour))
        painter.setFont(font or fonts.text())
        draw_line(painter, space, elided_title(text, QFontMetrics(painter.font()), space.width()), _LEFT)

    def _folder(self, painter: QPainter, rect: QRect, row: SectionRow) -> None:
        muted = self._theme.palette.muted
        name = "chevron-down" if row.open else "chevron-right"
        side = fonts.pixels(15)
        middle = rect.center().y() - side // 2
        scale = painter.device().devicePixelRatioF()
        painter.drawPixmap(rect.left() + 4, middle, pixmap(name, muted, side, scale))
        painter.drawPixmap(rect.left() + 6 + side, middle, pixmap("folder", muted, side, scale))
        count = str(row.count)
        width = QFontMetrics(fonts.text(0.86)).horizontalAdvance(count) + 6
        self._line(painter, rect.adjusted(12 + 2 * side, 0, -8 - width, 0), row.title, self._theme.palette.text)
        self._line(painter, QRect(rect.right() - 6 - width, rect.top(), width + 4, rect.height()), count, muted,
                   fonts.text(0.86))  # fmt: skip

    def _hit(self, painter: QPainter, space: QRect, hit: SearchHit) -> None:
        """Draw the chat's title, and two lines of the message with the hit in bold."""
        p = self._theme.palette
        plain = fonts.text(0.9)
        high = QFontMetrics(plain).height()
        self._line(painter, QRect(space.left(), space.top(), space.width(), high), hit.chat.title, p.muted, plain)
        painter.setPen(QColor(p.text))
        snippet_lines(hit, space.width()).draw(painter, QPointF(space.left(), space.top() + high + 2))


def snippet_lines(hit: SearchHit, width: int) -> QTextLayout:
    """The first two lines of a hit's snippet, `width` pixels wide, with what was looked for in bold; each script goes
    its own way.
    """
    font = fonts.text(0.9)
    high = QFontMetrics(font).height()
    layout, option = QTextLayout(hit.snippet, font), QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.setFormats([_bold(hit.snippet, *mark) for mark in hit.marks])
    layout.beginLayout()
    for number in range(2):
        line = layout.createLine()
        if line.isValid():
            line.setLineWidth(width)
            line.setPosition(QPointF(0, number * high))
    layout.endLayout()
    return layout


def _bold(text: str, start: int, end: int) -> QTextLayout.FormatRange:
    found = QTextLayout.FormatRange()
    # Qt counts in UTF-16, where an emoji takes two.
    found.start, found.length = (
        len(part.encode("utf-16-le", "surrogatepass")) // 2 for part in (text[:start], text[start:end])
    )
    found.format = QTextCharFormat()
    found.format.setFont(fonts.text(0.9, QFont.Weight.Bold))
    return found


def _spoken(row: Row) -> str:
    if isinstance(row, SearchHit):
        return tr("Found in {title}: {words}", title=row.chat.title, words=row.snippet)
    if isinstance(row, Chat):
        return tr("Pinned chat: {title}" if row.pinned else "Chat: {title}", title=row.title)
    if row.folder is None:
        return row.title
    return tr(
        "Folder {title}, {count} chats, open" if row.open else "Folder {title}, {count} chats, closed",
        title=row.title, count=row.count,
    )  # fmt: skip
