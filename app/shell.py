"""The main window's frame: its widgets, how they are laid out, and which page is shown."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QMainWindow, QSplitter, QStackedWidget, QWidget

from app.backend import Models
from app.chat.header import Header
from app.chat.welcome import Welcome
from app.composer import Composer, DropHint, is_image, local_files
from app.i18n.translate import tr
from app.platform import files
from app.sidebar.sidebar import Sidebar
from app.telemetry.docks import TelemetryDocks
from app.theme import fonts, sizes
from app.theme.icons import icon
from app.theme.theme import Theme
from app.transcript.layout import WIDEST
from app.transcript.view import TranscriptView
from app.widgets import keyboard
from app.widgets.builders import centred, vbox
from app.widgets.messages import Banners, Button, Toast
from app.widgets.search_field import FindBar
from engine import protocol

_AROUND = 32  # pixels that the composer is wider than the text of a chat, as its own text has them beside it
_CHATS = 248  # pixels that the list of chats is wide beside text of the base size
_MANAGE_MODELS = (
    protocol.Kind.DISK_FULL, protocol.Kind.DISK_ERROR, protocol.Kind.MISSING_FILE, protocol.Kind.NOT_A_MODEL,
    protocol.Kind.BROKEN_FILE, protocol.Kind.UNSUPPORTED_MODEL,
)  # fmt: skip
_SETTINGS = {
    protocol.Kind.OFFLINE: "offline", protocol.Kind.NO_NETWORK: "proxy", protocol.Kind.NO_ACCESS: "proxy",
    protocol.Kind.OUT_OF_MEMORY: "memory_gb", protocol.Kind.CONTEXT_FULL: "context_length",
}  # fmt: skip


class Shell(QMainWindow):
    """What controllers know of the main window: its widgets, and signals for what other controllers do.

    MainWindow, which makes the controllers and connects these signals, inherits it; no controller imports MainWindow.
    library_page: of `pages`, once it was shown.
    """

    restart_requested = Signal()  # close, and open again
    model_requested = Signal(str)  # open the model of this name
    team_requested = Signal(str)  # have the team of this id answer
    setting_requested = Signal(str)  # show the settings, at the one of this name
    server_requested = Signal()  # show the settings of the local server
    library_requested = Signal()
    engine_requested = Signal()  # start another engine in the place of one that has stopped

    def __init__(self, theme: Theme, models: Models) -> None:
        super().__init__()
        self.setWindowTitle("Underhill")
        self.setWindowIcon(icon("underhill", ""))
        self.setMinimumSize(560, 420)
        self.setAcceptDrops(True)
        screen = self.screen().availableGeometry()
        self.resize(min(1280, screen.width()), min(820, screen.height() - 40))
        self.library_page: QWidget | None = None
        self.sidebar = Sidebar(theme)
        self.header = Header(theme, models)
        self.banners = Banners(theme)
        self.find_bar = FindBar(theme)
        self.transcript = TranscriptView(theme)
        self.welcome = Welcome()
        self.pages = QStackedWidget()
        self.pages.addWidget(self.welcome)
        self.pages.addWidget(self.transcript)
        self.pages.currentChanged.connect(self._page_changed)
        self.composer = Composer(theme)
        sizes.set_widest(self.composer, WIDEST, _AROUND)
        self._foot, page = QWidget(), QWidget()
        centred(self.composer, self._foot, (20, 4, 20, 16))
        page.setObjectName("page")
        vbox(
            self.header, self.banners, self.find_bar, (self.pages, 1), self._foot, parent=page, margins=0, spacing=0
        )  # fmt: skip
        self.toast = Toast(page, self._foot)
        self.drop_hint = DropHint(page)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(1)
        self.splitter.addWidget(self.sidebar)
        self.splitter.addWidget(page)
        self.splitter.setStretchFactor(1, 1)
        self._chats = self.splitter.sizes()[0]
        sizes.follow(self, Shell._fit_chats)
        self.setCentralWidget(self.splitter)
        self.live = TelemetryDocks(self, theme)
        self.transcript.link.connect(self._open_link)
        self.transcript.failed.connect(self.toast.show_message)

    def _fit_chats(self) -> None:
        """Have as much of the chats' titles seen in large text, as far as a quarter of the screen is enough: not once a
        person has chosen another width."""
        if self.splitter.sizes()[0] == self._chats:
            chats = min(fonts.pixels(_CHATS), max(_CHATS, self.screen().availableGeometry().width() // 4))
            self.splitter.setSizes([chats, self.width() - chats])
            self._chats = self.splitter.sizes()[0]

    # ---- pages and panes --------------------------------------------------------------------------------------

    @property
    def on_chat(self) -> bool:
        """Whether a chat is shown, and not the library or the tour."""
        return self.pages.currentWidget() in (self.transcript, self.welcome)

    @Slot(int)
    def _page_changed(self, _: int) -> None:
        self._foot.setVisible(self.on_chat)

    @Slot()
    def focus_search(self) -> None:
        """Open the sidebar with the cursor in its search field."""
        self.header.sidebar.setChecked(True)
        self.sidebar.search.setFocus()
        self.sidebar.search.selectAll()

    @Slot()
    def focus_next_pane(self) -> None:
        """Move the focus on: chats, conversation, composer, and round again."""
        panes: list[QWidget] = [self.sidebar.list, self.transcript, self.composer.edit]
        panes = [p for p in panes if p.isVisible()]
        at = next((i for i, p in enumerate(panes) if p.hasFocus()), -1)
        panes[(at + 1) % len(panes)].setFocus()

    def focusNextPrevChild(self, forward: bool) -> bool:
        return keyboard.move_focus(self, forward)

    # ---- messages about what happened -------------------------------------------------------------------------

    def show_failure(self, event: protocol.Failed, again: Button | None = None, *, about: str = "") -> None:
        """Show a banner with what to do: `again`, where that may help, and what helps elsewhere in the window."""
        other = self._remedy(event)
        if event.kind in protocol.GONE:
            again = None
        first, second = (again, other) if again is not None else (other, None)
        self.banners.show_banner("error", event.sentence, event.action, event.cause, first, second, about=about)

    def _remedy(self, event: protocol.Failed) -> Button | None:
        if event.kind is protocol.Kind.STOPPED:
            return tr("Restart engine"), self.engine_requested.emit
        if event.kind in _MANAGE_MODELS:
            shown = self.library_page is not None and self.pages.currentWidget() is self.library_page
            return None if shown else (tr("Manage models"), self.library_requested.emit)
        if event.kind in _SETTINGS:
            return tr("Open settings"), partial(self.setting_requested.emit, _SETTINGS[event.kind])
        return None

    @Slot(str)
    def _open_link(self, address: str) -> None:
        if why := files.open_link(address):
            self.toast.show_message(why)

    def open_folder(self, folder: Path) -> None:
        """Open a folder in the file manager; a toast says where that fails."""
        if why := files.show_folder(folder):
            self.toast.show_message(why)

    # ---- dropped files ----------------------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if local_files(event.mimeData()) or is_image(event.mimeData()):
            event.acceptProposedAction()
            self.drop_hint.cover()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.drop_hint.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self.drop_hint.hide()
        if files := local_files(event.mimeData()):
            self.composer.files.emit(files)
        elif is_image(event.mimeData()):
            self.composer.image.emit(event.mimeData().imageData())
        event.acceptProposedAction()
