"""Builds the document of one block: parsed once, styled, then only painted."""

from __future__ import annotations

import re
from typing import Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import (
    QColor,
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextOption,
)

from app.markdown import formula, tables
from app.markdown.formula import FormulaRenderer, extract_formulas
from app.markdown.split import Block
from app.theme import fonts
from app.theme.tokens import Palette

_MARKDOWN = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
_HEADINGS = {1: 1.5, 2: 1.28, 3: 1.12}
_LINE_HEIGHT = 142.0  # percent
_LONG_LINE = 4000  # characters
_BOX = 22  # pixels that the box of a thing to do takes

_MARKS = re.compile(r"[*_~`\[]+")
_MOST_MARKS, _MOST_CELLS = 2000, 5000  # 0.1 and 0.3 s of the window's thread


class BlockDocument(QTextDocument):
    """QTextDocument that loads nothing: an image in an answer opens no file and no connection.

    sources: of the formulas shown as pictures, by number. waiting: some are still being made.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.waiting = False
        self.tail: QTextCursor | None = None  # once something was appended: finding the end has its line laid out

    def selected(self, cursor: QTextCursor) -> str:
        """Selected text, formulas as they were written."""
        return formula.source_text(cursor, self.sources)

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        return None


def make(
    block: Block, palette: Palette, plain: bool = False, formulas: FormulaRenderer | None = None, room: float = 700.0
) -> BlockDocument:
    """Build a block's document. plain: show Markdown as typed (the user's own words). room: width of wide formulas.

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
    if plain or block.kind == "open" or _costly(block.text):
        document.setPlainText(block.text)
        _space_lines(document, _LINE_HEIGHT)
        return document
    document.setIndentWidth(26)
    text, found = (block.text, []) if formulas is None else extract_formulas(block.text)
    document.setMarkdown(text, _MARKDOWN)
    _name_images(document)
    _style(document, palette)
    _tick(document)
    if block.kind == "math":
        _centre(document)
    if formulas is not None and found:
        document.sources = [f.source for f in found]
        document.waiting = formula.insert_formulas(document, found, formulas, palette, room)
    return document


def _costly(text: str) -> bool:
    """Whether Qt would take so long for its Markdown or its tables that the window stood still: both take four times as
    long for twice as much. No answer that is meant to be read has so much of it in one block.
    """
    return text.count("|") > _MOST_CELLS or sum(1 for _ in _MARKS.finditer(text)) > _MOST_MARKS


def _centre(document: QTextDocument) -> None:
    form = QTextBlockFormat()
    form.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    form.setLineHeight(100.0, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)  # a formula is high enough
    cursor = QTextCursor(document)
    cursor.select(QTextCursor.SelectionType.Document)
    cursor.mergeBlockFormat(form)


def append(document: BlockDocument, text: str) -> None:
    """Append plain text; only the last paragraph is laid out again.

    While it grows, a line that does not end is shown as several: laying out ever more for every word would take longer
    and longer.
    """
    if document.tail is None:
        document.tail = QTextCursor(document)
        document.tail.movePosition(QTextCursor.MoveOperation.End)
    if document.lastBlock().length() > _LONG_LINE and " " in text:
        text = text.replace(" ", "\n", 1)
    document.tail.insertText(text)  # which it stays behind


def stable_height(document: QTextDocument) -> float:
    """Pixels from the top that stay as they are when text is appended: all lines but the last two.

    A word that grows can move to a line of its own, and take with it what may not stand at the end of the line before.
    """
    block = document.lastBlock()
    lines = block.layout().lineCount()
    if lines < 2 and block.previous().isValid():
        block = block.previous()
        lines = block.layout().lineCount() + 1
    layout = block.layout()
    return layout.position().y() + layout.lineAt(lines - 2).y() if lines >= 2 else 0.0


def _space_lines(document: QTextDocument, percent: float) -> None:
    form = QTextBlockFormat()
    form.setLineHeight(percent, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    cursor = QTextCursor(document)
    cursor.select(QTextCursor.SelectionType.Document)
    cursor.mergeBlockFormat(form)


def _name_images(document: QTextDocument) -> None:
    """Replace images, which are never loaded, by links with their names."""
    runs = [it.fragment() for block in _blocks(document) for it in block]  # type: ignore[attr-defined]
    for run in reversed([r for r in runs if r.charFormat().isImageFormat()]):
        image = run.charFormat().toImageFormat()
        link = QTextCharFormat()
        link.setAnchor(True)
        link.setAnchorHref(image.name())
        cursor = QTextCursor(document)
        cursor.setPosition(run.position())
        cursor.setPosition(run.position() + run.length(), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(str(image.property(QTextFormat.Property.ImageAltText) or image.name()), link)


def _tick(document: QTextDocument) -> None:
    """Replace check boxes of lists by signs of the text: they look alike everywhere, and are copied with it."""
    markers = QTextBlockFormat.MarkerType
    for block in _blocks(document):
        form = block.blockFormat()
        if form.marker() == markers.NoMarker:
            continue
        done, inside = form.marker() == markers.Checked, block.textList()
        cursor = QTextCursor(block)
        if inside is not None:
            indent = inside.format().indent()
            inside.remove(block)  # or there would be a bullet, too
            form = block.blockFormat()
            form.setIndent(indent)
        form.setMarker(markers.NoMarker)
        form.setTextIndent(-_BOX)
        cursor.setBlockFormat(form)
        cursor.insertText("✓\u2002" if done else "☐\u2002")


def _blocks(document: QTextDocument) -> list[QTextBlock]:
    found, block = [], document.begin()
    while block.isValid():
        found.append(block)
        block = block.next()
    return found


def _style(document: QTextDocument, palette: Palette) -> None:
    block = document.begin()
    first = True
    while block.isValid():
        _style_block(block, palette, first)
        _style_runs(document, block, palette)
        first = False
        block = block.next()
    tables.style(document, palette)


def _style_block(block: QTextBlock, palette: Palette, first: bool) -> None:
    form = block.blockFormat()
    form.setLineHeight(_LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    form.setTopMargin(0 if first else 6)
    form.setBottomMargin(0)
    quote = int(form.property(QTextFormat.Property.BlockQuoteLevel) or 0)
    if quote:
        form.setLeftMargin(18 * quote)
        form.setRightMargin(18 * quote)  # where writing from right to left begins
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
    """Set inline code, links and bold in our own faces and colours."""
    for run in [it.fragment() for it in block]:  # type: ignore[attr-defined]
        old = run.charFormat()
        form = QTextCharFormat()
        if old.fontFixedPitch():
            form.setFont(fonts.code(), QTextCharFormat.FontPropertiesInheritanceBehavior.FontPropertiesSpecifiedOnly)
            form.setFontFamilies(fonts.code().families())
            form.setBackground(QColor(palette.hover))
        if old.fontWeight() >= QFont.Weight.Bold and not old.fontItalic():  # of both, Qt makes one
            form.setFontWeight(QFont.Weight.DemiBold)
        if old.isAnchor():
            form.setForeground(QColor(palette.accent))
        if form.isEmpty():
            continue
        cursor = QTextCursor(document)
        cursor.setPosition(run.position())
        cursor.setPosition(run.position() + run.length(), QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(form)
