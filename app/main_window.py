"""The main window: makes the controllers, connects them, and declares what its keys do."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QCloseEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent

from app.backend.models import Models
from app.backend.network import Network
from app.chat.conversation import Conversation
from app.controllers.chat_controller import ChatController
from app.controllers.chat_navigator import ChatNavigator
from app.controllers.chats_controller import ChatsController
from app.controllers.closing_controller import ClosingController
from app.controllers.engine_controller import EngineController
from app.controllers.find_controller import FindController
from app.controllers.library_controller import LibraryController
from app.controllers.message_editing import MessageEditing
from app.controllers.model_controller import ModelController
from app.controllers.network_controller import NetworkController
from app.controllers.side_panes import SidePanes
from app.controllers.storage_controller import StorageController
from app.dialogs.about import AboutDialog, ShortcutSheet
from app.i18n.translate import sentences
from app.library.view_model import LibraryViewModel
from app.platform.paths import AppPaths
from app.settings.controller import SettingsController
from app.settings.preferences import Preferences
from app.settings.window_state import WindowState
from app.shell import Shell
from app.storage.database_thread import DatabaseThread
from app.theme import sizes
from app.theme.theme import Theme
from app.widgets.dialogs import raise_window
from app.widgets.keyboard import KeyForwarder
from app.widgets.shortcuts import SHORTCUTS


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
            self,
            database,
            conversation,
            preferences=preferences,
            state=self.state,
            navigator=self.navigator,
            editing=self.editing,
        )
        self.find_controller = FindController(self, conversation)  # after chat: it selects in what is on the page then
        self.chats = ChatsController(
            self,
            theme,
            database,
            conversation=conversation,
            preferences=preferences,
            state=self.state,
            navigator=self.navigator,
            find=self.find_controller,
            folder=paths.folder,
        )
        self.network = Network(models)
        self.model_controller = ModelController(self, models, conversation, preferences, self.state, self.navigator)
        self.settings = SettingsController(
            self,
            theme,
            models,
            conversation=conversation,
            remembered=preferences,
            state=self.state,
            network=self.network,
            reload=self.model_controller.reload,
        )
        self.library = LibraryController(self, view_model, models, self.navigator)
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
        self.model_wanted.connect(self.model_controller.open_model)
        self.setting_wanted.connect(self.settings.open_at)
        self.library_wanted.connect(self.library.show)
        self.engine_wanted.connect(self.models.link.restart)
        self.models.link.started.connect(self.start)
        self.pages.currentChanged.connect(self._leave_chat_page)
        self.header.settings.clicked.connect(self.settings.open)
        self.header.shortcuts_wanted.connect(self.show_shortcuts)
        self.header.about_wanted.connect(self.show_about)
        self.header.logs_wanted.connect(self.show_logs)

    def _connect_shortcuts(self) -> None:
        slots: dict[str, Callable[[], object]] = {
            "new_chat": self.navigator.new_chat, "next_chat": self.chats.next_chat,
            "chat_before": self.chats.chat_before, "focus_search": self.focus_search, "undo": self.toast.undo,
            "escape": self._escape, "attach": self.composer.attach.click,
            "style": self.chats.open_style, "find": self.find_controller.open,
            "again_last": self.editing.again_last, "copy_last": self.chat.copy_last,
            "go_on_last": self.editing.go_on_last,
            "choose_model": self.header.model.showMenu, "toggle_sidebar": self.header.sidebar.toggle,
            "toggle_live": self.header.live.toggle, "next_pane": self.focus_next_pane,
            "open_settings": self.settings.open, "show_library": self.library.show,
            "show_shortcuts": self.show_shortcuts, "close_window": self.close,
        }  # fmt: skip
        for shortcut in SHORTCUTS:
            if shortcut.name:
                QShortcut(QKeySequence(shortcut.keys), self).activated.connect(slots[shortcut.name])

    def prefer_model(self, model: str) -> None:
        """Open this model at the start instead of the last one."""
        self.preferences.model = model

    @Slot(str)
    def come_forward(self, model: str) -> None:
        """Another start asked for this window, and perhaps for a model."""
        raise_window(self)
        if model and model != self.preferences.model:
            self.model_controller.open_model(model)

    @Slot()
    def start(self) -> None:
        """Ask the engine for the models, and open the last one."""
        self.models.refresh()
        self.network.refresh()
        self.model_controller.reload()

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
            self.editing.leave_off()
        self.composer.edit.setFocus()

    @Slot(int)
    def _leave_chat_page(self, _: int) -> None:
        """Another page: the live panels are about what one sees of a chat."""
        self.find_controller.close()
        self.side_panes.set_quiet(not self.on_chat)

    @Slot()
    def show_logs(self) -> None:
        """Open the folder of the logs, also where none could be written yet."""
        with suppress(OSError):  # then the file manager says that there is none
            self.paths.logs.mkdir(parents=True, exist_ok=True)
        self.open_folder(self.paths.logs)

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
        about = AboutDialog(self.paths.folder, sentences(*card.plan) if card is not None else "", self)
        about.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        about.open()
        return about

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
        self.toast.end()
        super().closeEvent(event)
