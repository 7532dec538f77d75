"""The dialog in which an endpoint is added and changed, and its connection tested."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QComboBox, QDialog, QFileDialog, QLineEdit, QWidget

from app.i18n.translate import plural, tr
from app.transcript.notes import duration
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

_HERE = ("localhost", "127.0.0.1", "::1")


class EndpointEditor(QDialog):
    """saved, tested: the Endpoint, and its key as of SaveEndpoint. What comes of it is shown by `refuse`, `show_check`.

    cancelled: the test that is under way is no longer waited for.
    """

    saved = Signal(object, object)
    tested = Signal(object, object)
    cancelled = Signal()

    def __init__(self, card: protocol.EndpointCard | None, parent: QWidget | None = None) -> None:
        """card: None for a new one."""
        super().__init__(parent)
        self.setWindowTitle(tr("Edit endpoint") if card is not None else tr("Add endpoint"))
        resize_on_screen(self, 560, 600)
        before = card.endpoint if card is not None else protocol.Endpoint(name="", url="", model="")
        self._has_key, self._key_removed = card is not None and card.has_key, False
        inside = QWidget(self)
        inside.setObjectName("page")
        self.name = _field(before.name, tr("Name"), tr("My workstation"), inside)
        self.url = _field(before.url, tr("Address"), "http://workstation:8000/v1", inside)
        self.plain = make_label("", inside, "muted", wrap=True)
        self.key = _field("", tr("Key"), "", inside)
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.remove_key = make_button(tr("Remove"), inside, self._remove_key, name=tr("Remove the key"))
        self.model = make_combo(inside, tr("Model"), letters=24)
        self.model.setEditable(True)
        self.model.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.model.setCurrentText(before.model)
        self.certificates = _field(
            before.ca_file, tr("Certificate authority"), tr("Empty: those of the system"), inside
        )
        choose = make_button(tr("Choose…"), inside, self._choose_file, name=tr("Choose certificate file"))
        self.test = make_button(tr("Test connection"), inside, self._test, auto_default=False)
        self.state = make_label("", inside, "muted", wrap=True, selectable=True)
        self.state.hide()
        vbox(
            make_label(tr("Any server with OpenAI's API can answer: vLLM, SGLang, llama.cpp and others."),
                       inside, "muted", wrap=True),
            make_label(tr("Name"), inside), self.name,
            make_label(tr("Address"), inside), self.url, self.plain,
            make_label(tr("Key, if it needs one"), inside), hbox((self.key, 1), self.remove_key),
            make_label(tr("Model"), inside), self.model,
            make_label(tr("Certificate authority of its own (PEM file)"), inside),
            hbox((self.certificates, 1), choose),
            hbox(self.test, ...), self.state, ..., parent=inside, margins=(0, 0, 8, 0), spacing=6,
        )  # fmt: skip
        cancel = make_button(tr("Cancel"), self, self.reject, auto_default=False)
        keep = make_button(tr("Save"), self, self.save, "primary")
        keep.setDefault(True)
        foot = hbox(..., cancel, keep)
        vbox((scroll_area(inside, self), 1), foot, parent=self, margins=(18, 16, 18, 14), spacing=12)
        self.url.textChanged.connect(self._show)
        self.finished.connect(self.cancelled)
        self._show()
        (self.url if before.name else self.name).setFocus()

    @property
    def endpoint(self) -> protocol.Endpoint:
        """As it is in the fields."""
        return protocol.Endpoint(
            name=self.name.text().strip(), url=self.url.text().strip(), model=self.model.currentText().strip(),
            ca_file=self.certificates.text().strip(),
        )  # fmt: skip

    @property
    def new_key(self) -> str | None:
        """The key as of SaveEndpoint."""
        return self.key.text().strip() or ("" if self._key_removed else None)

    def refuse(self, sentence: str) -> None:
        """Say what is wrong."""
        self._say(sentence, "warning")

    def show_check(self, check: protocol.EndpointCheck) -> None:
        """Say that a test went well, and offer the server's models."""
        now = self.model.currentText().strip()
        with QSignalBlocker(self.model):
            self.model.clear()
            self.model.addItems(list(check.models))
            self.model.setCurrentText(now or (check.models[0] if check.models else ""))
        found = plural("1 model", "%n models", len(check.models)) if check.models else ""
        time = tr("Connected in {time}", time=duration(check.seconds))
        self._say("  ·  ".join(filter(None, (time, found))), "fine")

    def _say(self, sentence: str, level: str) -> None:
        self.test.setEnabled(True)
        set_level(self.state, level)
        show_text(self.state, sentence)

    @Slot()
    def save(self) -> None:
        """Hand the endpoint over; what is wrong with it is said in the dialog."""
        self.saved.emit(self.endpoint, self.new_key)

    @Slot()
    def _test(self) -> None:
        self._say(tr("Connecting…"), "fine")
        self.test.setEnabled(False)
        self.tested.emit(self.endpoint, self.new_key)

    @Slot()
    def _remove_key(self) -> None:
        self._key_removed, self._has_key = True, False
        self.key.clear()
        self._show()
        self.key.setFocus()

    @Slot()
    def _show(self) -> None:
        self.key.setPlaceholderText(tr("Kept in the system's keyring") if self._has_key else "")
        self.remove_key.setVisible(self._has_key)
        show_text(self.plain, _about_plain(self.url.text().strip()))

    @Slot()
    def _choose_file(self) -> None:
        kinds: Sequence[str] = (tr("Certificates") + " (*.pem *.crt *.cer)", tr("All files") + " (*)")
        path, _ = QFileDialog.getOpenFileName(self, tr("Choose certificate file"), str(Path.home()), ";;".join(kinds))
        if path:
            self.certificates.setText(path)


def _field(text: str, name: str, hint: str, parent: QWidget) -> QLineEdit:
    made = QLineEdit(text, parent)
    made.setAccessibleName(name)
    made.setPlaceholderText(hint)
    return made


def _about_plain(url: str) -> str:
    """A warning where messages and key could be read on their way."""
    try:
        parts = urlsplit(url)
        plain = parts.scheme == "http" and bool(parts.hostname) and parts.hostname not in _HERE
    except ValueError:
        plain = False
    return tr("Not encrypted: others in the network can read along. Use https:// outside your own.") if plain else ""
