"""Opens what is attached, to the draft or to a message that was sent, to be read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.attachments.reader import Reader
from app.backend import models
from app.backend.models import Models
from app.chat.conversation import Conversation
from app.chat.prompt_messages import said
from app.chats.records import Attachment
from app.theme.theme import Theme
from engine import api

if TYPE_CHECKING:
    from app.main_window import MainWindow


class ReadingDesk(QObject):
    """Any number of windows at once, beside the chat."""

    def __init__(self, window: MainWindow, theme: Theme, conversation: Conversation, known: Models) -> None:
        super().__init__(window)
        self._window, self._theme, self._conversation, self._models = window, theme, conversation, known
        self._readers: list[Reader] = []
        window.composer.attached.pressed.connect(self.show_drafted)
        window.transcript.attached.connect(self.show_sent)

    @Slot(int)
    def show_drafted(self, number: int) -> None:
        """What is attached to the message that is being written, this one first."""
        self.open(self._window.composer.attachments, number)

    @Slot(object)
    def show_sent(self, message_id: int) -> None:
        """What is attached to a message."""
        message = next((m for m in self._conversation.messages if m.id == message_id), None)
        if message is not None and message.attachments:
            self.open(message.attachments, 0)

    def open(self, files: Sequence[Attachment], number: int) -> Reader:
        """A window for these files, at one of them."""
        reader = Reader(self._theme, files, self._window)
        self._readers.append(reader)
        reader.shown.connect(partial(self._count, reader))
        reader.finished.connect(partial(self._closed, reader))
        reader.show_file(number)
        reader.show()
        return reader

    def _closed(self, reader: Reader, _: int) -> None:
        self._readers.remove(reader)

    def _count(self, reader: Reader, file: Attachment) -> None:
        if self._models.state != models.READY:
            return

        def heard(event: api.Event) -> None:
            if isinstance(event, api.Done) and reader in self._readers and reader.file is file:
                reader.tell(event.result.tokens[0])

        self._models.ask(api.CountTokens, heard, (said("", (file,)),))
