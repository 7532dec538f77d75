"""The list of prompts above the message field, opened by "/", and the form that asks for their variables."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QLineEdit, QListWidget, QListWidgetItem, QWidget

from app.composer import Composer
from app.i18n.translate import tr
from app.prompts.library import PromptLibrary, SavedPrompt, filled, variables
from app.widgets.builders import form_column, make_button, make_label, open_dialog
from app.widgets.text import plain_entry

_MOST = 8  # rows that are seen at a time
_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab, Qt.Key.Key_Escape)


class VariablesDialog(QDialog):
    """A field for each variable of a prompt. filled_in: the text with what was typed."""

    filled_in = Signal(str)

    def __init__(self, prompt: SavedPrompt, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(prompt.name)
        self._prompt = prompt
        self.fields: dict[str, QLineEdit] = {}
        form = QFormLayout()
        form.setContentsMargins(0, 0, 0, 0)
        for name in variables(prompt.text):
            field = QLineEdit(self)
            field.setAccessibleName(name)
            form.addRow(plain_entry(name), field)
            self.fields[name] = field
        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        insert = make_button(tr("Insert"), self, style="primary")
        box.addButton(insert, QDialogButtonBox.ButtonRole.AcceptRole)
        insert.setDefault(True)
        box.accepted.connect(self.accept)
        box.rejected.connect(self.reject)
        head = make_label(tr("Fill in the prompt"), self, heading=1.15)
        column = QWidget(self)
        column.setLayout(form)
        form_column(self, head, column, box)
        self.accepted.connect(self._tell)

    @Slot()
    def _tell(self) -> None:
        self.filled_in.emit(filled(self._prompt.text, {name: field.text() for name, field in self.fields.items()}))


class PromptPicker(QObject):
    """Shows the list while the message begins with "/". edit_requested: the prompts are to be managed."""

    edit_requested = Signal()

    def __init__(self, composer: Composer, library: PromptLibrary, window: QWidget) -> None:
        super().__init__(window)
        self._composer, self._library = composer, library
        self.list = QListWidget(window)
        self.list.setObjectName("rows")
        self.list.setAccessibleName(tr("Prompts"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the keyboard stays in the message
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemClicked.connect(self._choose)
        self.list.hide()
        composer.edit.textChanged.connect(self._look)
        library.changed.connect(self._look)
        composer.edit.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self.list.hide()
        if not self.list.isVisible() or not isinstance(event, QKeyEvent) or event.key() not in _KEYS:
            return super().eventFilter(watched, event)
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.ShortcutOverride:  # Esc is not the window's now
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress:
            self._press(Qt.Key(event.key()))
            return True
        return super().eventFilter(watched, event)

    def _press(self, key: Qt.Key) -> None:
        if key == Qt.Key.Key_Escape:
            self.list.hide()
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            step = 1 if key == Qt.Key.Key_Down else -1
            self.list.setCurrentRow((self.list.currentRow() + step) % self.list.count())
            self._composer.edit.setAccessibleDescription(self.list.currentItem().text())
        else:
            self._choose(self.list.currentItem())

    @Slot()
    def _look(self) -> None:
        """Show what fits what is typed behind "/"; a line that nothing fits is a message like any other."""
        text = self._composer.text()
        if not text.startswith("/") or "\n" in text or not self._composer.edit.hasFocus():
            self.list.hide()
            return
        found = self._library.find(text[1:])
        self.list.clear()
        for prompt in found:
            first = next((line for line in prompt.text.splitlines() if line.strip()), "")
            item = QListWidgetItem(f"{prompt.name}\n{' '.join(first.split())[:90]}", self.list)
            item.setData(Qt.ItemDataRole.UserRole, prompt)
        if text == "/":
            QListWidgetItem(tr("Edit prompts…"), self.list)
        self.list.setCurrentRow(0)
        self.list.setVisible(self.list.count() > 0)
        if self.list.count():
            self._place()

    def _place(self) -> None:
        rows = min(_MOST, self.list.count())
        high = sum(self.list.sizeHintForRow(row) for row in range(rows)) + 4
        window, composer = self.list.parentWidget(), self._composer
        assert window is not None
        at = composer.mapTo(window, composer.rect().topLeft())
        high = min(high, at.y() - 8)
        self.list.setGeometry(at.x(), at.y() - high - 4, composer.width(), high)
        self.list.raise_()

    @Slot(QListWidgetItem)
    def _choose(self, item: QListWidgetItem) -> None:
        prompt = item.data(Qt.ItemDataRole.UserRole)
        self.list.hide()
        if prompt is None:
            self._composer.set_text("")
            self.edit_requested.emit()
        elif variables(prompt.text):
            dialog = VariablesDialog(prompt, self.list.window())
            dialog.filled_in.connect(self._insert)
            dialog.finished.connect(self._composer.edit.setFocus)
            open_dialog(dialog)
        else:
            self._insert(prompt.text)

    @Slot(str)
    def _insert(self, text: str) -> None:
        self._composer.set_text(text)
        self._composer.edit.setFocus()
        self.list.hide()  # of a prompt that begins with "/"
