"""The sheet of all keys."""

from __future__ import annotations

from itertools import groupby

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.i18n.translate import tr
from app.theme import fonts, sizes
from app.widgets.shortcuts import SHORTCUTS


class ShortcutSheet(QDialog):
    """One row a key, in groups."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keyboard shortcuts"))
        page = QWidget(self)
        page.setObjectName("page")
        grid = QGridLayout(page)
        grid.setContentsMargins(24, 12, 24, 18)
        grid.setHorizontalSpacing(28)
        grid.setVerticalSpacing(7)
        grid.setColumnStretch(0, 1)
        row = 0
        for group, members in groupby(SHORTCUTS, lambda shortcut: shortcut.group):
            head = QLabel(tr(group), page)
            sizes.letter(head, 1.15, head.font().Weight.DemiBold)
            head.setContentsMargins(0, 10, 0, 2)
            grid.addWidget(head, row, 0, 1, 2)
            row += 1
            for shortcut in members:
                keys = QKeySequence(shortcut.keys).toString(QKeySequence.SequenceFormat.NativeText)
                words = QLabel(tr(shortcut.words), page)
                words.setWordWrap(True)
                cap = QLabel(keys, page)
                cap.setObjectName("key")
                sizes.follow(cap, lambda written: written.setFont(fonts.code()))
                cap.setAccessibleName(f"{tr(shortcut.words)}: {keys}")
                grid.addWidget(words, row, 0)
                grid.addWidget(cap, row, 1, Qt.AlignmentFlag.AlignRight)
                row += 1
        area = QScrollArea(self)
        area.setObjectName("sheet")
        area.setAccessibleName(self.windowTitle())
        area.setWidgetResizable(True)
        area.setWidget(page)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(area)
        room = self.screen().availableGeometry()
        width = min(round(44 * fonts.points()), room.width() - 40)
        height = grid.totalHeightForWidth(width - 16)
        self.resize(width, min(height + 8, room.height() - 80))
