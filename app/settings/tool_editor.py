"""The dialogs in which a tool server is added and changed, and servers are pasted as JSON."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QDialog, QLineEdit, QPlainTextEdit, QWidget

from app.i18n.translate import tr
from app.settings.pasted_servers import NotServers, servers_in
from app.theme import fonts
from app.widgets.builders import (
    hbox,
    make_button,
    make_combo,
    make_label,
    resize_on_screen,
    scroll_area,
    set_level,
    show_text,
    vbox,
)
from engine import protocol

_PROGRAM, _ADDRESS = "program", "address"
_EXAMPLE = """{
  "mcpServers": {
    "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/notes"]}
  }
}"""


class VariableRow(QWidget):
    """A variable or header: its name, its value, and whether that is secret. removed: it is not wanted any more."""

    removed = Signal()

    def __init__(self, name: str, value: str, parent: QWidget, *, secret: bool, kept: bool) -> None:
        """kept: its value is in the keyring, and is not shown."""
        super().__init__(parent)
        self.name, self.value = QLineEdit(name, self), QLineEdit(value, self)
        self.name.setAccessibleName(tr("Name"))
        self.name.setPlaceholderText(tr("Name"))
        self.value.setAccessibleName(tr("Value"))
        self._kept = kept
        self.secret = QCheckBox(tr("Secret"), self)
        self.secret.setToolTip(tr("Kept in the system's keyring and never shown"))
        self.secret.setChecked(secret)
        self.secret.toggled.connect(self._show)
        remove = make_button(tr("Remove"), self, self.removed, name=tr("Remove this value"), auto_default=False)
        hbox((self.name, 2), (self.value, 3), self.secret, remove, parent=self, margins=0, spacing=8)
        self._show()

    @Slot()
    def _show(self) -> None:
        secret = self.secret.isChecked()
        self.value.setEchoMode(QLineEdit.EchoMode.Password if secret else QLineEdit.EchoMode.Normal)
        self.value.setPlaceholderText(tr("Kept in the system's keyring") if secret and self._kept else tr("Value"))


class ToolServerEditor(QDialog):
    """saved: the ToolServer, and the values of its secrets as of SaveToolServer. `refuse` says what is wrong."""

    saved = Signal(object, object)

    def __init__(self, card: protocol.ToolServerCard | None, parent: QWidget | None = None) -> None:
        """card: None for a new one."""
        super().__init__(parent)
        self.setWindowTitle(tr("Edit tool server") if card is not None else tr("Add tool server"))
        resize_on_screen(self, 620, 620)
        before = card.server if card is not None else protocol.ToolServer(name="")
        self._enabled = before.enabled
        inside = QWidget(self)
        inside.setObjectName("page")
        self.name = _field(before.name, tr("Name"), tr("Files"), inside)
        kinds = ((tr("Program on this computer (stdio)"), _PROGRAM), (tr("Address (HTTP)"), _ADDRESS))
        self.kind = make_combo(inside, tr("Type"), kinds, _ADDRESS if before.url else _PROGRAM)
        self.command = _field(before.command, tr("Command"), "npx", inside)
        self.args = QPlainTextEdit("\n".join(before.args), inside)
        self.args.setObjectName("field")
        self.args.setAccessibleName(tr("Arguments, one per line"))
        self.args.setTabChangesFocus(True)
        self.args.setFixedHeight(fonts.pixels(92))
        self.url = _field(before.url, tr("Address"), "https://example.com/mcp", inside)
        self.far = make_label("", inside, "muted", wrap=True)
        self._inside, self._of_program = inside, QWidget(inside)
        vbox(
            make_label(tr("Command"), inside), self.command, make_label(tr("Arguments, one per line"), inside),
            self.args, parent=self._of_program, margins=0, spacing=6,
        )  # fmt: skip
        self._of_address = QWidget(inside)
        vbox(make_label(tr("Address"), inside), self.url, self.far, parent=self._of_address, margins=0, spacing=6)
        self.rows: list[VariableRow] = []
        self._title = make_label("", inside)
        self._variables = vbox(spacing=6)
        self.add = make_button("", inside, lambda: self._add("", "").name.setFocus(), auto_default=False)
        self.state = make_label("", inside, "muted", wrap=True, selectable=True)
        self.state.hide()
        trust = tr("A program runs with your rights. Add only servers that you trust.")
        vbox(
            make_label(trust, inside, "muted", wrap=True), make_label(tr("Name"), inside), self.name,
            make_label(tr("Type"), inside), self.kind, self._of_program, self._of_address, self._title,
            self._variables, hbox(self.add, ...), self.state, ..., parent=inside, margins=(0, 0, 8, 0), spacing=6,
        )  # fmt: skip
        for name, value in before.variables:
            self._add(name, value)
        for name in before.secrets:
            self._add(name, "", secret=True, kept=True)
        cancel = make_button(tr("Cancel"), self, self.reject, auto_default=False)
        keep = make_button(tr("Save"), self, self.save, "primary")
        keep.setDefault(True)
        vbox(
            (scroll_area(inside, self), 1), hbox(..., cancel, keep), parent=self, margins=(18, 16, 18, 14), spacing=12
        )  # fmt: skip
        self.kind.currentIndexChanged.connect(self._show)
        self.url.textChanged.connect(self._show)
        self._show()
        (self.command if before.name else self.name).setFocus()

    @property
    def server(self) -> protocol.ToolServer:
        """As it is in the fields."""
        by_program = self.kind.currentData() == _PROGRAM
        named = [row for row in self.rows if row.name.text().strip()]
        return protocol.ToolServer(
            name=self.name.text().strip(), command=self.command.text().strip() if by_program else "",
            args=tuple(line for line in self.args.toPlainText().splitlines() if line.strip()) if by_program else (),
            url="" if by_program else self.url.text().strip(),
            variables=tuple((r.name.text().strip(), r.value.text()) for r in named if not r.secret.isChecked()),
            secrets=tuple(r.name.text().strip() for r in named if r.secret.isChecked()), enabled=self._enabled,
        )  # fmt: skip

    @property
    def secrets(self) -> dict[str, str]:
        """Secret values that were typed."""
        secret = (row for row in self.rows if row.secret.isChecked() and row.name.text().strip())
        return {row.name.text().strip(): row.value.text() for row in secret if row.value.text()}

    def refuse(self, sentence: str) -> None:
        """Say what is wrong."""
        set_level(self.state, "warning")
        show_text(self.state, sentence)

    @Slot()
    def save(self) -> None:
        """Hand the server over; what is wrong with it is said in the dialog."""
        self.saved.emit(self.server, self.secrets)

    def _add(self, name: str, value: str, *, secret: bool = False, kept: bool = False) -> VariableRow:
        row = VariableRow(name, value, self._inside, secret=secret, kept=kept)
        row.removed.connect(partial(self._remove, row))
        self.rows.append(row)
        self._variables.addWidget(row)
        row.show()
        return row

    def _remove(self, row: VariableRow) -> None:
        self.rows.remove(row)
        row.hide()
        row.deleteLater()
        self.add.setFocus()

    @Slot()
    def _show(self) -> None:
        by_program = self.kind.currentData() == _PROGRAM
        self._of_program.setVisible(by_program)
        self._of_address.setVisible(not by_program)
        self._title.setText(tr("Environment variables") if by_program else tr("Headers"))
        self.add.setText(tr("Add variable") if by_program else tr("Add header"))
        host = protocol.ToolServer(name="", url=self.url.text().strip()).host
        show_text(self.far, tr("Remote server: {host}", host=host) if host else "")


class PasteDialog(QDialog):
    """Servers as JSON, to be pasted. pasted: list of (ToolServer, values of its secrets)."""

    pasted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Import tool servers"))
        resize_on_screen(self, 560, 420)
        self.text = QPlainTextEdit(self)
        self.text.setObjectName("field")
        self.text.setAccessibleName(tr("JSON"))
        self.text.setPlaceholderText(_EXAMPLE)
        self.text.setTabChangesFocus(True)
        self.state = make_label("", self, "muted", wrap=True)
        self.state.hide()
        cancel = make_button(tr("Cancel"), self, self.reject, auto_default=False)
        take = make_button(tr("Import"), self, self.take, "primary")
        take.setDefault(True)
        about = tr("Paste the JSON that other apps use. Values named like a key or token go into the system's keyring.")
        vbox(
            make_label(about, self, "muted", wrap=True), (self.text, 1), self.state, hbox(..., cancel, take),
            parent=self, margins=(18, 16, 18, 14), spacing=12,
        )  # fmt: skip
        self.text.setFocus()

    @Slot()
    def take(self) -> None:
        """Hand the servers over; what is wrong with the text is said in the dialog."""
        try:
            found = servers_in(self.text.toPlainText())
        except NotServers as wrong:
            self.refuse(str(wrong))
            return
        self.pasted.emit(found)

    def refuse(self, sentence: str) -> None:
        """Say what is wrong."""
        set_level(self.state, "warning")
        show_text(self.state, sentence)


def _field(text: str, name: str, hint: str, parent: QWidget) -> QLineEdit:
    made = QLineEdit(text, parent)
    made.setAccessibleName(name)
    made.setPlaceholderText(hint)
    return made
