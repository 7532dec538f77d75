"""Dialogs to read: the page about privacy, and the keyboard shortcuts."""

from __future__ import annotations

from itertools import groupby

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import (
    QColor,
    QIcon,
    QKeySequence,
    QTextCharFormat,
    QTextCursor,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
)
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QScrollArea,
    QTextBrowser,
    QWidget,
)

from app.i18n.translate import tr
from app.theme import fonts, sizes
from app.theme.theme import Theme
from app.widgets.builders import make_label, vbox
from app.widgets.shortcuts import SHORTCUTS
from engine import resources


def privacy_text() -> str:
    """Page about privacy as Markdown, in the language of the window; docs/privacy.md says the same."""
    name = tr("privacy.md", about="name of the file with the page about privacy")
    return resources.path("texts", name).read_text(encoding="utf-8")


class PrivacyDialog(QDialog):
    """Shows every use of the network; nothing on it can be clicked."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Privacy"))
        self._theme = theme
        self.page = QTextBrowser(self)
        self.page.setObjectName("reading")
        self.page.setAccessibleName(tr("What Underhill sends, and to whom"))
        self.page.setOpenLinks(False)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.button(QDialogButtonBox.StandardButton.Close).setIcon(QIcon())
        buttons.rejected.connect(self.reject)
        vbox((self.page, 1), buttons, parent=self, margins=(10, 10, 18, 16))
        room = self.screen().availableGeometry()
        self.resize(min(round(52 * fonts.points() * 1.4), room.width() - 40), min(680, room.height() - 60))
        self._fill()
        theme.changed.connect(self._fill)

    @Slot()
    def _fill(self) -> None:
        document = self.page.document()
        document.setDefaultFont(fonts.text())
        document.setDocumentMargin(16)
        document.setMarkdown(privacy_text())
        border = QColor(self._theme.palette.border)
        for frame in document.rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                shape = frame.format().toTableFormat()
                shape.setCellPadding(7)
                shape.setCellSpacing(0)
                shape.setBorderCollapse(True)
                shape.setBorder(1)
                shape.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
                shape.setTopMargin(10)
                shape.setBottomMargin(10)
                shape.setBorderBrush(border)
                shape.setWidth(_share(100))
                shape.setColumnWidthConstraints(
                    [QTextLength(QTextLength.Type.PercentageLength, p) for p in (36, 36, 28)]
                )
                frame.setFormat(shape)
        self._set_code()
        self.page.moveCursor(QTextCursor.MoveOperation.Start)

    def _set_code(self) -> None:
        """Set names of commands in the typeface for code."""
        change = QTextCharFormat()
        change.setFontFamilies(fonts.code().families())
        change.setFontPointSize(fonts.code().pointSizeF())
        block = self.page.document().begin()
        while block.isValid():
            for span in block.textFormats():
                if span.format.fontFixedPitch():
                    cursor = QTextCursor(block)
                    cursor.setPosition(block.position() + span.start)
                    cursor.setPosition(cursor.position() + span.length, QTextCursor.MoveMode.KeepAnchor)
                    cursor.mergeCharFormat(change)
            block = block.next()


def _share(percent: int) -> QTextLength:
    return QTextLength(QTextLength.Type.PercentageLength, percent)


class ShortcutSheet(QDialog):
    """Table of all keyboard shortcuts, in groups."""

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
            head = make_label(tr(group), page, heading=1.15)
            head.setContentsMargins(0, 10, 0, 2)
            grid.addWidget(head, row, 0, 1, 2)
            row += 1
            for shortcut in members:
                keys = QKeySequence(shortcut.keys).toString(QKeySequence.SequenceFormat.NativeText)
                words = make_label(tr(shortcut.words), page, wrap=True)
                cap = make_label(keys, page, "key")
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
        vbox(area, parent=self, margins=0)
        room = self.screen().availableGeometry()
        width = min(round(44 * fonts.points()), room.width() - 40)
        height = grid.totalHeightForWidth(width - 16)
        self.resize(width, min(height + 8, room.height() - 80))
