"""Controller of the local server: the header says that it runs; what went wrong unasked is a banner."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from app.i18n.translate import tr
from app.local_server import ServerControl
from app.shell import Shell
from engine import protocol


class ServerController(QObject):
    """Shows what the person has to know of the server while its settings are closed."""

    def __init__(self, shell: Shell, control: ServerControl) -> None:
        super().__init__(shell)
        self._shell, self._control = shell, control
        self._told = ""  # the sentence of the banner
        control.changed.connect(self._show)
        control.failed.connect(self._show_failure)
        shell.header.server.clicked.connect(shell.server_requested)
        self._show()

    @Slot()
    def _show(self) -> None:
        addresses, state = self._control.addresses, self._control.state
        self._shell.header.show_server(addresses[0] if addresses else "", len(state.requests))
        if self._told and self._control.is_on:
            self._shell.banners.withdraw(self._told)
            self._told = ""

    @Slot(object)
    def _show_failure(self, event: protocol.Failed) -> None:
        self._told = event.sentence
        self._shell.banners.show_banner(
            "error", event.sentence, event.action, event.cause,
            (tr("Open the settings"), self._shell.server_requested.emit),
        )  # fmt: skip
