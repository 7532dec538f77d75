"""Builds the document of one block, tables included: parsed once, styled, then only painted."""

from __future__ import annotations

import re
from typing import Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
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

from app.markdown import formula
from app.markdown.formula import FormulaRenderer, extract_formulas
from app.markdown.split import FOOTNOTE, Block
from app.theme import fonts
from app.theme.theme import Palette

_PADDING = 7  # pixels around the words of a table's cell
_AROUND = 2 * _PADDING + 5.0  # pixels beside the words of a cell: borders, and what is lost by rounding
_BREAK = re.compile(r"(?<=[-/])|\s")  # where a line may end
_WIDEST_WORD = 0.5  # of the whole width; what is longer than that may break
_MARKDOWN = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
_HEADINGS = {1: 1.5, 2: 1.28, 3: 1.12}  # times the size of text; deeper ones are as large as text
_LINE_HEIGHT = 142.0  # percent
_LONG_LINE = 4000  # characters
_BOX = 22  # pixels that the box of a thing to do takes
_NOTE = re.compile(r"(?:^|(?<=\S))\[\^([^\]\s]{1,40})\]")  # a footnote's mark, behind a word or before the note
_TYPED_CODE = re.compile(r"`[^`\n]+`")
_MARKS = re.compile(r"[*_~`\[]+")
_SAYS = re.compile(r"[*_~`\[\]()|#<>&;$\\\n]")  # what may be read with what stands before it
_MARK_LENGTH = 12  # characters at a line's beginning that may be a mark: "123456789. "
MOST_REMADE = 800  # characters of a growing block that is made again; what is longer only gets more words
_CELLS_GROWING = 8  # marks of a table in a growing block; one with more is laid out once it is whole
_MOST_MARKS, _MOST_CELLS = 2000, 5000  # 0.1 and 0.3 s of the window's thread


def style_tables(document: QTextDocument, palette: Palette) -> None:
    """Style all tables of a document: lines, and a head of another shade."""
    for table in tables_of(document):
        form = table.format()
        form.setBorder(1)
        form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        form.setBorderBrush(QBrush(QColor(palette.border)))
        form.setBorderCollapse(True)
        form.setCellPadding(_PADDING)
        form.setCellSpacing(0)
        form.setWidth(QTextLength())
        head = table.cellAt(0, 0).firstCursorPosition().block()
        if head.textDirection() == Qt.LayoutDirection.RightToLeft:
            form.setAlignment(Qt.AlignmentFlag.AlignRight)
        table.setFormat(form)
        for column in range(table.columns()):
            cell = table.cellAt(0, column)
            shade = cell.format()
            shade.setBackground(QColor(palette.code))
            cell.setFormat(shade)


def fit_tables(document: QTextDocument, width: float) -> None:
    """Set column widths. Qt would give all columns the same, and break a name beside a number with room to spare."""
    for table in tables_of(document):
        columns = [_wishes(table, column) for column in range(table.columns())]
        form = table.format()
        if sum(natural for natural, _ in columns) <= width:
            constraints, whole = [], QTextLength()
        else:
            percent = QTextLength.Type.PercentageLength
            constraints = [QTextLength(percent, 100 * w / width) for w in shared_widths(columns, width)]
            whole = QTextLength(percent, 100)
        form.setColumnWidthConstraints(constraints)
        form.setWidth(whole)
        table.setFormat(form)


def shared_widths(columns: list[tuple[float, float]], width: float) -> list[float]:
    """Widths that sum up to `width`. columns: what each needs to be on one line, and for its longest word.

    Every column gets its longest word where that is possible; the rest is shared out evenly among those that lack some.
    """
    least = [min(word, _WIDEST_WORD * width) for _, word in columns]
    space = width - sum(least)
    if space <= 0:
        weights = [(natural * word) ** 0.5 for (natural, _), word in zip(columns, least)]
        return [width * weight / sum(weights) for weight in weights]
    widths = list(least)
    lacking = sorted((max(0.0, natural - word), i) for i, ((natural, _), word) in enumerate(zip(columns, least)))
    for done, (lack, i) in enumerate(lacking):  # the narrowest first: the width it does not take goes to the others
        more = min(lack, space / (len(lacking) - done))
        widths[i] += more
        space -= more
    return [w * width / sum(widths) for w in widths]


def _wishes(table: QTextTable, column: int) -> tuple[float, float]:
    """Width of the widest cell on one line, and of its longest word."""
    natural = word = 0.0
    for row in range(table.rows()):
        cell = table.cellAt(row, column)
        block, end = cell.firstCursorPosition().block(), cell.lastCursorPosition().block()
        while block.isValid():
            long = 0.0
            for run in [it.fragment() for it in block]:  # type: ignore[attr-defined]
                form = run.charFormat()
                if form.isImageFormat():
                    image = form.toImageFormat().width()
                    long, word = long + image, max(word, image)
                    continue
                metrics = QFontMetricsF(form.font())
                long += metrics.horizontalAdvance(run.text())
                word = max([word, *(metrics.horizontalAdvance(part) for part in _BREAK.split(run.text()))])
            natural = max(natural, long)
            if block == end:
                break
            block = block.next()
    return natural + _AROUND, word + _AROUND


def tables_of(document: QTextDocument) -> list[QTextTable]:
    """Tables of a document."""
    return [frame for frame in document.rootFrame().childFrames() if isinstance(frame, QTextTable)]


class BlockDocument(QTextDocument):
    """QTextDocument that loads nothing: an image in an answer opens no file and no connection.

    sources: of the formulas shown as images, by number. waiting: some are still being made.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.waiting = False
        self.tail: QTextCursor | None = None  # once something was appended: finding the end has its line laid out
        self.tail_format = QTextCharFormat()  # of what is appended: not that of bold words or code before it

    def selected(self, cursor: QTextCursor) -> str:
        """Selected text, formulas as they were written."""
        return formula.source_text(cursor, self.sources)

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        return None


def make(
    block: Block, palette: Palette, plain: bool = False, formulas: FormulaRenderer | None = None, space: float = 700.0,
    *, wraps: bool = True,
) -> BlockDocument:  # fmt: skip
    """Build a block's document. plain: show Markdown as typed (the user's own words). space: width of wide formulas.
    wraps: break long lines of code.

    Code comes without colours; `highlight` adds them. Without `formulas` their source is shown.
    """
    document = BlockDocument()
    document.setUndoRedoEnabled(False)
    document.setDocumentMargin(0)
    if block.code:
        wrap_code(document, wraps)
        document.setDefaultFont(fonts.code())
        document.setPlainText(block.text)
        _space_lines(document, 130.0)
        return document
    document.setDefaultFont(fonts.text())
    growing = block.kind == "open"
    if plain or is_costly(block.text) or (growing and _grows_as_written(block)):
        document.setPlainText(block.text)
        _space_lines(document, _LINE_HEIGHT)
        if plain:
            _mark_code(document, palette)
        return document
    document.setIndentWidth(26)
    written = block.settled() if growing else block.text
    text, found = (written, []) if formulas is None else extract_formulas(written)
    # Escaped, since a note of one word would be taken for the target of a link.
    document.setMarkdown(FOOTNOTE.sub(r"\\[^\1\\]:", text), _MARKDOWN)
    name_images(document)
    _style(document, palette)
    _raise_notes(document)
    _tick(document)
    _mirror_numbers(document)
    if growing and (spaces := written[len(written.rstrip(" ")) :]):
        append(document, spaces)  # which Markdown leaves out, and which stand before the next word
    if block.kind == "math":
        _space_lines(document, 100.0, centred=True)  # a formula is high enough
    if formulas is not None and found:
        document.sources = [f.source for f in found]
        document.waiting = formula.insert_formulas(document, found, formulas, palette, space)
    return document


def wrap_code(document: QTextDocument, wraps: bool) -> None:
    """Break the long lines of code, or leave them whole. Its lines begin at the left in every language."""
    option, modes = document.defaultTextOption(), QTextOption.WrapMode
    option.setWrapMode(modes.WrapAtWordBoundaryOrAnywhere if wraps else modes.NoWrap)
    option.setTextDirection(Qt.LayoutDirection.LeftToRight)
    document.setDefaultTextOption(option)


def _raise_notes(document: QTextDocument) -> None:
    """Show the marks of footnotes raised, without their brackets; before a note itself also without its colon."""
    for block in _blocks(document):
        for mark in reversed(list(_NOTE.finditer(block.text()))):
            own = block.text().startswith(":", mark.end()) and not mark.start()
            if not mark.start() and not own:
                continue  # no word that it would be a note to
            cursor = _between(document, block.position() + mark.start(), block.position() + mark.end() + own)
            form = cursor.charFormat()
            if not form.fontFixedPitch():
                form.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignSuperScript)
                cursor.insertText(mark[1], form)


def _mark_code(document: QTextDocument, palette: Palette) -> None:
    """Set code among the words that somebody typed in its own face, ticks and all."""
    form = _code_format(palette)
    for block in _blocks(document):
        for code in _TYPED_CODE.finditer(block.text()):
            _between(document, block.position() + code.start(), block.position() + code.end()).mergeCharFormat(form)


def _between(document: QTextDocument, start: int, end: int) -> QTextCursor:
    cursor = QTextCursor(document)
    cursor.setPosition(start)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    return cursor


def _code_format(palette: Palette) -> QTextCharFormat:
    form = QTextCharFormat()
    form.setFont(fonts.code(), QTextCharFormat.FontPropertiesInheritanceBehavior.FontPropertiesSpecifiedOnly)
    form.setFontFamilies(fonts.code().families())
    form.setBackground(QColor(palette.hover))
    return form


def is_costly(text: str) -> bool:
    """Whether Qt would take so long for its Markdown or its tables that the window stood still: both take four times as
    long for twice as much. No answer that is meant to be read has so much of it in one block.
    """
    return text.count("|") > _MOST_CELLS or sum(1 for _ in _MARKS.finditer(text)) > _MOST_MARKS


def _grows_as_written(block: Block) -> bool:
    """Whether a growing block is shown as plain text until it is closed: formulas, which take a while, and tables,
    whose columns change with every row."""
    many = block.text.count("|") > _CELLS_GROWING
    return many or block.grows == "math" or bool(extract_formulas(block.text)[1])


def only_appended(old: Block, new: Block) -> bool:
    """Whether a growing block has only become longer by words that say the same in Markdown, so that what is shown
    need not be made again, which takes longer with every word of it."""
    if (old.grows, old.language) != (new.grows, new.language) or not new.text.startswith(old.text):
        return False
    if new.code or len(old.text) > MOST_REMADE:
        return True
    if as_written := _grows_as_written(new):
        return as_written == _grows_as_written(old)
    line = len(new.text) - 1 - new.text.rfind("\n")
    return line > _MARK_LENGTH and not _SAYS.search(new.text, len(old.text))


def append(document: BlockDocument, text: str) -> None:
    """Append plain text; only the last paragraph is laid out again.

    While it grows, a line that does not end is shown as several: laying out ever more for every word would take longer
    and longer.
    """
    if document.tail is None:
        document.tail = QTextCursor(document)
        document.tail.movePosition(QTextCursor.MoveOperation.End)
        heading = document.tail.blockFormat().headingLevel()
        document.tail_format = document.tail.charFormat() if heading else QTextCharFormat()
    if document.lastBlock().length() > _LONG_LINE and " " in text:
        text = text.replace(" ", "\n", 1)
    document.tail.insertText(text, document.tail_format)  # which it stays behind


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


def _space_lines(document: QTextDocument, percent: float, centred: bool = False) -> None:
    form = QTextBlockFormat()
    if centred:
        form.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    form.setLineHeight(percent, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    cursor = QTextCursor(document)
    cursor.select(QTextCursor.SelectionType.Document)
    cursor.mergeBlockFormat(form)


def name_images(document: QTextDocument) -> None:
    """Replace images, which are never loaded, by links with their names."""
    runs = [it.fragment() for block in _blocks(document) for it in block]  # type: ignore[attr-defined]
    for run in reversed([r for r in runs if r.charFormat().isImageFormat()]):
        image = run.charFormat().toImageFormat()
        link = QTextCharFormat()
        link.setAnchor(True)
        link.setAnchorHref(image.name())
        cursor = _between(document, run.position(), run.position() + run.length())
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


def _mirror_numbers(document: QTextDocument) -> None:
    """Have the dot stand left of the number of an item that is written from right to left.

    Qt puts the suffix before such a number, and then orders both from right to left once more.
    """
    for block in _blocks(document):
        items = block.textList()
        if items is None or block.textDirection() != Qt.LayoutDirection.RightToLeft:
            continue
        form = items.format()
        if form.numberSuffix():
            form.setNumberPrefix(form.numberSuffix())
            form.setNumberSuffix("")
            items.setFormat(form)


def _blocks(document: QTextDocument) -> list[QTextBlock]:
    found, block = [], document.begin()
    while block.isValid():
        found.append(block)
        block = block.next()
    return found


def _style(document: QTextDocument, palette: Palette) -> None:
    for number, block in enumerate(_blocks(document)):
        _style_block(block, palette, first=not number)
        _style_runs(document, block, palette)
    style_tables(document, palette)


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
        form = _code_format(palette) if old.fontFixedPitch() else QTextCharFormat()
        if old.fontWeight() >= QFont.Weight.Bold and not old.fontItalic():  # of both, Qt makes one
            form.setFontWeight(QFont.Weight.DemiBold)
        if old.isAnchor():
            form.setForeground(QColor(palette.accent))
        if form.isEmpty():
            continue
        _between(document, run.position(), run.position() + run.length()).mergeCharFormat(form)
