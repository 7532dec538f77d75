"""Shows what is attached: what a model reads of files, and images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut, QTextCursor, QTextDocument
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QStackedWidget, QWidget

from app.i18n.translate import plural, tr
from app.images.cache import image_cache
from app.images.files import ask_and_save, copy_image
from app.images.view import ImageView
from app.storage.records import Attachment
from app.theme import fonts, sizes
from app.theme.theme import Theme
from app.widgets.builders import hbox, make_button, make_combo, make_label, resize_on_screen, vbox
from app.widgets.search_field import FindBar
from app.widgets.text import size
from engine import protocol

_MOST = 1_000_000  # characters that are shown of a file; more take the window's thread too long
_PROSE = (".txt", ".md", ".pdf", "")


class AttachmentDialog(QDialog):
    """Shows attached files one at a time, with a search. shown: the file whose tokens `show_tokens` wants to know."""

    shown = Signal(object)

    def __init__(self, theme: Theme, files: Sequence[Attachment], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._files = tuple(files)
        self.names = make_combo(self, tr("Attachments"), [(file.name, None) for file in files], letters=18)
        self.names.setVisible(len(files) > 1)
        self.facts = make_label("", self, "muted", wrap=True)
        tip = tr("Find in this text") + "  (Ctrl+F)"
        self.search_button = make_button(tr("Find"), self, self.search, tip=tip, auto_default=False)
        self.copy = make_button(tr("Copy"), self, self._copy, name=tr("Copy text"), auto_default=False)
        self.save = make_button(tr("Save as…"), self, self._save, auto_default=False)
        self.bar = FindBar(theme, self, tr("Find in this text"), indent=0)
        self.bar.typed.connect(self._find)
        self.bar.stepped.connect(self._step)
        self.bar.closed.connect(self.reject)
        self.text = QPlainTextEdit(self)
        self.text.setObjectName("field")
        self.text.setReadOnly(True)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setTabChangesFocus(True)
        self.image = ImageView(theme, self)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.text)
        self._pages.addWidget(self.image)
        QShortcut(QKeySequence("Ctrl+F"), self).activated.connect(self.search)
        top = hbox(self.names, (self.facts, 1), self.search_button, self.copy, self.save, spacing=10)
        vbox(top, self.bar, (self._pages, 1), parent=self, margins=(16, 14, 16, 16), spacing=10)
        resize_on_screen(self, fonts.pixels(700), fonts.pixels(540))
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
        file, seen = self.file, bool(self.file.image)
        self.setWindowTitle(file.name)
        self.search_button.setVisible(not seen)
        self.save.setVisible(seen)
        self.copy.setAccessibleName(tr("Copy image") if seen else tr("Copy text"))
        self._pages.setCurrentWidget(self.image if seen else self.text)
        if seen:
            self.bar.hide()
            self.image.show_image(file)
            self.image.setFocus()
            pixels = image_cache().size_of(file)
            self.facts.setText(f"{pixels.width():,} × {pixels.height():,}  ·  {size(len(file.image))}")
            return
        self.text.setAccessibleName(tr("Text of {name}", name=file.name))
        self._write()
        self.text.setPlainText(file.text[:_MOST])
        self.text.setFocus()
        self.show_tokens(None)
        self.shown.emit(file)

    def show_passage(self, source: protocol.Passage) -> None:
        """Select a passage, where the text still has it: by its lines, or on a page by its words."""
        cursor, text = self.text.textCursor(), self.text.document()
        start = source.text.split("\n", 1)[0]
        first = text.findBlockByNumber(source.line - 1)
        if source.page or start not in first.text():
            first = text.find(start).block()
        if first.isValid():
            last = text.findBlockByNumber(first.blockNumber() + source.last_line - source.line)
            cursor.setPosition(first.position())
            cursor.setPosition(last.position() + last.length() - 1, QTextCursor.MoveMode.KeepAnchor)
            self.text.setTextCursor(cursor)
            self.text.centerCursor()

    def show_tokens(self, tokens: int | None) -> None:
        """Show how many tokens the model takes for the file; None: not known."""
        facts = [size(len(self.file.text.encode()))]
        if tokens is not None:
            facts.append(plural("1 token", "{count:,} tokens", tokens, count=tokens))
        if len(self.file.text) > _MOST:
            facts.append(tr("first {count:,} characters shown; Copy copies all", count=_MOST))
        self.facts.setText("  ·  ".join(facts))

    @Slot()
    def search(self) -> None:
        """Show the find bar, of a text."""
        if self.file.image:
            return
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
        if self.file.image:
            copy_image(self.file)
        else:
            QGuiApplication.clipboard().setText(self.file.text)

    @Slot()
    def _save(self) -> None:
        if why := ask_and_save(self.file, self):
            self.facts.setText(why)

    @Slot(str)
    def _find(self, words: str) -> None:
        count = self.text.toPlainText().lower().count(words.lower()) if words else 0
        self.bar.count.setText(plural("1 match", "{count:,} matches", count, count=count) if count else "")
        if words and not count:
            self.bar.count.setText(tr("No matches"))
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
