"""The dialog in which prompts are written, changed, removed, imported and exported."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Slot
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QWidget,
)

from app.i18n.translate import plural, sentences, tr, tr_engine
from app.prompts.library import FILE, PromptLibrary, SavedPrompt, variables
from app.storage.database_thread import Problem
from app.theme import sizes
from app.widgets.builders import (
    close_box,
    confirm,
    hbox,
    make_button,
    make_label,
    make_timer,
    resize_on_screen,
    show_text,
    vbox,
)
from engine import protocol

_KEPT_AFTER = 600  # milliseconds of rest after typing


class PromptsDialog(QDialog):
    """Names on the left; name and text of the chosen one on the right, kept as they change."""

    def __init__(self, library: PromptLibrary, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Prompts"))
        resize_on_screen(self, 760, 520)
        self._library = library
        self.intro = make_label(
            tr("Type / in an empty message to insert a prompt. You'll be asked for variables such as {example}.",
               example="{{language}}"), self, "muted", wrap=True,
        )  # fmt: skip
        self.list = QListWidget(self)
        self.list.setObjectName("rows")
        self.list.setAccessibleName(tr("Prompts"))
        sizes.follow(self.list, lambda rows: rows.setFixedWidth(24 * rows.fontMetrics().averageCharWidth()))
        self.list.currentItemChanged.connect(self._chosen)
        self._shown: SavedPrompt | None = None
        self._rest = make_timer(self, _KEPT_AFTER, self._keep)
        self.new = make_button(tr("New prompt"), self, self._add, auto_default=False)
        self.delete = make_button(tr("Delete…"), self, self._ask_to_delete, auto_default=False)
        self.name = QLineEdit(self)
        self.name.setAccessibleName(tr("Name"))
        self.name.editingFinished.connect(self._keep)
        self.text = QPlainTextEdit(self)
        self.text.setObjectName("field")
        self.text.setAccessibleName(tr("Text of the prompt"))
        self.text.setTabChangesFocus(True)
        self.text.textChanged.connect(self._rest.start)
        self.finished.connect(self._keep)
        self.note = make_label("", self, "muted", wrap=True)
        self.bring = make_button(tr("Import…"), self, self._choose_import, auto_default=False)
        self.export = make_button(tr("Export…"), self, self._choose_export, auto_default=False)
        left = vbox((self.list, 1), hbox(self.new, self.delete, spacing=8), spacing=8)
        of_name, of_text = QLabel(tr("Name"), self), QLabel(tr("Text of the prompt"), self)
        of_name.setBuddy(self.name)
        of_text.setBuddy(self.text)
        fields = vbox(of_name, self.name, 6, of_text, (self.text, 1), spacing=4)
        right = vbox((fields, 1), self.note, hbox(..., self.bring, self.export, spacing=8), spacing=8)
        vbox(
            self.intro, hbox(left, (right, 1), spacing=16), close_box(self), parent=self,
            margins=(22, 18, 22, 18), spacing=12,
        )  # fmt: skip
        library.changed.connect(self._fill)
        library.problem.connect(self._refused)
        self._fill()

    @property
    def current(self) -> SavedPrompt | None:
        """The prompt that is chosen."""
        item = self.list.currentItem()
        return item.data(Qt.ItemDataRole.UserRole) if item is not None else None

    @Slot()
    def _fill(self) -> None:
        chosen = self.current
        with QSignalBlocker(self.list):
            self.list.clear()
            for prompt in self._library.prompts:
                QListWidgetItem(prompt.name, self.list).setData(Qt.ItemDataRole.UserRole, prompt)
        names = [prompt.name for prompt in self._library.prompts]
        self._choose(chosen.name if chosen is not None and chosen.name in names else names[0] if names else "")

    def _choose(self, name: str) -> None:
        names = [prompt.name for prompt in self._library.prompts]
        with QSignalBlocker(self.list):
            self.list.setCurrentRow(names.index(name) if name in names else -1)
        self._show()

    @Slot()
    def _chosen(self) -> None:
        self._keep()
        self._show()

    @Slot()
    def _show(self) -> None:
        prompt = self._shown = self.current
        for widget in (self.name, self.text, self.delete):
            widget.setEnabled(prompt is not None)
        self.export.setEnabled(bool(self._library.prompts))
        with QSignalBlocker(self.name), QSignalBlocker(self.text):
            if prompt is None or self.name.text().strip() != prompt.name:
                self.name.setText(prompt.name if prompt is not None else "")
            if prompt is None or self.text.toPlainText() != prompt.text:
                self.text.setPlainText(prompt.text if prompt is not None else "")
        found = variables(prompt.text) if prompt is not None else []
        names = tr(", ", about="between the names of a list").join(found)
        show_text(self.note, tr("Asks for: {names}", names=names) if found else "")

    @Slot()
    def _keep(self) -> None:
        self._rest.stop()
        prompt, name = self._shown, " ".join(self.name.text().split())
        if prompt is None:
            return
        taken = name != prompt.name and any(p.name == name for p in self._library.prompts)
        made = SavedPrompt(prompt.name if taken or not name else name, self.text.toPlainText())
        if made != prompt:
            if self.current == prompt:
                self.list.currentItem().setData(Qt.ItemDataRole.UserRole, made)  # chosen again in the new list
            self._shown = made
            self._library.keep(made, prompt.name)
        if taken:
            show_text(self.note, tr("There is another prompt with this name."))

    @Slot()
    def _add(self) -> None:
        names = {prompt.name for prompt in self._library.prompts}
        name, number = tr("New prompt"), 1
        while name in names:
            number += 1
            name = tr("New prompt {number}", number=number)
        self._keep()
        self._library.keep(SavedPrompt(name, ""))
        self._choose(name)
        self.name.setFocus()
        self.name.selectAll()

    @Slot()
    def _ask_to_delete(self) -> None:
        prompt = self.current
        if prompt is not None:
            question, consequence = tr("Delete the prompt {name}?", name=prompt.name), tr("It can't be restored.")
            confirm(self, question, consequence, tr("Delete"), lambda: self._library.remove(prompt.name))

    @Slot()
    def _choose_import(self) -> None:
        chosen, _ = QFileDialog.getOpenFileName(self, tr("Import prompts"), str(Path.home()), "*.json")
        if chosen:
            self.import_file(Path(chosen))

    def import_file(self, path: Path) -> None:
        """Import a file, and say what came of it."""
        try:
            count = self._library.import_file(path)
        except protocol.UnderhillError as error:
            show_text(self.note, sentences(tr_engine(error.sentence), tr_engine(error.action)))
        else:
            show_text(self.note, plural("1 prompt imported", "%n prompts imported", count))

    @Slot()
    def _choose_export(self) -> None:
        chosen, _ = QFileDialog.getSaveFileName(self, tr("Export prompts"), str(Path.home() / FILE), "*.json")
        if chosen:
            self._library.export_file(Path(chosen), self._refused)

    @Slot(object)
    def _refused(self, found: Problem) -> None:
        show_text(self.note, sentences(found.sentence, found.action))
