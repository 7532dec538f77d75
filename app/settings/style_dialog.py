"""System prompt and sampling of one chat, and the presets they can be kept under."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QFrame, QLabel, QPlainTextEdit, QPushButton, QStackedWidget, QWidget

from app.i18n.translate import tr
from app.settings.editor import SettingEditor
from app.storage.records import Style
from app.widgets.builders import BAR, confirm, hbox, make_button, make_combo, make_label, reserve_bar, scroll_area, vbox
from app.widgets.name_editor import NameEditor
from app.widgets.text import plain_tip
from engine import protocol


class StyleDialog(QDialog):
    """chosen: a Style, or None for 'as the settings say'. kept, removed: a preset's name (and Style). renamed: its
    name, and the new one.
    """

    chosen = Signal(object)
    kept = Signal(str, object)
    removed = Signal(str)
    renamed = Signal(str, str)

    def __init__(
        self, style: Style, presets: dict[str, Style], usual: dict[str, Any], parent: QWidget | None = None
    ) -> None:
        """style: what is in force. usual: sampling as the settings say."""
        super().__init__(parent)
        self.setWindowTitle(tr("Chat settings"))
        self.resize(620, 620)
        self.presets = dict(presets)
        self._usual = usual
        self._presets = QWidget(self)
        self.names = make_combo(self._presets, tr("Presets"), letters=6)
        self.names.currentTextChanged.connect(lambda name: self.names.setToolTip(plain_tip(name)))
        self.names.activated.connect(self._take_preset)
        make = partial(make_button, auto_default=False)
        self.keep = make(tr("Save as preset"), self._presets, self._keep)
        self.rename = make(tr("Rename"), self._presets, self._rename, name=tr("Rename preset"))
        self.remove = make(tr("Delete"), self._presets, self._remove, name=tr("Delete preset"))
        hbox((self.names, 1), self.keep, self.rename, self.remove, parent=self._presets, margins=0)
        self._naming = self._make_naming()
        self._named_by = self.keep  # or self.rename: what was pressed
        self._row = QStackedWidget(self)  # as large as the larger of both, so that nothing moves
        for page in (self._presets, self._naming):
            self._row.addWidget(page)
        top = hbox(QLabel(tr("Preset"), self), (self._row, 1), margins=(0, 0, BAR, 0))
        inside = QWidget(self)
        inside.setObjectName("page")
        self.system = _field(inside, tr("System prompt"), 110)
        self.system.setPlaceholderText(tr("For example: Answer in one sentence."))
        self.editors = {s.name: SettingEditor(s, None, inside) for s in protocol.settings.SAMPLING}
        column = vbox(QLabel(tr("System prompt"), inside), self.system, parent=inside, margins=(0, 2, 0, 8))
        for editor in self.editors.values():
            editor.changed.connect(self._edited)
            column.addWidget(editor)
        self.stop = _field(inside, tr("Stop sequences, one per line"), 62)
        self.stop.setToolTip(tr("\\n stands for the end of a line."))
        column.addWidget(QLabel(tr("Stop sequences, one per line"), inside))
        column.addWidget(self.stop)
        usual_button = make(tr("Use defaults"), self, self._as_usual)
        cancel = make(tr("Cancel"), self, self.reject)
        use = make_button(tr("Apply"), self, self._use, "primary")
        self.closing = (usual_button, use)
        line = QFrame(self)
        line.setObjectName("foot")  # a row that is scrolled goes on beneath it
        hbox(usual_button, ..., cancel, use, parent=line, margins=(18, 10, 18, 14))
        area = scroll_area(inside, self)
        reserve_bar(area)
        above = vbox(
            top, self.naming.problem, (area, 1), margins=(18, 16, 18 - BAR, 0), spacing=12
        )  # what is in the area ends where the buttons do
        vbox((above, 1), line, parent=self, margins=0, spacing=0)
        self._show_naming(False)
        self._values: dict[str, Any] = {}
        self._show(style)
        self._list(next((n for n, s in presets.items() if s == style), ""))
        self.system.setFocus()

    def _make_naming(self) -> QWidget:
        """What stands in place of the presets while a name is typed."""
        row = QWidget(self)
        title = tr("Preset name")
        self.naming = NameEditor(title, make_label("", self, "restart", wrap=True), row)
        self.naming.setPlaceholderText(title)
        self.naming.entered.connect(self._named)
        self.naming.cancelled.connect(self._end_naming)
        make = partial(make_button, auto_default=False)
        save, discard = (tr("{deed}: {title}", deed=deed, title=title) for deed in (tr("Save"), tr("Discard")))
        self.save_name = make(tr("Save"), row, lambda: self._named(self.naming.name), name=save)
        self.discard_name = make(tr("Discard"), row, self._end_naming, name=discard)  # Cancel is the dialog's
        hbox((self.naming, 1), self.save_name, self.discard_name, parent=row, margins=0)
        return row

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc leaves a name that is being typed first."""
        if event.key() == Qt.Key.Key_Escape and self._naming.isVisible():
            self._end_naming()
        else:
            super().keyPressEvent(event)

    def style_now(self) -> Style:
        """The style in the fields."""
        lines = (line.replace("\\n", "\n") for line in self.stop.toPlainText().split("\n"))
        return Style(self.system.toPlainText().strip(), dict(self._values), tuple(line for line in lines if line))

    def _show(self, style: Style) -> None:
        self.system.setPlainText(style.system)
        self.stop.setPlainText("\n".join(t.replace("\n", "\\n") for t in style.stop))
        self._values = {s.name: style.sampling.get(s.name, self._usual.get(s.name, s.default))
                        for s in protocol.settings.SAMPLING}  # fmt: skip
        for name, editor in self.editors.items():
            editor.set_value(self._values[name])

    def _list(self, current: str) -> None:
        """current: the preset to choose; '' for none."""
        self.names.clear()
        self.names.addItem(tr("None"), "")
        for name in sorted(self.presets, key=str.casefold):
            self.names.addItem(name, name)
        self.names.setCurrentIndex(self.names.findData(current))
        self._chosen()

    @property
    def _name(self) -> str:
        """Name of the chosen preset; '' for none."""
        return str(self.names.currentData() or "")

    @Slot(str, object)
    def _edited(self, name: str, value: object) -> None:
        self._values[name] = value

    @Slot()
    def _take_preset(self) -> None:
        self._chosen()
        self._show(self.presets.get(self._name, Style()))

    def _chosen(self) -> None:
        """Only what has a name can be renamed or deleted."""
        for button in (self.rename, self.remove):
            button.setEnabled(bool(self._name))

    @Slot()
    def _rename(self) -> None:
        self._begin_naming(self.rename)

    @Slot()
    def _keep(self) -> None:
        self._begin_naming(self.keep)

    def _begin_naming(self, button: QPushButton) -> None:
        """Have a name typed in place of the presets. button: what was pressed for it."""
        self._named_by = button
        self._show_naming(True)
        self.naming.begin(self._name)

    @Slot()
    def _end_naming(self) -> None:
        self._show_naming(False)
        self._named_by.setFocus()

    def _show_naming(self, naming: bool) -> None:
        """Show the presets or the name that is typed, which has to be saved or left before the dialog is."""
        self._row.setCurrentWidget(self._naming if naming else self._presets)
        self.naming.refuse("")
        for button in self.closing:
            button.setEnabled(not naming)
            button.setToolTip(tr("Save or discard the preset name first") if naming else "")
            button.setAccessibleDescription(button.toolTip())

    @Slot(str)
    def _named(self, name: str) -> None:
        renaming, before = self._named_by is self.rename, self._name
        if not name:
            self.naming.refuse(tr("Enter a name."))
        elif name != before and name in self.presets:
            if renaming:
                self.naming.refuse(tr("This name is taken."))
            else:
                question = tr("Replace preset {name}?", name=name)
                lost = tr("Chats that use it don't change.")
                confirm(self, question, lost, tr("Replace"), lambda: self._save(name))
        elif renaming:
            self._rename_to(name)
        else:
            self._save(name)

    def _rename_to(self, name: str) -> None:
        before = self._name
        if name != before:
            self.presets[name] = self.presets.pop(before)
            self._list(name)
            self.renamed.emit(before, name)
        self._end_naming()

    def _save(self, name: str) -> None:
        self.presets[name] = self.style_now()
        self._list(name)
        self.kept.emit(name, self.presets[name])
        self._end_naming()

    @Slot()
    def _remove(self) -> None:
        name = self._name
        question = tr("Delete preset {name}?", name=name)
        stay = tr("Chats that use it don't change.")
        confirm(self, question, stay, tr("Delete"), lambda: self._forget(name))

    def _forget(self, name: str) -> None:
        del self.presets[name]
        self._list("")
        self.removed.emit(name)

    @Slot()
    def _as_usual(self) -> None:
        self.chosen.emit(None)
        self.accept()

    @Slot()
    def _use(self) -> None:
        self.setFocus()  # a field that is being edited is done
        self.chosen.emit(self.style_now())
        self.accept()


def _field(parent: QWidget, name: str, height: int) -> QPlainTextEdit:
    field = QPlainTextEdit(parent)
    field.setObjectName("field")
    field.setAccessibleName(name)
    field.setFixedHeight(height)
    field.setTabChangesFocus(True)
    return field
