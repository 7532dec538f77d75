"""The page that lists every use of the network; docs/privacy.md says the same."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtGui import QColor, QIcon, QTextCharFormat, QTextCursor, QTextFrameFormat, QTextLength, QTextTable
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from app.i18n.translate import tr
from app.theme import fonts
from app.theme.theme import Theme
from engine import resources


def text() -> str:
    """The page as Markdown, in the language of the window."""
    name = tr("privacy.md", about="name of the file with the page about privacy")
    return resources.path("texts", name).read_text(encoding="utf-8")


class Privacy(QDialog):
    """One page to read; nothing on it can be clicked."""

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
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 10, 18, 16)
        column.addWidget(self.page, 1)
        column.addWidget(buttons)
        room = self.screen().availableGeometry()
        self.resize(min(round(52 * fonts.points() * 1.4), room.width() - 40), min(680, room.height() - 60))
        self._fill()
        theme.changed.connect(self._fill)

    @Slot()
    def _fill(self) -> None:
        document = self.page.document()
        document.setDefaultFont(fonts.text())
        document.setDocumentMargin(16)
        document.setMarkdown(text())
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
        """Names of commands in the typeface that the window uses for code."""
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
