"""Marks misspelled words in a text field; code, addresses and names of things are left alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from PySide6.QtCore import Slot
from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextBlock, QTextCharFormat
from PySide6.QtWidgets import QPlainTextEdit

from app.spelling.checker import SpellChecker
from app.theme.theme import Theme

_CODE = re.compile(r"(`+).*?(?:\1|$)")
_PIECE = re.compile(r"\S+")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NO_PROSE = re.compile(r"://|[@/\\_\d<>{}=$#]|^www\.|\w\.\w")
_CJK = re.compile("[\u2e80-\uffef]")
_LONGEST = 20_000  # characters of a paragraph


def words(text: str) -> Iterator[tuple[int, str]]:
    """(place, word) of what is prose in one line: no code, address, path, name with a capital inside, or figure."""
    text = _CODE.sub(lambda code: " " * len(code[0]), text)
    for piece in _PIECE.finditer(text):
        if _NO_PROSE.search(piece[0]):
            continue
        for found in _WORD.finditer(piece[0]):
            word = found[0]
            if len(word) > 1 and word[1:] == word[1:].lower() and not _CJK.search(word):
                yield piece.start() + found.start(), word.replace("’", "'")


class SpellingMarks(QSyntaxHighlighter):
    """Underlines words that are wrong, but not the one that is being typed."""

    def __init__(self, edit: QPlainTextEdit, checker: SpellChecker, theme: Theme) -> None:
        super().__init__(edit.document())
        self._edit, self._checker, self._theme = edit, checker, theme
        self._typed: QTextBlock | None = None  # where one was passed over for being typed
        checker.changed.connect(self.rehighlight)
        theme.changed.connect(self.rehighlight)
        edit.cursorPositionChanged.connect(self._moved)

    def highlightBlock(self, text: str) -> None:
        fence, inside = text.lstrip().startswith("```"), self.previousBlockState() == 1
        self.setCurrentBlockState(int(inside != fence))
        if fence or inside or len(text) > _LONGEST or not self._checker.language:
            return
        cursor, block = self._edit.textCursor(), self.currentBlock()
        at = cursor.position() - block.position() if self._edit.hasFocus() and cursor.block() == block else -1
        mark = QTextCharFormat()
        mark.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        mark.setUnderlineColor(QColor(self._theme.palette.danger))
        for start, word in words(text):
            if at == start + len(word):
                self._typed = block
            elif self._checker.is_wrong(word):
                self.setFormat(start, len(word), mark)

    @Slot()
    def _moved(self) -> None:
        if self._typed is not None and self._typed.isValid():
            before, self._typed = self._typed, None
            self.rehighlightBlock(before)
