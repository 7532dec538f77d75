"""The part of the window that says how it stands with the network: the word at the top, the page of what is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot

from app.backend.network import Network
from app.dialogs.about import PrivacyDialog
from app.theme.theme import Theme

if TYPE_CHECKING:
    from app.main_window import MainWindow


class NetworkController(QObject):
    """Opens the setting and the page."""

    def __init__(self, window: MainWindow, theme: Theme, network: Network) -> None:
        super().__init__(window)
        self._window, self._theme, self._network = window, theme, network
        network.changed.connect(self._tell)
        window.header.offline_wanted.connect(self.open_setting)
        window.header.privacy_wanted.connect(self.show_privacy)
        self._tell()

    @Slot()
    def _tell(self) -> None:
        self._window.header.show_offline(self._network.offline, self._network.by_environment)

    @Slot()
    def open_setting(self) -> None:
        """The settings, where they say whether to stay offline."""
        self._window.desk.open_settings().show_setting("offline")

    @Slot()
    def show_privacy(self) -> PrivacyDialog:
        """Every use of the network."""
        page = PrivacyDialog(self._theme, self._window)
        page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        page.open()
        return page
