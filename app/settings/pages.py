"""Pages of the settings dialog: title, editors and a search over them; the page on appearance."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QLabel, QWidget

from app.i18n import languages
from app.i18n.engine_texts import told
from app.i18n.translate import tr
from app.settings.editor import SettingEditor
from app.settings.preferences import FONT_PERCENTS, Preferences
from app.theme import sizes
from app.theme.theme import MODES
from app.widgets.builders import hbox, make_button, make_label, vbox


class SettingsPage(QWidget):
    """Page of editors in their order; `extra` widgets go with the words that find them."""

    def __init__(self, title: str, intro: str) -> None:
        super().__init__()
        self.setObjectName("page")
        self.title = title
        self.editors: list[SettingEditor] = []
        self._extras: list[tuple[QWidget, str, bool]] = []
        head = make_label(title, self, heading=1.4)
        text = make_label(intro, self, "muted", wrap=True)
        text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._column = vbox(head, text, 12, ..., parent=self, margins=(26, 22, 26, 22), spacing=2)

    def add_editor(self, editor: SettingEditor) -> None:
        """Append an editor."""
        self.editors.append(editor)
        self._column.insertWidget(self._column.count() - 1, editor)

    def add_extra(self, widget: QWidget, words: str, *, advanced: bool = False) -> None:
        """Append another widget. words: that find it; '' for what a search leaves out."""
        self._extras.append((widget, words.lower(), advanced))
        self._column.insertWidget(self._column.count() - 1, widget)

    def add_note(self, widget: QWidget) -> None:
        """Append a widget that a search leaves as it is."""
        self._column.insertWidget(self._column.count() - 1, widget)

    def show_only(self, wanted: Sequence[str], *, advanced: bool) -> int:
        """Show what has all of the words; none: all, or all but advanced ones. Returns how many are left."""
        left = 0
        for editor in self.editors:
            s = editor.setting
            shown = " ".join(map(told, (s.label, s.help, *s.names)))
            text = f"{shown} {s.label} {s.name} {s.help} {' '.join((*s.choices, *s.names))}".lower()
            fits = all(word in text for word in wanted) if wanted else advanced or not s.advanced or editor.set
            editor.setVisible(fits)
            left += fits
        for widget, text, needs in self._extras:
            fits = bool(text) and all(word in text for word in wanted) if wanted else advanced or not needs
            widget.setVisible(fits)
            left += fits
        return left


class AppearancePage(SettingsPage):
    """Page of theme, text size and language, which takes effect after a restart that it offers."""

    theme_changed = Signal(str)
    font_changed = Signal(int)
    language_changed = Signal(str)
    restart_wanted = Signal()

    def __init__(self, preferences: Preferences) -> None:
        super().__init__(tr("Appearance"), tr("How Underhill looks."))
        self.theme = QComboBox(self)
        for mode, text in zip(MODES, (tr("Like the system"), tr("Light"), tr("Dark"))):
            self.theme.addItem(text, mode)
        self.theme.setCurrentIndex(max(0, self.theme.findData(preferences.theme)))
        self.theme.currentIndexChanged.connect(lambda: self.theme_changed.emit(str(self.theme.currentData())))
        self.font_size = QComboBox(self)
        for percent in FONT_PERCENTS:
            self.font_size.addItem(tr("{number:.0f} %", number=percent), percent)
        self.font_size.setCurrentIndex(max(0, self.font_size.findData(preferences.font_percent)))
        self.font_size.currentIndexChanged.connect(self._font_chosen)
        self.language = QComboBox(self)
        self.language.addItem(tr("Like the system"), languages.SYSTEM)
        for code, name in languages.languages().items():
            self.language.addItem(name, code)
        self.language.setCurrentIndex(max(0, self.language.findData(preferences.language)))
        self.language.currentIndexChanged.connect(self._language_chosen)
        found = tr("theme appearance dark light system colours", about="words of the search")
        self.add_extra(_row(tr("Theme"), self.theme, self), found)
        found = tr("size of text font appearance larger smaller", about="words of the search")
        self.add_extra(_row(tr("Size of text"), self.font_size, self), found)
        self.add_extra(_row(tr("Language"), self.language, self), "language english chinese 中文 语言")
        self.note = self._make_note()
        self.add_note(self.note)

    def reset(self) -> None:
        """Choose the defaults."""
        self.theme.setCurrentIndex(0)
        self.font_size.setCurrentIndex(self.font_size.findData(100))
        self.language.setCurrentIndex(0)

    def _make_note(self) -> QWidget:
        note = QWidget(self)
        text = make_label(tr("Takes effect when Underhill is started again."), note, "restart", wrap=True)
        restart = make_button(tr("Start it again now"), note, self.restart_wanted)
        hbox((text, 1), restart, parent=note, margins=(0, 6, 0, 6))
        note.hide()
        return note

    @Slot()
    def _font_chosen(self) -> None:
        self.font_changed.emit(int(self.font_size.currentData()))

    @Slot()
    def _language_chosen(self) -> None:
        self.note.show()
        self.language_changed.emit(str(self.language.currentData()))


def _row(text: str, control: QComboBox, parent: QWidget) -> QWidget:
    row = QWidget(parent)
    label = QLabel(text, row)
    sizes.set_font(label, 1.0, label.font().Weight.Medium)
    label.setBuddy(control)
    control.setAccessibleName(text)
    sizes.follow(control, lambda box: box.setMinimumWidth(17 * box.fontMetrics().averageCharWidth()))
    hbox((label, 1), control, parent=row, margins=(0, 6, 0, 6))
    return row
