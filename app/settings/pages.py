"""One page of the settings dialog: a title, what belongs to it, and its settings, of which a search leaves some."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.engine_words import told
from app.settings.editor import SettingEditor
from app.theme import sizes


class Page(QWidget):
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
        sizes.letter(head, 1.4, head.font().Weight.DemiBold)
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
