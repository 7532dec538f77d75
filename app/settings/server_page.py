"""Page of the local server: the switch, addresses to copy, the key, and who asks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QListWidget, QListWidgetItem, QWidget

from app.i18n.translate import plural, sentences, tr, tr_noop
from app.local_server import ServerControl
from app.settings.editor import SettingEditor
from app.settings.pages import SettingsPage, SwitchRow, heading
from app.settings.preferences import Preferences
from app.theme import sizes
from app.transcript.notes import duration
from app.widgets.builders import FlowLayout, empty, hbox, make_button, make_label, show_text, vbox
from engine import protocol

_ID = Qt.ItemDataRole.UserRole
_STATES = {
    "waiting": tr_noop("Waiting"), "reading": tr_noop("Reading the prompt"), "answering": tr_noop("Answering"),
    "answered": tr_noop("Answered"), "failed": tr_noop("Failed"), "stopped": tr_noop("Stopped"),
}  # fmt: skip


class AddressList(QWidget):
    """The addresses that programs are given, each with a button that copies it."""

    def __init__(self, after: QWidget, parent: QWidget | None = None) -> None:
        """after: what Tab comes from."""
        super().__init__(parent)
        self._after = after
        self.shown: list[str] = []
        label = heading(tr("Server address"), self)
        self._rows = vbox(spacing=4)
        note = make_label(tr(
            "For Ollama or Anthropic, leave out /v1. If an app asks for a key and none is set, type anything."
        ), self, "muted", wrap=True)  # fmt: skip
        vbox(label, self._rows, note, parent=self, margins=(0, 9, 0, 9), spacing=5)

    def show_addresses(self, addresses: Sequence[str]) -> None:
        """Show them; none hides the list."""
        given = [f"{address}/v1" for address in addresses]
        self.setVisible(bool(given))
        if given == self.shown:
            return
        self.shown = given
        empty(self._rows)
        before = self._after
        for address in given:
            row = QWidget(self)
            before = self._fill(row, address, before)
            self._rows.addWidget(row)

    @staticmethod
    def _fill(row: QWidget, address: str, before: QWidget) -> QWidget:
        """An address and its button, which Tab reaches from `before`. Returns the button."""
        text = make_label(address, row, selectable=True)
        copy = make_button(tr("Copy"), row, partial(_copy, address), name=tr("Copy {address}", address=address))
        hbox(text, copy, ..., parent=row, margins=0, spacing=10)
        QWidget.setTabOrder(before, copy)
        return copy


class KeyEditor(QWidget):
    """The key that programs show, hidden until it is asked for. made, removed: the person wants a new one, or none."""

    made = Signal()
    removed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        label = heading(tr("API key"), self)
        self.state = make_label("", self, "muted", wrap=True)
        self.line = QLineEdit(self)
        self.line.setReadOnly(True)
        self.line.setAccessibleName(tr("API key"))
        label.setBuddy(self.line)
        self.reveal = make_button(tr("Show"), self, self._reveal)
        self.reveal.setCheckable(True)
        self.copy = make_button(tr("Copy"), self, lambda: _copy(self.line.text()), name=tr("Copy the key"))
        self.make = make_button(tr("Make a key"), self, self.made)
        self.remove = make_button(tr("Remove"), self, self.removed, name=tr("Remove the key"))
        row = FlowLayout()
        for button in (self.reveal, self.copy, self.make, self.remove):
            row.addWidget(button)
        self.note = make_label("", self, "restart", wrap=True)
        vbox(label, self.state, self.line, row, self.note, parent=self, margins=(0, 9, 0, 9), spacing=5)
        self._reveal()
        self.show_key(None, "", needed=False)

    def show_key(self, key: str | None, note: str, *, needed: bool) -> None:
        """Show what is known. key: '' for none, None where that is not known. needed: it cannot be removed."""
        words = tr("The key is in the system's keyring, which is asked…")
        if key:
            words = tr("Apps must send this key. A new key replaces the old one.")
        elif key is not None or note:
            words = tr("No key is needed: any app on this computer can connect.") if key is not None else ""
        show_text(self.state, words)
        self.line.setText(key or "")
        for widget in (self.line, self.reveal, self.copy):
            widget.setVisible(bool(key))
        self.remove.setVisible(bool(key) and not needed)
        self.make.setText(tr("Make a new key") if key else tr("Make a key"))
        self.make.setEnabled(key is not None or bool(note))
        show_text(self.note, note)

    @Slot()
    def _reveal(self) -> None:
        shown = self.reveal.isChecked()
        self.line.setEchoMode(QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password)
        self.reveal.setText(tr("Hide") if shown else tr("Show"))
        self.reveal.setAccessibleName(tr("Hide the key") if shown else tr("Show the key"))


class RequestList(QWidget):
    """Requests that run, and the last that are over. stopped: the id of one that is to end."""

    stopped = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        label = heading(tr("Requests"), self)
        self.counts = make_label("", self, "muted", wrap=True)
        self.list = QListWidget(self)
        self.list.setObjectName("rows")
        self.list.setAccessibleName(tr("Requests"))
        self.list.setWordWrap(True)
        sizes.set_lines(self.list, 9)
        self.list.currentItemChanged.connect(self._chosen)
        label.setBuddy(self.list)
        self.stop = make_button(tr("Stop this request"), self, self._stop)
        self._running: set[str] = set()
        vbox(label, self.counts, self.list, hbox(self.stop, ...), parent=self, margins=(0, 9, 0, 9), spacing=5)
        self._chosen()

    def show_state(self, state: protocol.ServerState) -> None:
        """Show who asks now, and who asked last."""
        over = plural("1 request answered", "%n requests answered", state.answered)
        refused = plural("1 refused", "%n refused", state.refused) if state.refused else ""
        self.counts.setText(tr("{answered}, {refused}", answered=over, refused=refused) if refused else over)
        requests = [*reversed(state.requests), *state.recent]
        self._running = {request.id for request in state.requests}
        if [request.id for request in requests] != [self._id(row) for row in range(self.list.count())]:
            self._fill([request.id for request in requests])
        for row, request in enumerate(requests):
            self.list.item(row).setText(_words(request))
        self.list.setVisible(bool(requests))
        self.stop.setVisible(bool(requests))
        self._chosen()

    def _fill(self, idents: Sequence[str]) -> None:
        """Rows for these, the chosen one chosen still."""
        chosen = self._id(self.list.currentRow())
        self.list.clear()
        for ident in idents:
            QListWidgetItem(self.list).setData(_ID, ident)
        self.list.setCurrentRow(idents.index(chosen) if chosen in idents else -1)

    def _id(self, row: int) -> str:
        item = self.list.item(row)
        return str(item.data(_ID)) if item is not None else ""

    @Slot()
    def _chosen(self) -> None:
        self.stop.setEnabled(self._id(self.list.currentRow()) in self._running)

    @Slot()
    def _stop(self) -> None:
        self.stopped.emit(self._id(self.list.currentRow()))


class ServerPage(SettingsPage):
    """Without effect until `follow`. chosen: one of protocol.settings.SERVER, and its value."""

    chosen = Signal(object, object)

    def __init__(self, preferences: Preferences) -> None:
        super().__init__(tr("Local server"), tr(
            "Editors, agents and other apps can use your models through the OpenAI, Ollama and Anthropic APIs."
        ))  # fmt: skip
        self._preferences = preferences
        self._control: ServerControl | None = None
        words = tr("local server api openai ollama anthropic port address endpoint", about="words of the search")
        self._switch = QWidget(self)
        row = SwitchRow(tr("Run the local server"), "", self._switch, flush=True)
        self.switch = row.switch
        self.state = make_label("", self._switch, "muted", wrap=True)
        self.problem = make_label("", self._switch, "restart", wrap=True)
        vbox(row, self.state, self.problem, parent=self._switch, margins=(0, 9, 0, 9), spacing=3)
        self.add_extra(self._switch, words)
        self._place = QWidget(self)
        self.addresses = AddressList(self.switch, self._place)
        vbox(self.addresses, parent=self._place, margins=0, spacing=0)
        self.add_extra(self._place, words)
        for setting in protocol.settings.SERVER:
            editor = SettingEditor(setting, self._value(setting), self)
            editor.changed.connect(partial(self._edited, setting))
            self.add_editor(editor)
        sizes.follow(self, ServerPage._align)
        self.key = KeyEditor(self)
        self.add_extra(self.key, tr("api key password token local server", about="words of the search"))
        self._log = QWidget(self)
        self.requests = RequestList(self._log)
        vbox(self.requests, parent=self._log, margins=0, spacing=0)
        self.add_extra(self._log, tr("requests local server programs clients", about="words of the search"))
        self.requests.hide()
        self.addresses.hide()
        self.setEnabled(False)

    def _align(self) -> None:
        """Have the fields as wide as the widest of them."""
        fields = [editor.control for editor in self.editors if isinstance(editor.control, (QLineEdit, QComboBox))]
        widest = max(max(field.sizeHint().width(), field.minimumWidth()) for field in fields
                     if isinstance(field, QComboBox))  # fmt: skip
        for field in fields:
            field.setFixedWidth(widest)

    def follow(self, control: ServerControl) -> None:
        """Show this server, and switch it."""
        self._control = control
        self.setEnabled(True)
        self.switch.clicked.connect(lambda on: control.turn_on() if on else control.turn_off())
        self.key.made.connect(control.make_key)
        self.key.removed.connect(control.remove_key)
        self.requests.stopped.connect(control.stop_request)
        control.changed.connect(self._show)
        control.key_changed.connect(self._show_key)
        self._show()
        self._show_key()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._control is not None:
            self._control.ask_key()  # not before: a keyring that is locked asks for its password

    def reset(self) -> None:
        """Show the defaults, which are in force."""
        for editor in self.editors:
            editor.set_value(editor.setting.default)

    def _value(self, setting: protocol.settings.Setting) -> Any:
        return self._preferences.server.get(setting.name, setting.default)

    def _edited(self, setting: protocol.settings.Setting, _: str, value: object) -> None:
        self.chosen.emit(setting, value)
        self._show_key()

    @Slot()
    def _show(self) -> None:
        control = self._control
        assert control is not None
        self.switch.setChecked(control.wanted)
        show_text(self.problem, control.problem)
        self.state.setText(_state(control))
        self.addresses.show_addresses(control.addresses)
        self.requests.setVisible(control.is_on)
        self.requests.show_state(control.state)

    @Slot()
    def _show_key(self) -> None:
        if (control := self._control) is not None:
            self.key.show_key(control.key, control.key_note, needed=control.for_network)


def _state(control: ServerControl) -> str:
    if control.busy:
        return tr("Starting…") if control.wanted else tr("Stopping…")
    if not control.is_on:
        return tr("Off. Nothing can connect.")
    reach = (
        tr("On. Apps on this computer and the local network can connect.")
        if control.for_network
        else tr("On. Apps on this computer can connect.")
    )
    return sentences(reach, tr("Models load on request."))


def _words(request: protocol.ServerRequest) -> str:
    """Two lines about a request."""
    who = tr("{client}, model {model}, {path}", client=request.client, model=request.model, path=request.way)
    tokens = plural("1 token", "%n tokens", request.tokens) if request.tokens else ""
    parts = (tr(_STATES[request.state]), tokens, duration(request.seconds), request.why)
    return f"{who}\n{'  ·  '.join(filter(None, parts))}"


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
