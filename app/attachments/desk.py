"""Attachments of the message that is being written: chosen, dropped or pasted, and read off the window's thread."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QDir, QObject, Slot
from PySide6.QtWidgets import QFileDialog

from app.attachments.reading import read
from app.chat.conversation import Conversation
from app.chats.records import Attachment
from app.i18n.translate import plural, tr
from app.platform.main_thread_queue import Inbox
from app.widgets.banner import Banners
from app.widgets.composer import Composer
from engine import api


class AttachmentDesk(QObject):
    """Serves one composer, which writes in the open chat of a conversation."""

    def __init__(self, composer: Composer, banners: Banners, inbox: Inbox, conversation: Conversation) -> None:
        super().__init__(composer)
        self._conversation = conversation
        self._composer = composer
        self._banners = banners
        self._inbox = inbox
        self._told = ""  # by the banner about what was not attached, until the message is sent or left
        self._folder = QDir.homePath()  # that files were last chosen in
        composer.attach.clicked.connect(self.choose)
        composer.files.connect(self.take_files)
        composer.long_text.connect(self.take_text)
        composer.attached.removed.connect(self.remove)
        composer.sent.connect(self.forget)

    @Slot()
    def choose(self) -> None:
        """Ask for files."""
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
        """A long text that was pasted."""
        names = {a.name for a in self._composer.attachments}
        name = next(n for i in range(1, len(names) + 2) if (n := tr("Pasted text {number}", number=i)) not in names)
        self._taken([Attachment(name, text)])

    @Slot(int)
    def remove(self, number: int) -> None:
        """Take an attachment off."""
        now = self._composer.attachments
        self._composer.set_attachments(now[:number] + now[number + 1 :])

    def _read(self, paths: list[Path], chat_id: int) -> None:
        """Runs on a thread of its own."""
        found: list[Attachment] = []
        refused: list[api.UnderhillError] = []
        for path in paths:
            try:
                found.append(read(path))
            except api.UnderhillError as error:
                refused.append(error)
        self._inbox.post(self._finished, chat_id, found, refused)

    def _finished(self, chat_id: int, found: list[Attachment], refused: list[api.UnderhillError]) -> None:
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
        """What was not attached matters no longer."""
        self._banners.withdraw(self._told)
        self._told = ""

    def _say(self, refused: list[api.UnderhillError]) -> None:
        """What was not attached this time, in one banner; that of the time before is over."""
        self.forget()
        if not refused:
            return
        sentence, action = refused[0].sentence, refused[0].action
        if len(refused) > 1:
            sentence = plural("1 file was not attached.", "%n files were not attached.", len(refused))
            action = "\n".join(error.sentence for error in refused)
        cause = "\n".join(f"{type(e.__cause__).__name__}: {e.__cause__}" for e in refused if e.__cause__ is not None)
        self._told = sentence
        self._banners.show_banner("warning", sentence, action, cause)


def _too_late(name: str) -> api.UnderhillError:
    return api.UnderhillError(
        api.Kind.BAD_REQUEST, tr("{file} was not attached: another chat was opened while it was read.", file=name),
        tr("Attach it again where it belongs."),
    )  # fmt: skip
