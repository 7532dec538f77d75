"""Pages of the settings dialog: title, editors and a search over them; the page on appearance."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.i18n import languages
from app.i18n.engine_texts import told
from app.i18n.translate import tr
from app.settings.editor import SettingEditor
from app.settings.preferences import FONT_PERCENTS, Preferences
from app.theme import sizes
from app.theme.theme import MODES


class SettingsPage(QWidget):
    """Editors in their order; `extra` widgets go with the words that find them."""

    def __init__(self, title: str, intro: str) -> None:
        super().__init__()
        self.setObjectName("page")
        self.title = title
        self.editors: list[SettingEditor] = []
        self._extras: list[tuple[QWidget, str, bool]] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(26, 22, 26, 22)
        self._column.setSpacing(2)
        head = QLabel(title, self)
        sizes.set_font(head, 1.4, head.font().Weight.DemiBold)
        text = QLabel(intro, self)
        text.setObjectName("muted")
        text.setWordWrap(True)
        text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._column.addWidget(head)
        self._column.addWidget(text)
        self._column.addSpacing(12)
        self._column.addStretch(1)

    def add_editor(self, editor: SettingEditor) -> None:
        """The next setting."""
        self.editors.append(editor)
        self._column.insertWidget(self._column.count() - 1, editor)

    def add_extra(self, widget: QWidget, words: str, *, advanced: bool = False) -> None:
        """Something else. words: that find it; '' for what a search leaves out."""
        self._extras.append((widget, words.lower(), advanced))
        self._column.insertWidget(self._column.count() - 1, widget)

    def add_note(self, widget: QWidget) -> None:
        """Something that a search has nothing to do with."""
        self._column.insertWidget(self._column.count() - 1, widget)

    def show_only(self, wanted: Sequence[str], *, advanced: bool) -> int:
        """Leave what has all of the words, whatever it is; none: all, or all but advanced ones. Returns how many."""
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
    """Says what was chosen, which is in force at once; the language is after a restart, which it offers."""

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
        """As it was at first."""
        self.theme.setCurrentIndex(0)
        self.font_size.setCurrentIndex(self.font_size.findData(100))
        self.language.setCurrentIndex(0)

    def _make_note(self) -> QWidget:
        note = QWidget(self)
        text = QLabel(tr("Takes effect when Underhill is started again."), note)
        text.setObjectName("restart")
        text.setWordWrap(True)
        restart = QPushButton(tr("Start it again now"), note)
        restart.clicked.connect(self.restart_wanted)
        row = QHBoxLayout(note)
        row.setContentsMargins(0, 6, 0, 6)
        row.addWidget(text, 1)
        row.addWidget(restart)
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
    inside = QHBoxLayout(row)
    inside.setContentsMargins(0, 6, 0, 6)
    inside.addWidget(label, 1)
    inside.addWidget(control)
    return row
