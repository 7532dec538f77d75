"""The local server as the window sees it: switched on and off, who asks it, and the key that programs show."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtNetwork import QAbstractSocket, QHostAddress, QNetworkInterface

from app.backend import EngineLink
from app.i18n.translate import sentences, tr
from engine import protocol
from engine.translatable import translated

OFF = protocol.ServerState()
HERE, EVERYWHERE = "127.0.0.1", "0.0.0.0"
_KEY_BYTES = 24
_ADDRESSES = 4  # of this computer that are shown, at most

ModelSettings = tuple[dict[str, Any], dict[str, dict[str, Any]]]


class ServerControl(QObject):
    """Starts and stops the server of the engine, and again in another engine.

    wanted: it is to run. busy: it is being started or stopped. state: as the engine told last. problem: why it does not
    run. key: that programs show, '' for none, None while it is not known. key_note: what is to be said of the key.
    """

    changed = Signal()  # wanted, busy, state or problem
    key_changed = Signal()
    failed = Signal(object)  # protocol.Failed: it does not run, and nobody has just turned it on

    def __init__(
        self, link: EngineLink, chosen: Mapping[str, Any], settings: Callable[[], ModelSettings],
        parent: QObject | None = None,
    ) -> None:  # fmt: skip
        """chosen: values of protocol.settings.SERVER that differ from the defaults, as they are at any time.

        settings: how models are opened that programs ask for, as of protocol.UpdateServer.
        """
        super().__init__(parent)
        self._link, self._chosen, self._settings = link, chosen, settings
        self.wanted, self.busy, self.state, self.problem = False, False, OFF, ""
        self.key: str | None = None
        self.key_note = ""
        self._own_key = ""  # that no keyring took: it is handed over with each start
        self._asking_key = False
        self._turn = 0  # of the last start or stop: answers of earlier ones are out of date
        self._begun = False
        link.server_changed.connect(self._take)
        link.died.connect(self._died)

    def value(self, name: str) -> Any:
        """One of protocol.settings.SERVER as it is now."""
        return self._chosen.get(name, next(s.default for s in protocol.settings.SERVER if s.name == name))

    @property
    def is_on(self) -> bool:
        """Whether programs can ask."""
        return bool(self.state.address)

    @property
    def for_network(self) -> bool:
        """Whether other computers are to reach it."""
        return bool(self.value("server_reach") == "network")

    @property
    def addresses(self) -> list[str]:
        """What programs are given, without a path: those of this computer in its networks, or 127.0.0.1."""
        if EVERYWHERE not in self.state.address:
            return [self.state.address] if self.is_on else []
        port = self.state.address.rpartition(":")[2]
        return [f"http://{host}:{port}" for host in [*_own_addresses(), HERE]]

    @Slot()
    def engine_ready(self) -> None:
        """There is an engine, the first or another: start in it what is to run."""
        if not self._begun:
            self._begun = True
            self.wanted = bool(self.value("server_start"))
        if self.wanted:
            self._start(self._failed_unasked)

    @Slot()
    def turn_on(self) -> None:
        """Start it. Where other computers are to reach it and there is no key, one is made first."""
        self.wanted = True
        if self.for_network and self.key == "":
            self.make_key()
        else:
            self._start(self._failed)

    @Slot()
    def turn_off(self) -> None:
        """Stop it; requests that are answered end."""
        self.wanted = False
        self._ask(self._failed, protocol.StopServer)

    def apply(self) -> None:
        """Take what was chosen of port and reach: start anew if it runs."""
        if self.for_network and self.key == "":
            self.make_key()
        elif self.wanted:
            self._start(self._failed)

    def update_settings(self) -> None:
        """Tell a server that runs how models are to be opened from now on."""
        if self.wanted:
            self._link.ask(protocol.UpdateServer, None, *self._settings())

    @Slot(str)
    def stop_request(self, ident: str) -> None:
        """End a request that waits or is answered."""
        self._link.stop(ident)

    # ---- the key ----------------------------------------------------------------------------------------------

    @Slot()
    def ask_key(self) -> None:
        """Ask the keyring, unless the key is known."""

        def told(kept: protocol.ServerKey) -> None:
            self._asking_key = False
            self._set_key(kept.value)

        def refused(event: protocol.Failed) -> None:
            self._asking_key = False
            self.key_note = sentences(event.sentence, event.action)
            self.key_changed.emit()

        if self.key is None and not self._asking_key:
            self._asking_key = True
            self._link.request(told, refused, protocol.AskServerKey)

    @Slot()
    def make_key(self) -> None:
        """Make a new key, and start anew with it if the server is to run.

        One that no keyring takes holds until the window is closed.
        """
        made = secrets.token_urlsafe(_KEY_BYTES)

        def kept(_: None) -> None:
            self._own_key = ""
            self._changed_key(made)

        def refused(event: protocol.Failed) -> None:
            if event.kind in protocol.GONE:
                self._keep_note(event)
                return
            self._own_key = made
            self._changed_key(made, sentences(event.sentence, tr("This key works until you close the app.")))

        self._link.request(kept, refused, protocol.KeepServerKey, made)

    @Slot()
    def remove_key(self) -> None:
        """Do without a key, for programs on this computer."""

        def removed(_: None) -> None:
            self._own_key = ""
            self._changed_key("")

        self._link.request(removed, self._keep_note, protocol.KeepServerKey, "")

    def _keep_note(self, event: protocol.Failed) -> None:
        self.key_note = sentences(event.sentence, event.action)
        self.key_changed.emit()

    def _changed_key(self, key: str, note: str = "") -> None:
        self._set_key(key, note)
        if self.wanted:
            self._start(self._failed)

    def _set_key(self, key: str, note: str = "") -> None:
        self.key, self.key_note = key, note
        self.key_changed.emit()

    # ---- start and stop ---------------------------------------------------------------------------------------

    def _start(self, failed: Callable[[protocol.Failed], None]) -> None:
        host = EVERYWHERE if self.for_network else HERE
        port, (common, own) = self.value("server_port"), self._settings()
        self._ask(failed, protocol.StartServer, host, port, self._own_key, "", common, own)

    def _ask(self, failed: Callable[[protocol.Failed], None], kind: type[protocol.Command], *values: object) -> None:
        self._turn += 1
        turn = self._turn

        def done(state: protocol.ServerState) -> None:
            if turn == self._turn:
                self.busy = False
                self._take(state)

        def refused(event: protocol.Failed) -> None:
            if turn == self._turn:
                self.busy = False
                failed(event)

        self.busy, self.problem = True, ""
        self.changed.emit()
        self._link.request(done, refused, kind, *values)

    @Slot(object)
    def _take(self, state: protocol.ServerState) -> None:
        broke_off = self.is_on and not state.address and self.wanted and not self.busy
        self.state = state
        if broke_off:
            sentence, action = tr("The local server has stopped because of an error."), tr("Turn it on again.")
            self._failed_unasked(protocol.Failed("", protocol.Kind.INTERNAL, translated(sentence), translated(action)))
        else:
            self.changed.emit()

    def _failed(self, event: protocol.Failed) -> None:
        if event.kind in protocol.GONE:
            return  # `_died` follows
        self.wanted, self.state = False, OFF
        self.problem = sentences(event.sentence, event.action)
        self.changed.emit()

    def _failed_unasked(self, event: protocol.Failed) -> None:
        self._failed(event)
        if event.kind not in protocol.GONE:
            self.failed.emit(event)

    @Slot(object)
    def _died(self, _: protocol.Failed) -> None:
        """It has gone with its engine, and comes again with the next one."""
        self._turn += 1
        self.busy, self.state = False, OFF
        self.changed.emit()


def _own_addresses() -> list[str]:
    """IPv4 addresses that other computers may reach this one at."""
    flags, found = QNetworkInterface.InterfaceFlag, []
    for interface in QNetworkInterface.allInterfaces():
        state = interface.flags()
        if not (state & flags.IsUp and state & flags.IsRunning) or state & flags.IsLoopBack:
            continue
        for entry in interface.addressEntries():
            address: QHostAddress = entry.ip()
            if address.protocol() == QAbstractSocket.NetworkLayerProtocol.IPv4Protocol and not address.isLinkLocal():
                found.append(address.toString())
    return found[:_ADDRESSES]
