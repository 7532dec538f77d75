"""Attachments of the message that is being written, and dialogs to read what is attached."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QDir, QObject, Slot
from PySide6.QtWidgets import QFileDialog

from app.attachments.dialog import AttachmentDialog
from app.attachments.reading import read
from app.backend import models
from app.backend.models import Models
from app.chat.conversation import Conversation
from app.chat.prompt_messages import with_attachments
from app.composer.composer import Composer
from app.i18n.problem import problem
from app.i18n.translate import plural, tr
from app.platform.main_thread_queue import MainThreadQueue
from app.shell import Shell
from app.storage.records import Attachment
from app.theme.theme import Theme
from app.widgets.banner import Banners
from engine import protocol


class AttachmentController(QObject):
    """Controller of a composer's attachments: files chosen, dropped or pasted, read on a thread of their own."""

    def __init__(
        self, composer: Composer, banners: Banners, main_queue: MainThreadQueue, conversation: Conversation
    ) -> None:
        super().__init__(composer)
        self._conversation = conversation
        self._composer = composer
        self._banners = banners
        self._main_queue = main_queue
        self._told = ""  # by the banner about what was not attached, until the message is sent or left
        self._folder = QDir.homePath()  # that files were last chosen in
        composer.attach.clicked.connect(self.choose)
        composer.files.connect(self.take_files)
        composer.long_text.connect(self.take_text)
        composer.attached.removed.connect(self.remove)
        composer.sent.connect(self.forget)

    @Slot()
    def choose(self) -> None:
        """Open the file dialog and attach what is chosen."""
        names, _ = QFileDialog.getOpenFileNames(self._composer, tr("Attach text, code or PDF files"), self._folder)
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
        self._taken([Attachment(name, text)])

    @Slot(int)
    def remove(self, number: int) -> None:
        """Remove an attachment."""
        now = self._composer.attachments
        self._composer.set_attachments(now[:number] + now[number + 1 :])

    def _read(self, paths: list[Path], chat_id: int) -> None:
        """Runs on a thread of its own."""
        found: list[Attachment] = []
        refused: list[protocol.UnderhillError] = []
        for path in paths:
            try:
                found.append(read(path))
            except protocol.UnderhillError as error:
                refused.append(error)
        self._main_queue.post(self._finished, chat_id, found, refused)

    def _finished(self, chat_id: int, found: list[Attachment], refused: list[protocol.UnderhillError]) -> None:
        if self._conversation.chat_id == chat_id:
            self._taken(found)
        else:
            refused = [_too_late(attachment.name) for attachment in found] + refused
        self._say(refused)

    def _taken(self, found: list[Attachment]) -> None:
        self._composer.set_attachments((*self._composer.attachments, *found))
        self._composer.edit.setFocus()

    @Slot()
    def forget(self) -> None:
        """Withdraw the banner about files that were not attached."""
        self._banners.withdraw(self._told)
        self._told = ""

    def _say(self, refused: list[protocol.UnderhillError]) -> None:
        """Show in one banner what was not attached this time, instead of the time before."""
        self.forget()
        if not refused:
            return
        sentence, action = str(refused[0].sentence), str(refused[0].action)
        if len(refused) > 1:
            sentence = plural("1 file was not attached.", "%n files were not attached.", len(refused))
            action = "\n".join(error.sentence for error in refused)
        cause = "\n".join(f"{type(e.__cause__).__name__}: {e.__cause__}" for e in refused if e.__cause__ is not None)
        self._told = sentence
        self._banners.show_banner("warning", sentence, action, cause)


def _too_late(name: str) -> protocol.UnderhillError:
    return problem(
        protocol.Kind.BAD_REQUEST, tr("{file} was not attached: another chat was opened while it was read.", file=name),
        tr("Attach it again where it belongs."),
    )  # fmt: skip


class AttachmentReader(QObject):
    """Opens dialogs to read what is attached, to the draft or to a message; any number at once."""

    def __init__(self, shell: Shell, theme: Theme, conversation: Conversation, known: Models) -> None:
        super().__init__(shell)
        self._shell, self._theme, self._conversation, self._models = shell, theme, conversation, known
        self._readers: list[AttachmentDialog] = []
        shell.composer.attached.pressed.connect(self.show_drafted)
        shell.transcript.attached.connect(self.show_sent)

    @Slot(int)
    def show_drafted(self, number: int) -> None:
        """Open what is attached to the message that is being written, at this one."""
        self.open(self._shell.composer.attachments, number)

    @Slot(object)
    def show_sent(self, message_id: int) -> None:
        """Open what is attached to a message."""
        message = next((m for m in self._conversation.messages if m.id == message_id), None)
        if message is not None and message.attachments:
            self.open(message.attachments, 0)

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
        if self._models.state != models.READY:
            return

        def heard(event: protocol.Event) -> None:
            if isinstance(event, protocol.Done) and reader in self._readers and reader.file is file:
                reader.show_tokens(event.result.tokens[0])

        self._models.ask(protocol.CountTokens, heard, (with_attachments("", (file,)),))
