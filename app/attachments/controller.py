"""Attachments of the message that is being written, and dialogs that show what a model reads of attached files."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path, PurePath

from PySide6.QtCore import QDir, QObject, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut, QTextCursor, QTextDocument
from PySide6.QtWidgets import QDialog, QFileDialog, QPlainTextEdit, QWidget

from app import backend
from app.attachments.reading import read
from app.backend import Models
from app.chat.conversation import Conversation
from app.chat.prompt_messages import with_attachments
from app.composer import Composer
from app.i18n.translate import plural, problem, tr
from app.platform.main_thread import MainThreadQueue
from app.shell import Shell
from app.storage.records import Attachment
from app.theme import fonts, sizes
from app.theme.theme import Theme
from app.widgets.builders import hbox, make_button, make_combo, make_label, resize_on_screen, vbox
from app.widgets.messages import Banners
from app.widgets.search_field import FindBar
from app.widgets.text import size
from engine import protocol, regular_file

_MOST = 1_000_000  # characters that are shown of a file; more take the window's thread too long
_SHARE = 0.5  # of the context; what takes more leaves no room for a talk about it
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
        find = make_button(tr("Find"), self, self.search, tip=tip, auto_default=False)
        self.copy = make_button(tr("Copy"), self, self._copy, name=tr("Copy text"), auto_default=False)
        self.bar = FindBar(theme, self, tr("Find in this text"))
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
        QShortcut(QKeySequence("Ctrl+F"), self).activated.connect(self.search)
        top = hbox(self.names, (self.facts, 1), find, self.copy, spacing=10)
        vbox(top, self.bar, (self.text, 1), parent=self, margins=(16, 14, 16, 16), spacing=10)
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
        self.setWindowTitle(self.file.name)
        self.text.setAccessibleName(tr("Text of {name}", name=self.file.name))
        self._write()
        self.text.setPlainText(self.file.text[:_MOST])
        self.text.setFocus()
        self.show_tokens(None)
        self.shown.emit(self.file)

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


class AttachmentController(QObject):
    """Controller of a composer's attachments: files chosen, dropped or pasted, read on a thread of their own.

    too_long: list[Path] of folders, and of files that the model could not read whole; they are to be indexed.
    """

    too_long = Signal(object)

    def __init__(
        self, composer: Composer, banners: Banners, main_queue: MainThreadQueue, conversation: Conversation
    ) -> None:
        super().__init__(composer)
        self._conversation = conversation
        self._composer = composer
        self._banners = banners
        self._main_queue = main_queue
        self._shown = ""  # by the banner about what was not attached, until the message is sent or left
        self._folder = QDir.homePath()  # that files were last chosen in
        self._paths: list[tuple[Attachment, Path]] = []  # of what is attached
        composer.attach.clicked.connect(self.choose)
        composer.files.connect(self.take_files)
        composer.long_text.connect(self.take_text)
        composer.attached.removed.connect(self.remove)
        composer.sent.connect(self.forget)

    @Slot()
    def choose(self) -> None:
        """Open the file dialog and attach what is chosen."""
        names, _ = QFileDialog.getOpenFileNames(self._composer, tr("Attach files"), self._folder)
        if names:
            self._folder = str(Path(names[0]).parent)
        self.take_files([Path(n) for n in names])

    @Slot(object)
    def take_files(self, paths: Sequence[Path]) -> None:
        """Read files and attach them."""
        if paths:
            read = partial(self._read, list(paths), self._conversation.chat_id)
            threading.Thread(target=read, name="attachments", daemon=True).start()

    @Slot(str)
    def take_text(self, text: str) -> None:
        """Attach a long text that was pasted."""
        names = {a.name for a in self._composer.attachments}
        name = next(n for i in range(1, len(names) + 2) if (n := tr("Pasted text {number}", number=i)) not in names)
        self._attach([Attachment(name, text)])

    @Slot(int)
    def remove(self, number: int) -> None:
        """Remove an attachment."""
        now = self._composer.attachments
        self._composer.set_attachments(now[:number] + now[number + 1 :])

    @Slot(object, int)
    def index_long(self, tokens: Sequence[int], context: int) -> None:
        """Have those indexed instead that would take most of the context. tokens: of each attachment."""
        attached = self._composer.attachments
        known = {id(attachment): path for attachment, path in self._paths}
        long = [a for a, n in zip(attached, tokens) if n > _SHARE * context and id(a) in known]
        if long:
            self._composer.set_attachments([a for a in attached if all(a is not other for other in long)])
            self.too_long.emit([known[id(a)] for a in long])

    def _read(self, paths: list[Path], chat_id: int) -> None:
        """Runs on a thread of its own."""
        found: list[tuple[Attachment, Path]] = []
        long: list[Path] = []
        refused: list[protocol.UnderhillError] = []
        for path in paths:
            try:
                if os.path.isdir(path):
                    long.append(path)
                else:
                    found.append((read(path), path))
            except protocol.UnderhillError as error:
                if isinstance(error.__cause__, regular_file.FileTooLarge):
                    long.append(path)
                else:
                    refused.append(error)
        self._main_queue.post(self._finished, chat_id, found, long, refused)

    def _finished(
        self, chat_id: int, found: list[tuple[Attachment, Path]], long: list[Path],
        refused: list[protocol.UnderhillError],
    ) -> None:  # fmt: skip
        if self._conversation.chat_id == chat_id:
            self._paths = [(a, path) for a, path in self._paths if a in self._composer.attachments] + found
            self._attach([attachment for attachment, _ in found])
            if long:
                self.too_long.emit(long)
        else:
            refused = [_too_late(path.name) for _, path in found] + [_too_late(path.name) for path in long] + refused
        self._show_refused(refused)

    def _attach(self, found: list[Attachment]) -> None:
        self._composer.set_attachments((*self._composer.attachments, *found))
        self._composer.edit.setFocus()

    @Slot()
    def forget(self) -> None:
        """Withdraw the banner about files that were not attached."""
        self._banners.withdraw(self._shown)
        self._shown = ""

    def _show_refused(self, refused: list[protocol.UnderhillError]) -> None:
        """Show in one banner what was not attached this time, instead of the time before."""
        self.forget()
        if not refused:
            return
        sentence, action = str(refused[0].sentence), str(refused[0].action)
        if len(refused) > 1:
            sentence = plural("1 file not attached", "%n files not attached", len(refused))
            action = "\n".join(error.sentence for error in refused)
        cause = "\n".join(f"{type(e.__cause__).__name__}: {e.__cause__}" for e in refused if e.__cause__ is not None)
        self._shown = sentence
        self._banners.show_banner("warning", sentence, action, cause)


def _too_late(name: str) -> protocol.UnderhillError:
    return problem(
        protocol.Kind.BAD_REQUEST, tr("{file} wasn't attached because you switched chats.", file=name),
        tr("Attach it again."),
    )  # fmt: skip


class AttachmentReader(QObject):
    """Opens dialogs to read what is attached, to the draft or to a message; any number at once."""

    def __init__(self, shell: Shell, theme: Theme, conversation: Conversation, known: Models) -> None:
        super().__init__(shell)
        self._shell, self._theme, self._conversation, self._models = shell, theme, conversation, known
        self._readers: list[AttachmentDialog] = []
        shell.composer.attached.pressed.connect(self.show_drafted)
        shell.transcript.message_actions.files.connect(self.show_sent)

    @Slot(int)
    def show_drafted(self, number: int) -> None:
        """Open what is attached to the message that is being written, at this one."""
        self.open(self._shell.composer.attachments, number)

    @Slot(object)
    def show_sent(self, message_id: int) -> None:
        """Open what is attached to a message."""
        at = self._conversation.index(message_id)
        if at >= 0 and self._conversation.messages[at].attachments:
            self.open(self._conversation.messages[at].attachments, 0)

    def open(self, files: Sequence[Attachment], number: int) -> AttachmentDialog:
        """Open a dialog for these files, at one of them."""
        reader = AttachmentDialog(self._theme, files, self._shell)
        self._readers.append(reader)
        reader.shown.connect(partial(self._count, reader))
        reader.finished.connect(partial(self._closed, reader))
        reader.show_file(number)
        reader.show()
        return reader

    def _closed(self, reader: AttachmentDialog, _: int) -> None:
        self._readers.remove(reader)

    def _count(self, reader: AttachmentDialog, file: Attachment) -> None:
        if self._models.state != backend.READY:
            return

        def done(count: protocol.TokenCount) -> None:
            if reader in self._readers and reader.file is file:
                reader.show_tokens(count.tokens[0])

        text = with_attachments("", (file,))
        self._models.link.request(done, lambda failed: None, protocol.CountTokens, (text,))
