"""The menu of a text field, with what a misspelled word may have meant."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QMenu, QPlainTextEdit

from app.i18n.translate import tr
from app.spelling.checker import SpellChecker
from app.spelling.marks import words


def wrong_word_at(edit: QPlainTextEdit, at: QPoint, checker: SpellChecker) -> QTextCursor | None:
    """The misspelled word at a point of the field, selected; None where there is none."""
    cursor = edit.cursorForPosition(at)
    block = cursor.block()
    if block.userState() == 1:  # code
        return None
    for start, word in words(block.text()):
        if start <= cursor.position() - block.position() <= start + len(word) and checker.is_wrong(word):
            cursor.setPosition(block.position() + start)
            cursor.setPosition(block.position() + start + len(word), QTextCursor.MoveMode.KeepAnchor)
            return cursor
    return None


def add_suggestions(menu: QMenu, wrong: QTextCursor, checker: SpellChecker) -> None:
    """Put what may be meant by the selected word at the head of a menu, and that it is right."""
    word = wrong.selectedText().replace("’", "'")
    head = menu.actions()[0]
    made = QMenu(menu)  # makes the actions, which the menu then shows
    for suggested in checker.suggest(word):
        made.addAction(suggested, partial(wrong.insertText, suggested))
    if not made.actions():
        made.addAction(tr("No suggestions")).setEnabled(False)
    made.addAction(tr("Add to dictionary"), partial(checker.add, word))
    made.addSeparator()
    menu.insertActions(head, made.actions())
