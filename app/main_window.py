"""The main window: makes the controllers, connects them, and declares what its keys do."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from PySide6.QtCore import QObject, QSignalBlocker, Slot
from PySide6.QtGui import QCloseEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QSplitter

from app.backend import Models
from app.chat.conversation import Conversation
from app.chat.header import Header
from app.chat.titles import TitleWriter
from app.controllers.chat_controller import ChatController
from app.controllers.chat_navigator import ChatNavigator
from app.controllers.chats_controller import ChatsController
from app.controllers.compare_controller import CompareController
from app.controllers.engine_controller import EngineController, ModelController, NetworkController
from app.controllers.find_controller import FindController
from app.controllers.library_controller import LibraryController
from app.controllers.message_editing import MessageEditing
from app.controllers.reading_aloud import ReadingAloud
from app.controllers.server_controller import ServerController
from app.controllers.storage_controller import ClosingController, StorageController
from app.controllers.tool_chooser import ToolChooser
from app.dialogs import AboutDialog, ShortcutSheet
from app.i18n.translate import sentences
from app.library.view_model import LibraryViewModel
from app.local_server import ServerControl
from app.network import Network
from app.platform.logs import AppPaths
from app.prompts.dialog import PromptsDialog
from app.prompts.library import PromptLibrary
from app.prompts.picker import PromptPicker
from app.settings.controller import SettingsController
from app.settings.preferences import Preferences, WindowState
from app.shell import Shell
from app.sidebar.sidebar import Sidebar
from app.storage.database_thread import DatabaseThread
from app.telemetry.docks import TelemetryDocks
from app.theme import sizes
from app.theme.theme import Theme
from app.widgets.builders import open_dialog, raise_window
from app.widgets.keyboard import SHORTCUTS, KeyForwarder

_CHAT = 52  # characters across that the chat keeps
_NONE, _CHATS, _LIVE = "", "chats", "live"


class SidePanes(QObject):
    """What is wished for is remembered; what is put away for want of room comes back with the room.

    Opening the one by hand puts the other away. Closing one does not bring the other.
    """

    def __init__(
        self, splitter: QSplitter, header: Header, sidebar: Sidebar, live: TelemetryDocks, wishes: Preferences
    ) -> None:
        super().__init__(splitter)
        self._splitter, self._header, self._sidebar, self._live, self._wishes = splitter, header, sidebar, live, wishes
        self.away = _NONE  # the one that is put away
        self.quiet = False  # on a page without answers, where live panels show only on demand
        self._chats_width = splitter.sizes()[0]
        header.sidebar.toggled.connect(partial(self._chosen, _CHATS))
        header.live.toggled.connect(partial(self._chosen, _LIVE))
        live.closed.connect(partial(header.live.setChecked, False))

    @Slot()
    def fit(self) -> None:
        """The width of the window, or what is wished for, is another."""
        window = self._splitter.window()
        if self._sidebar.isVisible():
            self._chats_width = self._sidebar.width()
        chat = _CHAT * self._splitter.fontMetrics().averageCharWidth()
        if window.width() >= chat + self._chats_width + self._live.wide():
            self.away = _NONE
        elif self._wishes.sidebar_open and self._wishes.live_open and not self.away:
            self.away = _LIVE
        chats = self._wishes.sidebar_open and self.away != _CHATS
        live = self._wishes.live_open and self.away != _LIVE and not self.quiet
        self._sidebar.setVisible(chats)
        if not self._wishes.live_open:
            self._live.show_all(False)
        elif not live:
            self._live.hide_docked()
        elif not self._live.shown:
            self._live.show_docked()
        for button, shown in ((self._header.sidebar, chats), (self._header.live, live)):
            with QSignalBlocker(button):
                button.setChecked(shown)

    def _chosen(self, side: str, shown: bool) -> None:
        """The button of one side was clicked, or its key was pressed."""
        if side == _CHATS:
            self._wishes.sidebar_open = shown
        else:
            self._wishes.live_open = shown
        if shown:
            self.quiet = self.quiet and side != _LIVE
            self.away = _CHATS if side == _LIVE else _LIVE  # if there is no room for both
        self.fit()


class MainWindow(Shell):
    """Owns the controllers. Only the application and tests know it; controllers know Shell."""

    def __init__(
        self, theme: Theme, database: DatabaseThread, conversation: Conversation, *, models: Models,
        view_model: LibraryViewModel, preferences: Preferences, paths: AppPaths,
    ) -> None:  # fmt: skip
        super().__init__(theme, models)
        self.conversation, self.models, self.preferences, self.paths = conversation, models, preferences, paths
        self.state = WindowState(self, database, preferences, paths.preferences)
        self.side_panes = SidePanes(self.splitter, self.header, self.sidebar, self.live, preferences)
        self.navigator = ChatNavigator(self, database, conversation)
        self.editing = MessageEditing(self, conversation, models, self.navigator)
        self.chat = ChatController(
            self, database, conversation, preferences=preferences, state=self.state, navigator=self.navigator,
            editing=self.editing,
        )  # fmt: skip
        self.find_controller = FindController(self, conversation)  # after chat: it selects in what is on the page then
        self.chats = ChatsController(
            self, database, conversation=conversation, preferences=preferences, state=self.state,
            navigator=self.navigator, find=self.find_controller, folder=paths.folder,
        )  # fmt: skip
        self.reading_aloud = ReadingAloud(self, conversation)
        self.titles = TitleWriter(conversation, models, preferences.auto_titles, self)
        self.prompts = PromptLibrary(database, paths.folder, self)
        self.prompts.problem.connect(conversation.problem)
        self.prompt_picker = PromptPicker(self.composer, self.prompts, self)
        self.tools = ToolChooser(self.composer, conversation, models)
        self.network = Network(models)
        self.server = ServerControl(
            models.link, preferences.server, lambda: (dict(preferences.engine), dict(preferences.models)), self
        )
        conversation.choice.settings = lambda: (dict(preferences.engine), dict(preferences.models))
        self.model_controller = ModelController(self, models, conversation, preferences, self.state, self.navigator)
        self.compare = CompareController(
            self, theme, models, conversation, preferences, self.navigator, database=database
        )
        self.settings = SettingsController(
            self, theme, models, conversation=conversation, remembered=preferences, state=self.state,
            network=self.network, server=self.server, reload=self.model_controller.reload,
        )  # fmt: skip
        self.library = LibraryController(self, view_model, models, self.network, self.navigator)
        self.server_controller = ServerController(self, self.server)
        self.network_controller = NetworkController(self, theme, self.network)
        self.engine_controller = EngineController(self, models.link, view_model, database, paths.engine_log)
        self.storage_controller = StorageController(
            self, database, conversation, self.state, self.chats.transfer.restore, paths.folder
        )
        self.closing = ClosingController(self, database, conversation, self.state, self.navigator)
        KeyForwarder(self, self.composer.edit, self.transcript)
        self._connect()
        self._connect_shortcuts()
        self.state.arrange()
        sizes.follow(self, lambda window: window.side_panes.fit())
        self.chat.restore()

    def _connect(self) -> None:
        self.model_requested.connect(self.model_controller.choose_model)
        self.team_requested.connect(self.model_controller.choose_team)
        self.setting_requested.connect(lambda name: self.settings.open().show_setting(name))
        self.server_requested.connect(self.settings.open_server)
        self.tools.settings_requested.connect(self.settings.open_tools)
        self.settings.titles_changed.connect(self.titles.set_wanted)
        self.settings.new_chat_model_changed.connect(self.model_controller.follow_chat)
        self.library_requested.connect(self.library.show)
        self.engine_requested.connect(self.models.link.restart)
        self.models.link.started.connect(self.start)
        self.pages.currentChanged.connect(self._leave_chat_page)
        self.header.settings.clicked.connect(self.settings.open)
        self.header.shortcuts.triggered.connect(self.show_shortcuts)
        self.header.prompts.triggered.connect(self.show_prompts)
        self.prompt_picker.edit_requested.connect(self.show_prompts)
        self.header.about.triggered.connect(self.show_about)
        self.header.logs.triggered.connect(self.show_logs)

    def _connect_shortcuts(self) -> None:
        slots: dict[str, Callable[[], object]] = {
            "new_chat": self.navigator.new_chat, "next_chat": lambda: self.chats.step(1),
            "chat_before": lambda: self.chats.step(-1), "focus_search": self.focus_search, "undo": self.toast.undo,
            "escape": self._escape, "attach": self.composer.attach.click,
            "style": self.chats.open_style, "find": self.find_controller.open,
            "regenerate_last": self.editing.regenerate_last, "copy_last": self.chat.copy_last,
            "read_last": self.reading_aloud.toggle_last,
            "continue_last": self.editing.continue_last,
            "compare": self.compare.open, "choose_model": self.header.model.showMenu,
            "toggle_sidebar": self.header.sidebar.toggle, "toggle_live": self.header.live.toggle,
            "next_pane": self.focus_next_pane,
            "open_settings": self.settings.open, "show_library": self.library.show,
            "show_shortcuts": self.show_shortcuts, "close_window": self.close,
        }  # fmt: skip
        for shortcut in SHORTCUTS:
            if shortcut.name:
                QShortcut(QKeySequence(shortcut.keys), self).activated.connect(slots[shortcut.name])

    @Slot(str, str)
    def come_forward(self, model: str, file: str = "") -> None:
        """Raise the window for a second start, open the model that it asked for, and import a file that it brought."""
        raise_window(self)
        if file:
            self.library.import_path(file)
        if model and model != self.preferences.model:
            self.model_controller.choose_model(model)

    @Slot()
    def start(self) -> None:
        """Ask the engine for the models, and open the last one."""
        self.models.refresh()
        self.network.refresh()
        self.model_controller.reload()
        self.server.engine_ready()
        self.conversation.tool_calls.servers.refresh()

    @Slot()
    def _escape(self) -> None:
        if self.sidebar.leave_search() or self.find_controller.close():
            return
        if not self.on_chat:
            self.navigator.show_chat()
            return
        if self.conversation.busy:
            self.conversation.stop()
        else:
            self.editing.cancel_edit()
        self.composer.edit.setFocus()

    @Slot(int)
    def _leave_chat_page(self, _: int) -> None:
        """Close the find bar on another page, and hide the live panels where it is no chat."""
        self.find_controller.close()
        self.side_panes.quiet = not self.on_chat
        self.side_panes.fit()

    @Slot()
    def show_logs(self) -> None:
        """Open the folder of the logs, also where none could be written yet."""
        with suppress(OSError):  # then the file manager says that there is none
            self.paths.logs.mkdir(parents=True, exist_ok=True)
        self.open_folder(self.paths.logs)

    @Slot()
    def show_shortcuts(self) -> ShortcutSheet:
        """The sheet of all keys."""
        return open_dialog(ShortcutSheet(self))

    @Slot()
    def show_prompts(self) -> PromptsDialog:
        """Prompts to write and change."""
        return open_dialog(PromptsDialog(self.prompts, self))

    @Slot()
    def show_about(self) -> AboutDialog:
        """Versions, folders, licences."""
        card = self.models.card
        return open_dialog(AboutDialog(self.paths.folder, sentences(*card.plan) if card is not None else "", self))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.side_panes.fit()
        self.toast.place()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.live.measure()
        self.side_panes.fit()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.settings.close()
        self.navigator.leave()
        self.state.save()
        if not self.closing.may_close():
            event.ignore()
            return
        self.reading_aloud.stop()
        self.toast.end()
        super().closeEvent(event)
