"""The main window: puts the parts together and connects them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QKeySequence,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMainWindow,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.backend.models import Models
from app.backend.network import Network
from app.chat.conversation import Conversation
from app.chat.header import Header
from app.chat.prompt_messages import first_read_message
from app.chat.welcome import Welcome
from app.composer.composer import Composer, DropHint, local_files
from app.controllers.chat_navigator import ChatNavigator
from app.controllers.chats_controller import ChatsController
from app.controllers.closing_controller import ClosingController
from app.controllers.engine_controller import EngineController
from app.controllers.failure_banner import show_failure
from app.controllers.find_controller import FindController
from app.controllers.library_controller import LibraryController
from app.controllers.message_editing import MessageEditing
from app.controllers.model_controller import ModelController
from app.controllers.network_controller import NetworkController
from app.controllers.side_panes import SidePanes
from app.controllers.storage_controller import StorageController
from app.controllers.window_state import WindowState
from app.dialogs.about import AboutDialog, ShortcutSheet
from app.i18n.translate import sentences, tr
from app.library.view_model import LibraryViewModel
from app.platform import open_externally
from app.platform.paths import AppPaths
from app.settings.preferences import Preferences
from app.sidebar.sidebar import Sidebar
from app.storage import drafts, trash
from app.storage.database_thread import DatabaseThread
from app.storage.records import Attachment, Chat, StoredMessage
from app.storage.store import ChatStore
from app.telemetry.docks import TelemetryDocks
from app.theme import sizes
from app.theme.icons import icon
from app.theme.theme import Theme
from app.transcript.view import TranscriptView
from app.widgets import keyboard
from app.widgets.banner import Banners
from app.widgets.dialogs import raise_window
from app.widgets.keyboard import KeyForwarder
from app.widgets.search_field import FindBar
from app.widgets.shortcuts import SHORTCUTS
from app.widgets.toast import Toast
from engine import protocol

_PLACE_AFTER = 400  # milliseconds of rest before it is kept where one has scrolled to


class MainWindow(QMainWindow):
    """Owns the widgets; what happens is in Conversation and Models. restart_wanted: close, and open anew."""

    restart_wanted = Signal()

    def __init__(
        self,
        theme: Theme,
        database: DatabaseThread,
        conversation: Conversation,
        known: Models,
        view_model: LibraryViewModel,
        remembered: Preferences,
        path: Path,
    ) -> None:
        super().__init__()
        self.setWindowTitle("Underhill")
        self.setWindowIcon(icon("underhill", ""))
        self.setMinimumSize(560, 420)
        self.setAcceptDrops(True)
        room = self.screen().availableGeometry()
        self.resize(min(1280, room.width()), min(820, room.height() - 40))
        self._theme = theme
        self._database = database
        self.conversation = conversation
        self.models = known
        self._preferences = remembered
        self._path = path
        self.folder = path.parent
        self.remembering = WindowState(self, database, remembered, path)
        self._build()
        self.rewriting = MessageEditing(self, conversation, known)
        self.chats = ChatsController(self, theme, database, conversation, remembered)
        self.network = Network(known)
        self.desk = ModelController(self, theme, known, conversation, remembered)
        self.library = LibraryController(self, view_model, known)
        self.network_desk = NetworkController(self, theme, self.network)
        self.engine_desk = EngineController(self, known.link, view_model, database)
        self.disk_desk = StorageController(self, database, conversation)
        self.closing = ClosingController(self, database, conversation)
        self._connect()
        self.finding = FindController(self, conversation)  # after _connect: it selects in what is on the page by then
        KeyForwarder(self, self.composer.edit, self.transcript)
        self._shortcuts()
        self._restore()

    # ---- building ---------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.sidebar = Sidebar(self._theme)
        self.header = Header(self._theme, self.models)
        self.banners = Banners(self._theme)
        self.find_bar = FindBar(self._theme)
        self.transcript = TranscriptView(self._theme)
        self.welcome = Welcome()
        self.pages = QStackedWidget()
        self.pages.addWidget(self.welcome)
        self.pages.addWidget(self.transcript)
        self.pages.currentChanged.connect(self._page_changed)
        self.composer = Composer(self._theme)
        self.composer.setMaximumWidth(812)
        foot = QWidget()
        below = QHBoxLayout(foot)
        below.setContentsMargins(20, 4, 20, 16)
        below.addStretch(1)
        below.addWidget(self.composer, 1000)
        below.addStretch(1)
        page = QWidget()
        page.setObjectName("page")
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self.banners)
        column.addWidget(self.find_bar)
        column.addWidget(self.pages, 1)
        column.addWidget(foot)
        self._foot = foot
        self.toast = Toast(page, foot)
        self.drop_hint = DropHint(page)
        self._page = page
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(1)
        self.splitter.addWidget(self.sidebar)
        self.splitter.addWidget(page)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([248, 1000])
        self.setCentralWidget(self.splitter)
        self.live = TelemetryDocks(self, self._theme)
        self.sides = SidePanes(self.splitter, self.header, self.sidebar, self.live, self._preferences)

    def _connect(self) -> None:
        c = self.conversation
        self._scrolled = QTimer(self, singleShot=True, interval=_PLACE_AFTER)
        self._scrolled.timeout.connect(self._keep_place)
        self.transcript.moved.connect(self._scrolled.start)
        c.opened.connect(self._opened)
        self.there = ChatNavigator(self, self._database, c)  # after that: the page then shows what it is asked for
        c.added.connect(self._added)
        c.grew.connect(self.transcript.extend)
        c.finished.connect(self.transcript.finish)
        c.finished.connect(lambda _: self.transcript.mark_start(first_read_message(c.messages)))
        c.removed.connect(self.transcript.remove)
        c.replaced.connect(self.transcript.replace)
        c.queue_changed.connect(self.composer.set_queue)
        c.busy_changed.connect(self._busy_changed)
        c.returned.connect(self._returned)
        c.failed.connect(self._answer_failed)
        self.transcript.link.connect(self._open_link)
        self.composer.sent.connect(self._send)
        self.composer.stopped.connect(c.stop)
        self.composer.draft.connect(self._keep_draft)
        self.composer.queue_changed.connect(c.set_queue)
        self.composer.undo.connect(self._undo)
        self.welcome.asked.connect(self._send)
        self.sidebar.new.connect(self.new_chat)
        self.sidebar.opened.connect(self.show_opened)
        self.sidebar.renamed.connect(c.rename)
        self.header.thinking_wanted.connect(self._think)
        self.header.shortcuts_wanted.connect(self.show_shortcuts)
        self.header.about_wanted.connect(self.show_about)
        self.header.logs_wanted.connect(self.show_logs)

    def _shortcuts(self) -> None:
        slots: dict[str, Callable[[], object]] = {
            "new_chat": self.new_chat, "next_chat": self.chats.next_chat, "chat_before": self.chats.chat_before,
            "focus_search": self._focus_search, "undo": self._undo,
            "escape": self._escape, "attach": self.composer.attach.click,
            "style": self.chats.open_style, "find": self.finding.open,
            "again_last": self.rewriting.again_last, "copy_last": self._copy_last,
            "go_on_last": self.rewriting.go_on_last,
            "choose_model": self.header.model.showMenu, "toggle_sidebar": self.header.sidebar.toggle,
            "toggle_live": self.header.live.toggle, "next_pane": self._next_pane,
            "open_settings": self.desk.open_settings, "show_library": self.library.show,
            "show_shortcuts": self.show_shortcuts, "close_window": self.close,
        }  # fmt: skip
        for shortcut in SHORTCUTS:
            if shortcut.name:
                QShortcut(QKeySequence(shortcut.keys), self).activated.connect(slots[shortcut.name])

    def _restore(self) -> None:
        p = self._preferences
        self.remembering.arrange()
        sizes.follow(self, lambda window: window.sides.fit())
        self.conversation.sampling = dict(p.sampling)
        self.header.thinking.set_level(p.thinking)
        self.conversation.thinking = p.thinking
        self._database.submit(trash.empty_expired)
        self.chats.refresh()
        self._database.submit(drafts.attached, self._attach_again)
        self._database.submit(partial(ChatStore.chat, chat_id=p.chat), partial(self._reopen, p.draft))
        self.conversation.new()
        self.composer.edit.setFocus()

    def prefer_model(self, model: str) -> None:
        """Open this model at the start instead of the last one."""
        self._preferences.model = model

    @Slot(str)
    def come_forward(self, model: str) -> None:
        """Another start asked for this window, and perhaps for a model."""
        raise_window(self)
        if model and model != self._preferences.model:
            self.desk.open_model(model)

    def start(self) -> None:
        """Ask the engine for the models, and open the last one."""
        self.models.refresh()
        self.network.refresh()
        self.desk.reload()

    # ---- chats ------------------------------------------------------------------------------------------------

    def leave(self) -> None:
        """Keep what is not sent and where the page is scrolled to."""
        self.composer.save_draft()
        self._keep_place()

    @Slot()
    def new_chat(self) -> None:
        """An empty chat."""
        self.leave()
        self.sidebar.search.clear()
        self.conversation.new()
        self.composer.edit.setFocus()

    @Slot(object)
    def show_opened(self, chat: Chat) -> None:
        """Open a chat, or come back to it from another page."""
        self.leave()
        if self.conversation.wanted != chat.id:
            self.conversation.open(chat)
        else:
            self.show_chat()

    def _reopen(self, draft: str, last: Chat | None) -> None:
        """After a restart: the chat that was open, unless the user was quicker. draft: what a new chat began with."""
        if last is not None and self.conversation.chat is None and self.composer.text() == draft:
            self.conversation.open(last)

    def _attach_again(self, files: tuple[Attachment, ...]) -> None:
        """After a restart: what was attached to a message that had no chat yet."""
        self.conversation.new_attached = (*files, *self.conversation.new_attached)
        if files and self.conversation.chat is None:
            self.composer.set_attachments((*files, *self.composer.attachments))

    @Slot(object, object)
    def _opened(self, chat: Chat | None, messages: list[StoredMessage]) -> None:
        if chat is not None and chat.id == self._preferences.chat:
            self.rewriting.leave_off()  # another branch
        else:
            self.rewriting.forget()
        self.pages.setCurrentWidget(self.transcript if messages else self.welcome)  # first: it has its true width then
        self.transcript.set_messages(messages)
        self.transcript.mark_start(first_read_message(messages))
        if chat is not None and chat.place is not None:
            self.transcript.go_to(chat.place)
        if chat is None or chat.id != self._preferences.chat:  # otherwise it is another branch: the draft stays
            self.composer.set_text(chat.draft if chat is not None else self._preferences.draft)
            self.composer.set_attachments(chat.attached if chat is not None else self.conversation.new_attached)
        self.sidebar.mark(chat.id if chat is not None else 0)
        self.setWindowTitle(f"{chat.title} – Underhill" if chat is not None and chat.title else "Underhill")
        self.remembering.keep_open(chat.id if chat is not None else 0)

    @Slot(object)
    def _added(self, message: StoredMessage) -> None:
        self.pages.setCurrentWidget(self.transcript)
        self.transcript.add(message)
        self._scrolled.start()
        self.remembering.keep_open(self.conversation.chat_id)

    @Slot(str, object)
    def _keep_draft(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        """What is typed stays with its chat; before there is one, with the window."""
        text, attachments = self.rewriting.draft(text, attachments)
        self.conversation.keep_attached(attachments)
        if self.conversation.chat is not None:
            self.conversation.keep_draft(text)
        else:
            self.remembering.keep_draft(text)

    @Slot()
    def _keep_place(self) -> None:
        self._scrolled.stop()
        self.conversation.keep_place(self.transcript.place())

    @Slot(str, object)
    def _send(self, text: str, attachments: tuple[Attachment, ...] = ()) -> None:
        if self.rewriting.editing:
            self.rewriting.send(text, attachments)
        else:
            new = self.conversation.chat is None
            self.conversation.send(text, attachments)
            if new:
                self.remembering.keep_draft("")

    @Slot()
    def _copy_last(self) -> None:
        last = next((m for m in reversed(self.conversation.messages) if m.role == "assistant"), None)
        if last is not None:
            self.transcript.copy_message(last.id)

    @Slot(str, object)
    def _returned(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        self.composer.restore(text, attachments)

    # ---- the window itself ------------------------------------------------------------------------------------

    @Slot(object, object)
    def _answer_failed(self, event: protocol.Failed, chat_id: int) -> None:
        question = self.conversation.unanswered
        words, deed = tr("Try again"), partial(self.rewriting.again_to, question)
        if event.kind is protocol.Kind.CONTEXT_FULL:  # it would be so again
            words, deed = tr("Shorten the message"), partial(self.rewriting.edit_longest, question)
        show_failure(self, event, (words, partial(self.there.do, chat_id, deed)))

    @Slot()
    def _busy_changed(self) -> None:
        self.composer.set_busy(self.conversation.busy)
        self.header.show_answering(self.conversation.working)

    @Slot()
    def _escape(self) -> None:
        if self.sidebar.leave_search() or self.finding.close():
            return
        if not self._on_chat:
            self.show_chat()
            return
        if self.conversation.busy:
            self.conversation.stop()
        else:
            self.rewriting.leave_off()
        self.composer.edit.setFocus()

    @Slot(str)
    def _open_link(self, address: str) -> None:
        if why := open_externally.open_link(address):
            self.toast.say(why)

    def show_outside(self, folder: Path) -> None:
        """Open a folder in the file manager."""
        if why := open_externally.show_folder(folder):
            self.toast.say(why)

    @Slot()
    def show_logs(self) -> None:
        """Open the folder of the logs, also where none could be written yet."""
        folder = AppPaths(self.folder).logs
        with suppress(OSError):  # then the file manager says that there is none
            folder.mkdir(parents=True, exist_ok=True)
        self.show_outside(folder)

    @Slot()
    def _undo(self) -> None:
        self.toast.undo()

    @Slot()
    def _focus_search(self) -> None:
        self.header.sidebar.setChecked(True)
        self.sidebar.search.setFocus()
        self.sidebar.search.selectAll()

    @Slot()
    def _next_pane(self) -> None:
        """F6: chats, conversation, composer, and round again."""
        panes: list[QWidget] = [self.sidebar.list, self.transcript, self.composer.edit]
        panes = [p for p in panes if p.isVisible()]
        at = next((i for i, p in enumerate(panes) if p.hasFocus()), -1)
        panes[(at + 1) % len(panes)].setFocus()

    def show_chat(self) -> None:
        """The open chat, or what stands for an empty one."""
        self.pages.setCurrentWidget(self.transcript if self.conversation.messages else self.welcome)
        self.composer.edit.setFocus()

    @property
    def _on_chat(self) -> bool:
        """Is a chat shown, and not the library or the tour?"""
        return self.pages.currentWidget() in (self.transcript, self.welcome)

    @Slot(int)
    def _page_changed(self, _: int) -> None:
        """One writes to a chat only, and it is there that the live panels are about what one sees."""
        chat = self._on_chat
        self._foot.setVisible(chat)
        self.finding.close()
        self.sides.calm(not chat)

    @Slot()
    def show_shortcuts(self) -> ShortcutSheet:
        """The sheet of all keys."""
        sheet = ShortcutSheet(self)
        sheet.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        sheet.open()
        return sheet

    @Slot()
    def show_about(self) -> AboutDialog:
        """Versions, folders, licences."""
        card = self.models.card
        about = AboutDialog(self._path.parent, sentences(*card.plan) if card is not None else "", self)
        about.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        about.open()
        return about

    @Slot(str)
    def _think(self, wanted: str) -> None:
        self.conversation.thinking = self._preferences.thinking = wanted

    def focusNextPrevChild(self, forward: bool) -> bool:
        return keyboard.move_focus(self, forward)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if local_files(event.mimeData()):
            event.acceptProposedAction()
            self.drop_hint.cover()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.drop_hint.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self.drop_hint.hide()
        self.composer.files.emit(local_files(event.mimeData()))
        event.acceptProposedAction()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.sides.fit()
        self.toast.place()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.live.measure()
        self.sides.fit()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.desk.close_settings()
        self.leave()
        self.remembering.save()
        if not self.closing.may_close():
            event.ignore()
            return
        self.toast.end()
        super().closeEvent(event)
