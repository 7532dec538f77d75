"""Blocks of a message on the page: their documents, made when they come into sight, and their heights."""

from __future__ import annotations

import math

from PySide6.QtCore import QObject, QRectF, QSizeF, Qt
from PySide6.QtGui import QImage, QTextOption

from app.markdown import document as documents
from app.markdown.formula import FormulaRenderer
from app.markdown.highlight import Highlighter
from app.markdown.preview import PreviewRenderer, preview_kind
from app.markdown.split import Block
from app.theme import fonts
from app.theme.theme import Theme

CODE_HEAD = 30  # the line above code with its language and the copy button; it and FOLD grow with the text
CODE_PAD = 14.0  # pixels around code, within its panel
FOLD = 30  # the line that says how long was thought
THOUGHT_INDENT = 16.0  # pixels, for the bar beside a thought
_LINE = 22.0  # pixels at the base size, for estimates only
_CHAR = 7.3  # the same, of an average character
_LEAST = 40.0  # pixels for text, however narrow the page


def estimate(text: str, width: float) -> float:
    """Estimated height of text, from its length alone."""
    size = fonts.points() / fonts.BASE_POINTS
    per_line = max(8, int(width / (size * _CHAR)))
    return size * _LINE * (1 + text.count("\n") + len(text) // per_line)


class DocumentBuilder(QObject):
    """Makes the documents of blocks: Markdown in the theme's colours, coloured code, formulas as images."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self.wraps_code = False  # long lines of code, where they would otherwise be scrolled to
        self.highlighter = Highlighter(self)
        self.formulas = FormulaRenderer(self)
        self.previews = PreviewRenderer(self)

    def build(self, block: Block, plain: bool, width: float) -> documents.BlockDocument:
        """The document of a block, formulas no wider than `width`. plain: show Markdown as typed."""
        palette = self._theme.palette
        document = documents.make(block, palette, plain, self.formulas, width, wraps=self.wraps_code)
        if block.kind == "code" and block.language:
            self.highlighter.add(document, block.language, palette.syntax)
        return document

    def close(self) -> None:
        """End the threads of all."""
        self.highlighter.close()
        self.formulas.close()
        self.previews.close()


class BlockView:
    """A block and where it lies: top is relative to the message. Heights are estimates until `measure`."""

    def __init__(self, block: Block, plain: bool) -> None:
        self.block = block
        self.plain = plain
        self.document: documents.BlockDocument | None = None
        self.top = 0.0
        self.height = 0.0
        self.indent = THOUGHT_INDENT if block.thought else 0.0  # also of writing from right to left, in a bubble
        self._for_width = -1.0  # the width that height holds for
        self.unchanged = 0.0  # pixels from its top that the last `grow` left as they were
        self.shift = 0  # pixels that code was scrolled sideways
        self.beyond = 0  # pixels that its longest line is longer than its panel
        self.has_long_lines = False  # some are longer, or were broken so that they are not
        self.previewed = False  # what it looks like is wanted in the place of its code
        self._preview: QImage | None = None

    @property
    def is_quote(self) -> bool:
        """Whether it is drawn beside a bar."""
        text = "text" in (self.block.kind, self.block.grows)
        return text and not self.plain and self.block.text.startswith(">")

    @property
    def is_fold(self) -> bool:
        """Whether it is the line that a thought is folded under."""
        return self.block.kind == "fold"

    @property
    def is_code(self) -> bool:
        """Whether it is drawn on a panel with a head."""
        return self.block.code

    @property
    def preview_kind(self) -> str:
        """What the code can be previewed as; '' while it is being written, and where it cannot."""
        closed = self.block.kind == "code" and not self.plain
        return preview_kind(self.block.language, self.block.text) if closed else ""

    @property
    def preview(self) -> QImage | None:
        """What the code looks like, where that is shown in its place."""
        return self._preview if self.previewed else None

    def set_preview(self, image: QImage | None) -> None:
        """Keep what the code looks like, or drop it."""
        self._preview = image

    def show_preview(self, shown: bool) -> None:
        """Show what the code looks like, once that is there, or the code again."""
        self.previewed = shown
        self.shift = 0
        self._for_width = -1.0

    def preview_rect(self, width: float) -> QRectF:
        """Where the image is shown, relative to the message's text: below the head, and no wider than the panel."""
        assert self._preview is not None
        size = self._preview.deviceIndependentSize()
        if size.width() > width - 2 * CODE_PAD:
            size = size.scaled(QSizeF(width - 2 * CODE_PAD, size.height()), Qt.AspectRatioMode.KeepAspectRatio)
        return QRectF(CODE_PAD, self.top + fonts.pixels(CODE_HEAD), round(size.width()), round(size.height()))

    def rewrap(self, wraps: bool) -> None:
        """Break long lines of code, or leave them whole; colours stay."""
        self.shift = 0
        if self.document is not None and self.is_code:
            documents.wrap_code(self.document, wraps)
            self._for_width = -1.0

    def _measure_lines(self, space: float) -> None:
        """Find out how much longer lines of code are than their panel, or whether any had to be broken."""
        assert self.document is not None
        if self.document.defaultTextOption().wrapMode() == QTextOption.WrapMode.NoWrap:
            self.beyond = max(0, math.ceil(self.document.idealWidth() - space))
            self.has_long_lines = self.beyond > 0
        else:
            self.beyond = 0
            blocks = (self.document.findBlockByNumber(n) for n in range(self.document.blockCount()))
            self.has_long_lines = any(block.layout().lineCount() > 1 for block in blocks)

    @property
    def right_to_left(self) -> bool:
        """Whether it is written from right to left."""
        first = self.document.firstBlock() if self.document is not None else None
        return first is not None and first.textDirection() == Qt.LayoutDirection.RightToLeft

    def gap_after(self, other: BlockView | None) -> float:
        """Space between the block before (`other`) and this one."""
        if other is None:
            return 0.0
        if self.block.item and other.block.item:
            return 5.0
        if self.block.text.startswith("#") and not self.is_code:
            return 18.0
        return 14.0 if self.is_code or other.is_code else 11.0

    def measured(self, width: float) -> bool:
        """Whether the height is the true one for this width."""
        return self.document is not None and self._for_width == width

    def guess(self, width: float) -> None:
        """Estimate the height while out of sight; one that was measured is kept for its width."""
        if self._for_width != width:
            text_width = width - 2 * CODE_PAD if self.is_code else width
            self.height = estimate(self.block.text, text_width)
            if self.is_code:
                self.height += fonts.pixels(CODE_HEAD) + 2 * CODE_PAD
            self._for_width = width if self.document is None else -1.0

    def measure(self, width: float, builder: DocumentBuilder) -> None:
        """Make the document if there is none, and lay it out."""
        if self.document is not None and self.document.sources:
            self.drop()  # its formulas were made to fit another width
        if self.document is None:
            self.document = builder.build(self.block, self.plain, width - 40)
        wanted = max(_LEAST, width - 2 * CODE_PAD if self.is_code else width - self.indent)
        if self.document.textWidth() != wanted:  # the same width, too, would lay all of it out again
            if not self.plain:
                documents.fit_tables(self.document, wanted)
            self.document.setTextWidth(wanted)
        if self.plain and not self.is_code:  # a bubble is as narrow as its words
            self.document.setTextWidth(min(width, math.ceil(self.document.idealWidth()) + 1.0))
        if self.is_code:
            self._measure_lines(wanted)
        extra = fonts.pixels(CODE_HEAD) + 2 * CODE_PAD - 6 if self.is_code else 0.0
        text = math.ceil(self.document.size().height()) + extra
        self.height = fonts.pixels(FOLD) if self.is_fold else text
        if self.preview is not None:
            self.beyond, self.has_long_lines = 0, False
            self.height = self.preview_rect(width).bottom() - self.top + CODE_PAD
        self._for_width = width

    def grow(self, block: Block) -> None:
        """Take the open block's new text: append it to the document, or drop that where more of it changes."""
        old = self.block
        self.block = block
        self.unchanged = 0.0
        if self.document is not None:
            if documents.only_appended(old, block):
                if self._for_width >= 0:  # laid out since it last grew
                    self.unchanged = self.text_rect(0).top() - self.top + documents.stable_height(self.document)
                documents.append(self.document, block.text[len(old.text) :])
            else:
                self.drop()
        self._for_width = -1.0

    def align_right_to_left(self, width: float) -> None:
        """Align right-to-left text with the right edge of the bubble, which leaves this width for it."""
        if self.document is not None and self.right_to_left:
            self.indent = width - self.document.textWidth()

    def drop_waiting(self) -> None:
        """Drop the document where it waited for formulas that have been made."""
        if self.document is not None and self.document.waiting:
            self.drop()

    def forget(self) -> None:
        """Drop the document, and with it the height."""
        self.drop()
        self._for_width = -1.0

    def drop(self) -> None:
        """Drop the document; the height stays as an estimate."""
        if self.document is not None:
            self.document.deleteLater()
            self.document = None

    def text_rect(self, width: float) -> QRectF:
        """Rectangle of the document, relative to the message's column; code begins before it once it is scrolled."""
        if self.is_code:
            top = self.top + fonts.pixels(CODE_HEAD) + CODE_PAD - 8
            return QRectF(CODE_PAD - self.shift, top, width - 2 * CODE_PAD, self.height)
        return QRectF(self.indent, self.top, width, self.height)
