"""Sidebar: new chat, search, and the list of chats with its menus, selection, and drag and drop into folders."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from PySide6.QtCore import QItemSelectionModel, QMimeData, QModelIndex, QPoint, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPixmap,
)
from PySide6.QtWidgets import QFrame, QLabel, QListView, QMenu, QWidget

from app.i18n.translate import plural, tr
from app.sidebar.chat_model import (
    NEW_FOLDER,
    ROW_ROLE,
    ChatDelegate,
    ChatListModel,
    Identity,
    Row,
    SectionRow,
    chat_rows,
    identity,
    search_rows,
)
from app.storage.records import Chat, Folder
from app.storage.search import MOST, SearchHit
from app.theme import fonts, sizes
from app.theme.icons import icon
from app.theme.theme import Theme
from app.widgets.builders import hbox, make_button, make_label, make_timer, show_text, vbox
from app.widgets.buttons import IconButton, draw_line, elided_title
from app.widgets.keyboard import types_text
from app.widgets.menus import make_menu
from app.widgets.search_field import SearchField
from app.widgets.text import plain_entry
from app.widgets.touch import scroll_by_touch

_NARROWEST, _WIDEST = 190, 420  # pixels
_SEARCH_AFTER = 120  # milliseconds of rest before what is typed is looked for
MIME = "application/x-underhill-chats"  # ids, with spaces between them
_DRAG_WIDTH = 220  # pixels of what is dragged, at most


class Sidebar(QFrame):
    """Signals bear a Chat, a Folder or a SearchHit; deleted, moved: a tuple of chats.

    fill_menu: called with the menu of the button beside 'New chat', to say what is in it.
    """

    opened = Signal(object)
    found = Signal(object)
    deleted = Signal(object)
    pinned = Signal(object, bool)
    moved = Signal(object, object)  # chats, and a Folder, None for out of any, or '' for a new one
    exported = Signal(object, str)  # chat, and 'md' or 'json'
    folder_removed = Signal(object)
    folder_toggled = Signal(object, bool)  # folder, open
    searched = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidebar")
        self.setMaximumWidth(_WIDEST)
        self._theme = theme
        self.folders: list[Folder] = []
        self.fill_menu: Callable[[QMenu], object] = lambda menu: None
        mark = QLabel(self)
        sizes.show_logo(mark, 26)
        name = make_label("Underhill", self, heading=1.15)
        head = hbox(mark, (name, 1), margins=(6, 2, 0, 8))
        self.button = make_button(tr("New chat"), self, style="new", tip=tr("New chat") + "  (Ctrl+N)")
        self.more = IconButton(theme, "more", tr("More chat actions"), self)
        self.more.clicked.connect(self._more)
        begin = hbox((self.button, 1), self.more, spacing=4)
        self.search = SearchField(tr("Search chats"), self)
        self.search.setToolTip(tr("Search chats") + "  (Ctrl+K)")
        self._typed = make_timer(self, _SEARCH_AFTER, self.search_now)
        self.search.textChanged.connect(self._typed.start)
        self.search.returnPressed.connect(self._to_list)
        self.model = ChatListModel(self)
        self.list = ChatView(theme, self.model, self)
        self.list.customContextMenuRequested.connect(self._menu)
        self.list.clicked.connect(self._clicked)
        self.list.activated.connect(self._activated_by_key)
        self.list.rename.connect(self.rename_current)
        self.list.remove.connect(self._remove_current)
        self.list.move_requested.connect(self._choose_folder)
        self.list.dropped.connect(self.moved)
        self._nothing = make_label("", self, "muted", wrap=True)
        self._nothing.setContentsMargins(8, 8, 8, 8)
        vbox(head, begin, self.search, self._nothing, (self.list, 1), parent=self, margins=(10, 12, 10, 8), spacing=8)
        self._tint()
        theme.changed.connect(self._tint)

    def minimumSizeHint(self) -> QSize:
        """Width at which its buttons show all their text."""
        hint = super().minimumSizeHint()
        return QSize(min(_WIDEST, max(_NARROWEST, hint.width())), hint.height())

    def show_chats(
        self, chats: list[Chat], folders: list[Folder], closed: set[int], current: int, *, new: str = ""
    ) -> None:
        """Fill the list. closed: ids of folders. current: id of the open chat, 0 for none.

        new: name of a folder that is not made yet; it is edited in place, above the others.
        """
        self.folders = folders
        self.list.setDragEnabled(True)
        listed = [Folder(NEW_FOLDER, new), *folders] if new else folders
        chosen = self.list.fill(chat_rows(chats, listed, closed, datetime.now()))
        show_text(self._nothing, "" if self.model.rows else tr("No chats yet"))
        if not chosen:
            self.mark(current)
        if (at := self._new_folder()) >= 0:
            self.list.scrollTo(self.model.index(at))
            self.list.edit(self.model.index(at))  # which leaves chosen what is chosen

    def show_found(self, chats: list[Chat], hits: list[SearchHit]) -> None:
        """Fill the list with search results, in titles and in messages."""
        self.list.setDragEnabled(False)  # there is no folder to drag it to
        self.list.fill(search_rows(chats, hits, MOST))
        show_text(self._nothing, "" if self.model.rows else tr("No matching chats"))

    def mark(self, current: int) -> None:
        """Select the open chat."""
        row = self.list.currentIndex().data(ROW_ROLE)
        if (isinstance(row, SearchHit) and row.chat.id == current) or len(self.list.chats()) > 1:
            return  # it is marked, or several are being selected
        index = self.model.index_of(current)
        if index.isValid():  # chosen as it is, though Ctrl be held for Ctrl+Tab
            self.list.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        else:
            self.list.setCurrentIndex(QModelIndex())
            self.list.clearSelection()

    @Slot()
    def rename_current(self) -> None:
        """Edit the title of the chosen chat or folder in place."""
        index = self.list.currentIndex()
        if index.isValid() and index.flags() & Qt.ItemFlag.ItemIsEditable:
            self.list.edit(index)

    @property
    def naming(self) -> bool:
        """Whether a folder is in the list that is made once it has a name."""
        return self._new_folder() >= 0

    def _new_folder(self) -> int:
        """Row of that folder; -1 where there is none."""
        return next((n for n, row in enumerate(self.model.rows) if identity(row) == ("folder", NEW_FOLDER)), -1)

    def leave_search(self) -> bool:
        """End a search and show all chats; False where there was none."""
        searching = bool(self.search.text()) and (self.search.hasFocus() or self.list.hasFocus())
        if searching:
            self.search.clear()
            self.search.setFocus()
        return searching

    @Slot()
    def search_now(self) -> None:
        """Have the chats searched for what is written in the search field."""
        self.searched.emit(self.search.text().strip())

    @Slot()
    def _to_list(self) -> None:
        """Focus the first result, on Enter in the search."""
        first = next((n for n, row in enumerate(self.model.rows) if not isinstance(row, SectionRow)), -1)
        if first >= 0:
            self.list.setFocus()
            self.list.setCurrentIndex(self.model.index(first))

    @Slot(QModelIndex)
    def _activated_by_key(self, index: QModelIndex) -> None:
        """Open a row on Enter; a click came as `clicked` already."""
        if not self.list.underMouse() or not isinstance(index.data(ROW_ROLE), SectionRow):
            self.activate(index)

    @Slot(QModelIndex)
    def _clicked(self, index: QModelIndex) -> None:
        """Open a row, unless Ctrl or Shift select several."""
        several = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        if not QGuiApplication.keyboardModifiers() & several:
            self.activate(index)

    @Slot(QModelIndex)
    def activate(self, index: QModelIndex) -> None:
        row = index.data(ROW_ROLE)
        if isinstance(row, Chat):
            self.opened.emit(row)
        elif isinstance(row, SearchHit):
            self.found.emit(row)
        elif isinstance(row, SectionRow) and row.folder is not None:
            self.folder_toggled.emit(row.folder, not row.open)

    @Slot()
    def _remove_current(self) -> None:
        row, chats = self.list.currentIndex().data(ROW_ROLE), self.list.chats()
        if chats:
            self.deleted.emit(chats)
        elif isinstance(row, SectionRow) and row.folder is not None:
            self.folder_removed.emit(row.folder)

    @Slot()
    def _choose_folder(self) -> None:
        """Show a menu of folders for the selected chats."""
        chats = self.list.chats()
        if chats:
            menu = make_menu(self, once=True)
            self._fill_folders(menu, chats)
            corner = self.list.visualRect(self.list.currentIndex()).bottomLeft()
            menu.popup(self.list.viewport().mapToGlobal(corner + QPoint(16, 0)))

    @Slot()
    def _more(self) -> None:
        menu = make_menu(self, once=True)
        self.fill_menu(menu)
        menu.popup(self.more.mapToGlobal(QPoint(0, self.more.height())))

    @Slot(QPoint)
    def _menu(self, point: QPoint) -> None:
        index = self.list.indexAt(point) if self.list.rect().contains(point) else self.list.currentIndex()
        row = index.data(ROW_ROLE)
        if isinstance(row, SearchHit) or row is None or (isinstance(row, SectionRow) and row.folder is None):
            return
        if not self.list.selectionModel().isSelected(index):
            self.list.setCurrentIndex(index)
        menu, chats = make_menu(self, once=True), self.list.chats()
        if len(chats) > 1:
            colour, delete = self._theme.palette.muted, plural("Delete 1 chat", "Delete %n chats", len(chats))
            self._fill_folders(menu.addMenu(icon("folder", colour), tr("Move to folder")), chats)
            menu.addAction(icon("trash", colour), delete + "\tDel", lambda: self.deleted.emit(chats))
        elif isinstance(row, Chat):
            self.fill_chat_menu(menu, row)
        else:
            colour = self._theme.palette.muted
            menu.addAction(icon("edit", colour), tr("Rename") + "\tF2", self.rename_current)
            menu.addAction(icon("trash", colour), tr("Delete folder, keep chats") + "\tDel", self._remove_current)
        menu.popup(self.list.viewport().mapToGlobal(point))

    def fill_chat_menu(self, menu: QMenu, chat: Chat) -> None:
        """Add the actions on a chat to a menu."""
        colour = self._theme.palette.muted
        menu.addAction(icon("edit", colour), tr("Rename") + "\tF2", self.rename_current)
        menu.addAction(icon("pin", colour), tr("Unpin") if chat.pinned else tr("Pin"),
                       lambda: self.pinned.emit(chat, not chat.pinned))  # fmt: skip
        self._fill_folders(menu.addMenu(icon("folder", colour), tr("Move to folder")), (chat,))
        menu.addAction(icon("export", colour), tr("Export as Markdown…"), lambda: self.exported.emit(chat, "md"))
        menu.addAction(icon("export", colour), tr("Export as JSON…"), lambda: self.exported.emit(chat, "json"))
        menu.addSeparator()
        menu.addAction(icon("trash", colour), tr("Delete") + "\tDel", lambda: self.deleted.emit((chat,)))

    def _fill_folders(self, menu: QMenu, chats: tuple[Chat, ...]) -> None:
        """Add the folders that chats can be moved to."""
        inside = {chat.folder_id for chat in chats}
        for folder in self.folders:
            if inside != {folder.id}:
                menu.addAction(plain_entry(folder.name), partial(self.moved.emit, chats, folder))
        if inside != {None}:
            menu.addAction(tr("Remove from folder"), lambda: self.moved.emit(chats, None))
        menu.addSeparator()
        menu.addAction(tr("New folder"), lambda: self.moved.emit(chats, ""))

    @Slot()
    def _tint(self) -> None:
        self.button.setIcon(icon("new-chat", self._theme.palette.accent))


class ChatView(QListView):
    """List view. dropped: tuple of chats, and the Folder they go into, or None for out of theirs.

    renaming_over: with another title or without.
    """

    rename = Signal()
    remove = Signal()
    move_requested = Signal()
    dropped = Signal(object, object)
    renaming_over = Signal()

    def __init__(self, theme: Theme, model: ChatListModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows = model
        self.delegate = ChatDelegate(theme, self)
        self.setObjectName("chats")
        self.setAccessibleName(tr("Chats"))
        self.setModel(model)
        self.setItemDelegate(self.delegate)
        self.setMouseTracking(True)
        scroll_by_touch(self)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.setDragEnabled(True)
        self.setAcceptDrops(True)
        sizes.follow(self, ChatView.scheduleDelayedItemsLayout)
        self.delegate.closeEditor.connect(lambda: self.renaming_over.emit())
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
            self.move_requested.emit()
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
                self._drag_pixmap(chats[0].title if len(chats) == 1 else plural("1 chat", "%n chats", len(chats)))
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
        if row != self.delegate.target:
            self.delegate.target = row
            self.viewport().update()

    def _drag_pixmap(self, words: str) -> QPixmap:
        font, p = fonts.text(), self._theme.palette
        metrics = QFontMetrics(font)
        words = elided_title(words, metrics, _DRAG_WIDTH)
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
        draw_line(painter, QRect(0, 0, wide, high), words, Qt.AlignmentFlag.AlignCenter)
        painter.end()
        return made


def _beside(rows: list[Row], at: int) -> Identity | None:
    """The chat that is at that row now, or below it; where there is none, the last one above."""
    order = [*rows[at:], *reversed(rows[:at])]
    return next((identity(row) for row in order if isinstance(row, Chat)), None)
