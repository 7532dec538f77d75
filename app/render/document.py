"""Makes the document of one block: parsed once, styled, then only painted."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextOption,
    QTextTable,
)

from app.render import mathematics
from app.render.formula import Formulas, take_out
from app.render.split import Block
from app.theme import fonts
from app.theme.tokens import Palette

_MARKDOWN = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
_HEADINGS = {1: 1.5, 2: 1.28, 3: 1.12}
_LINE_HEIGHT = 142.0  # percent
_LONG_LINE = 4000  # characters


class BlockDocument(QTextDocument):
    """A document that reads nothing: an image in an answer opens no file and no connection.

    sources: of the formulas shown as pictures, by number. waiting: some are still being made.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.waiting = False

    def selected(self, cursor: QTextCursor) -> str:
        """Selected text, formulas as they were written."""
        return mathematics.text_of(cursor, self.sources)

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        return None


def make(
    block: Block, palette: Palette, plain: bool = False, formulas: Formulas | None = None, room: float = 700.0
) -> BlockDocument:
    """The document of a block. plain: show Markdown as typed (the user's own words). room: width of wide formulas.

    Code comes without colours; `highlight` adds them. Without `formulas` their source is shown.
    """
    document = BlockDocument()
    document.setUndoRedoEnabled(False)
    document.setDocumentMargin(0)
    if block.kind == "code" or block.code:
        document.setDefaultFont(fonts.code())
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        document.setDefaultTextOption(option)
        document.setPlainText(block.text)
        _space_lines(document, 130.0)
        return document
    document.setDefaultFont(fonts.text())
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    document.setDefaultTextOption(option)
    if plain or block.kind == "open":
        document.setPlainText(block.text)
        _space_lines(document, _LINE_HEIGHT)
        return document
    document.setIndentWidth(26)
    text, found = (block.text, []) if formulas is None else take_out(block.text)
    document.setMarkdown(text, _MARKDOWN)
    _style(document, palette)
    if block.kind == "math":
        _centre(document)
    if formulas is not None and found:
        document.sources = [f.source for f in found]
        document.waiting = mathematics.put_in(document, found, formulas, palette, room)
    return document


def _centre(document: QTextDocument) -> None:
    form = QTextBlockFormat()
    form.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    form.setLineHeight(100.0, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)  # a formula is high enough
    cursor = QTextCursor(document)
    cursor.select(QTextCursor.SelectionType.Document)
    cursor.mergeBlockFormat(form)


def append(document: QTextDocument, text: str) -> None:
    """More plain text at the end; only the last paragraph is laid out again.

    While it grows, a line that does not end is shown as several: laying out ever more for every word would take longer
    and longer.
    """
    cursor = QTextCursor(document)
    cursor.movePosition(QTextCursor.MoveOperation.End)
    if cursor.block().length() > _LONG_LINE and " " in text:
        text = text.replace(" ", "\n", 1)
    cursor.insertText(text)


def _space_lines(document: QTextDocument, percent: float) -> None:
    form = QTextBlockFormat()
    form.setLineHeight(percent, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    cursor = QTextCursor(document)
    cursor.select(QTextCursor.SelectionType.Document)
    cursor.mergeBlockFormat(form)


def _style(document: QTextDocument, palette: Palette) -> None:
    block = document.begin()
    first = True
    while block.isValid():
        _style_block(block, palette, first)
        _style_runs(document, block, palette)
        first = False
        block = block.next()
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            _style_table(frame, palette)


def _style_block(block: QTextBlock, palette: Palette, first: bool) -> None:
    form = block.blockFormat()
    form.setLineHeight(_LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    form.setTopMargin(0 if first else 6)
    form.setBottomMargin(0)
    quote = int(form.property(QTextFormat.Property.BlockQuoteLevel) or 0)
    if quote:
        form.setLeftMargin(18 * quote)
    if form.property(QTextFormat.Property.BlockCodeFence) is not None or form.nonBreakableLines():
        form.setBackground(QColor(palette.code))
        form.setLineHeight(130.0, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        form.setTopMargin(0)
    cursor = QTextCursor(block)
    if not block.text() and cursor.currentTable() is None:  # Qt puts empty lines around tables
        form.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        form.setTopMargin(0)
    cursor.setBlockFormat(form)
    if quote:
        _merge(cursor, colour=palette.muted)
    if form.headingLevel():
        scale = _HEADINGS.get(form.headingLevel(), 1.0)
        _merge(cursor, font=fonts.text(scale, QFont.Weight.DemiBold))


def _merge(cursor: QTextCursor, colour: str = "", font: QFont | None = None) -> None:
    form = QTextCharFormat()
    if colour:
        form.setForeground(QColor(colour))
    if font is not None:
        form.setFont(font)
    cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
    cursor.mergeCharFormat(form)


def _style_runs(document: QTextDocument, block: QTextBlock, palette: Palette) -> None:
    """Inline code, links and bold in our own faces and colours."""
    for run in [it.fragment() for it in block]:  # type: ignore[attr-defined]
        old = run.charFormat()
        form = QTextCharFormat()
        if old.fontFixedPitch():
            form.setFont(fonts.code(), QTextCharFormat.FontPropertiesInheritanceBehavior.FontPropertiesSpecifiedOnly)
            form.setFontFamilies(fonts.code().families())
            form.setBackground(QColor(palette.hover))
        if old.fontWeight() >= QFont.Weight.Bold:
            form.setFontWeight(QFont.Weight.DemiBold)
        if old.isAnchor():
            form.setForeground(QColor(palette.accent))
        if form.isEmpty():
            continue
        cursor = QTextCursor(document)
        cursor.setPosition(run.position())
        cursor.setPosition(run.position() + run.length(), QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(form)


def _style_table(table: QTextTable, palette: Palette) -> None:
    form = table.format()
    form.setBorder(1)
    form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    form.setBorderBrush(QBrush(QColor(palette.border)))
    form.setBorderCollapse(True)
    form.setCellPadding(7)
    form.setCellSpacing(0)
    form.setWidth(QTextLength())
    table.setFormat(form)
    for column in range(table.columns()):
        cell = table.cellAt(0, column)
        shade = cell.format()
        shade.setBackground(QColor(palette.code))
        cell.setFormat(shade)
