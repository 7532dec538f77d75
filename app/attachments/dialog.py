"""Dialog that shows what a model reads of attached files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut, QTextCursor, QTextDocument
from PySide6.QtWidgets import QComboBox, QDialog, QPlainTextEdit, QWidget

from app.i18n.translate import plural, tr
from app.storage.records import Attachment
from app.theme import fonts, sizes
from app.theme.theme import Theme
from app.widgets.builders import hbox, make_button, make_label, vbox
from app.widgets.search_field import FindBar
from app.widgets.text import size

_MOST = 1_000_000  # characters that are shown of a file; more take the window's thread too long
_PROSE = (".txt", ".md", ".pdf", "")


class AttachmentDialog(QDialog):
    """Shows attached files one at a time, with a search. shown: the file whose tokens `show_tokens` wants to know."""

    shown = Signal(object)

    def __init__(self, theme: Theme, files: Sequence[Attachment], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._files = tuple(files)
        self.names = QComboBox(self)
        self.names.setAccessibleName(tr("Attachments"))
        self.names.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.names.setMinimumContentsLength(18)  # however long their names are
        self.names.addItems([file.name for file in files])
        self.names.setVisible(len(files) > 1)
        self.facts = make_label("", self, "muted", wrap=True)
        find = make_button(tr("Find"), self, self.search, tip=tr("Find in this text") + "  (Ctrl+F)")
        self.copy = make_button(tr("Copy"), self, self._copy, name=tr("Copy the text"))
        for button in (self.copy, find):
            button.setAutoDefault(False)
        self.bar = FindBar(theme, self, tr("Find in this text"))
        self.bar.typed.connect(self._look_for)
        self.bar.stepped.connect(self._step)
        self.bar.closed.connect(self.reject)
        self.text = QPlainTextEdit(self)
        self.text.setObjectName("field")
        self.text.setReadOnly(True)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setTabChangesFocus(True)
        QShortcut(QKeySequence("Ctrl+F"), self).activated.connect(self.search)
        top = hbox(self.names, (self.facts, 1), find, self.copy, spacing=10)
        vbox(top, self.bar, (self.text, 1), parent=self, margins=(16, 14, 16, 16), spacing=10)
        room = self.screen().availableGeometry()
        self.resize(min(fonts.pixels(700), room.width() - 40), min(fonts.pixels(540), room.height() - 80))
        self.names.currentIndexChanged.connect(self.show_file)
        sizes.follow(self, AttachmentDialog._write)

    @property
    def file(self) -> Attachment:
        """File that is shown."""
        return self._files[max(0, self.names.currentIndex())]

    @Slot(int)
    def show_file(self, number: int) -> None:
        """Show the file of this number."""
        self.names.setCurrentIndex(number)
        self.setWindowTitle(self.file.name)
        self.text.setAccessibleName(tr("Text of {name}", name=self.file.name))
        self._write()
        self.text.setPlainText(self.file.text[:_MOST])
        self.text.setFocus()
        self.show_tokens(None)
        self.shown.emit(self.file)

    def show_tokens(self, tokens: int | None) -> None:
        """Show how many tokens the model takes for the file; None: not known."""
        facts = [size(len(self.file.text.encode()))]
        if tokens is not None:
            facts.append(plural("1 token", "{count:,} tokens", tokens, count=tokens))
        if len(self.file.text) > _MOST:
            facts.append(tr("the first {count:,} characters are shown; Copy takes all", count=_MOST))
        self.facts.setText("  ·  ".join(facts))

    @Slot()
    def search(self) -> None:
        """Show the find bar."""
        self.bar.show()
        self.bar.edit.setFocus()
        self.bar.edit.selectAll()

    def reject(self) -> None:
        """Close the find bar first, then the dialog."""
        if self.bar.isHidden():
            super().reject()
        else:
            self.bar.hide()
            self.text.setFocus()

    def _write(self) -> None:
        """Set the typeface: for prose, or for code, whose columns matter."""
        prose = PurePath(self.file.name).suffix.lower() in _PROSE
        self.text.setFont(fonts.text() if prose else fonts.code())

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.file.text)

    @Slot(str)
    def _look_for(self, words: str) -> None:
        count = self.text.toPlainText().lower().count(words.lower()) if words else 0
        self.bar.count.setText(plural("1 place", "{count:,} places", count, count=count) if count else "")
        if words and not count:
            self.bar.count.setText(tr("Not in this text."))
        start = self.text.textCursor()
        start.setPosition(start.selectionStart())  # the place that is selected may still be one
        self.text.setTextCursor(start)
        self._step(1)

    @Slot(int)
    def _step(self, by: int) -> None:
        words = self.bar.edit.text().strip()
        backward = QTextDocument.FindFlag.FindBackward if by < 0 else QTextDocument.FindFlag(0)
        if words and not self.text.find(words, backward):
            ends = QTextCursor.MoveOperation
            self.text.moveCursor(ends.End if by < 0 else ends.Start)  # and round again
            self.text.find(words, backward)
