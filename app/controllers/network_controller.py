"""Shows whether Underhill is offline, and the page about what is sent."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Qt, Slot

from app.backend.network import Network
from app.dialogs.about import PrivacyDialog
from app.shell import Shell
from app.theme.theme import Theme


class NetworkController(QObject):
    """Shows in the header whether Underhill is offline, and what is sent when."""

    def __init__(self, shell: Shell, theme: Theme, network: Network) -> None:
        super().__init__(shell)
        self._shell, self._theme, self._network = shell, theme, network
        network.changed.connect(self._tell)
        shell.header.offline_wanted.connect(partial(shell.setting_wanted.emit, "offline"))
        shell.header.privacy_wanted.connect(self.show_privacy)
        self._tell()

    @Slot()
    def _tell(self) -> None:
        self._shell.header.show_offline(self._network.offline, self._network.by_environment)

    @Slot()
    def show_privacy(self) -> PrivacyDialog:
        """Every use of the network."""
        page = PrivacyDialog(self._theme, self._shell)
        page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        page.open()
        return page
