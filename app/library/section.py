"""A page of entries that scrolls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, QTimer, SignalInstance
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.i18n.translate import tr
from app.library.entry import Entry
from app.theme import sizes
from app.widgets.layouts import empty

WIDEST = 860  # pixels; longer lines are hard to read


class Section(QScrollArea):
    """What is above the entries goes into `head`, what is below them into `foot`."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it takes the focus, and is scrolled to
        self.setAccessibleName(name)
        page = QWidget(self)
        page.setObjectName("page")
        self.head, self._column, self.foot = QVBoxLayout(), QVBoxLayout(), QVBoxLayout()
        inner = QWidget(page)
        inner.setMaximumWidth(WIDEST)
        column = QVBoxLayout(inner)
        column.setContentsMargins(24, 14, 24, 24)
        column.setSpacing(10)
        for part in (self.head, self._column, self.foot):
            part.setSpacing(10)
            column.addLayout(part)
        column.addStretch(1)
        outer = QHBoxLayout(page)  # which, unlike a vertical one, asks for the height at the width that is really given
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addStretch(1)
        outer.addWidget(inner, 1000)
        outer.addStretch(1)
        self.setWidget(page)
        self._nothing = QLabel(page)
        self._nothing.setObjectName("muted")
        self._nothing.setWordWrap(True)
        self.foot.addWidget(self._nothing)
        self.entries: list[Entry] = []

    def show_entries(self, entries: Sequence[Entry], nothing: str) -> None:
        """Replace all entries. nothing: a sentence where there is none."""
        at = self.verticalScrollBar().value()
        now = self.window().focusWidget()  # also while a dialog in front of the window has the keyboard
        held = next((e.title for e in self.entries if now is not None and e.isAncestorOf(now)), None)
        empty(self._column)
        self.entries = list(entries)
        for entry in self.entries:
            self._column.addWidget(entry)
        again = next((entry for entry in self.entries if held is not None and entry.title == held), None)
        if again is not None:
            again.take_focus()
        self._nothing.setText(nothing)
        self._nothing.setVisible(not entries and bool(nothing))
        QTimer.singleShot(0, self, partial(self.verticalScrollBar().setValue, at))  # once they have their heights


def import_buttons(parent: QWidget, folder: SignalInstance, file: SignalInstance) -> QHBoxLayout:
    """A row of the two ways to bring a model in from this computer."""
    row = QHBoxLayout()
    for text, signal in ((tr("Import a folder…"), folder), (tr("Import a GGUF file…"), file)):
        button = QPushButton(text, parent)
        button.clicked.connect(signal.emit)
        row.addWidget(button)
    row.addStretch(1)
    return row


def heading(words: str, parent: QWidget) -> QLabel:
    """Of a part of a section."""
    label = QLabel(words, parent)
    sizes.letter(label, 1.2, label.font().Weight.DemiBold)
    label.setContentsMargins(0, 14, 0, 0)
    return label
