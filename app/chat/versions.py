"""Versions and branches of the open chat: edited answers, deleted messages, answers that were made outside."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal

from app.chat.open_chat import OpenChat
from app.storage import branches, records
from app.storage.database_thread import Problem
from app.storage.records import Chat, StoredMessage


class ChatVersions(OpenChat):
    """What changes the tree of the open chat's messages without a model. No method waits."""

    opened = Signal(object, object)  # chat or None, its messages
    chats_changed = Signal()
    returned = Signal(str, object)  # text and attachments that were not sent: back into the composer
    wanted = 0  # the chat asked for last; an older reading that comes late is not shown

    @property
    def busy(self) -> bool:
        """Whether an answer is being generated, or waits, in the open chat."""
        raise NotImplementedError

    def open(self, chat: Chat, message_id: int = 0) -> None:
        """Read a chat from disk and show it; with a message: the branch that has it, scrolled to it."""
        self.wanted = chat.id
        if message_id:
            self._database.submit(partial(branches.read_at, chat_id=chat.id, message_id=message_id), self._read_done)
        else:
            self._database.submit(partial(branches.read, chat_id=chat.id), self._read_done)

    def _read_done(self, found: branches.OpenedChat | None) -> None:
        raise NotImplementedError

    def branch(self, message_id: int) -> None:
        """A new chat that begins like this one, up to this message."""
        if self.chat is not None:
            copy = partial(branches.copy_branch, chat_id=self.chat.id, message_id=message_id)
            self._database.submit(copy, self._branched)

    def _branched(self, chat: Chat | None) -> None:
        if chat is not None:
            self.chats_changed.emit()
            self.open(chat)

    def revise(self, message_id: int, text: str) -> None:
        """Save an answer that the user has edited, as a new version; the model's own stays."""
        index = self.index(message_id)
        if index < 0 or self.busy or self.chat is None:
            return
        old, chat = self.messages[index], self.chat
        edited = StoredMessage(
            id=records.new_id(), chat_id=chat.id, parent_id=old.parent_id, role="assistant", content=text,
            finish="edited", model=old.model,
        )  # fmt: skip

        def refused(problem: Problem) -> None:
            self.returned.emit(text, ())
            self.problem.emit(problem)

        write = partial(branches.write, chat=None, messages=(edited,))
        self._database.submit(write, lambda _: self._read_again(chat), refused)

    def adopt(self, messages: tuple[StoredMessage, ...], chat: Chat | None = None) -> None:
        """Add messages that were made outside, and show their chat with them. chat: to be made with them."""
        chat_id, last = messages[-1].chat_id, messages[-1].id

        def done(_: None) -> None:
            self.chats_changed.emit()
            self.wanted = chat_id
            self._database.submit(partial(branches.read_at, chat_id=chat_id, message_id=last), self._read_done)

        self._database.submit(partial(branches.write, chat=chat, messages=messages), done, self.problem.emit)

    def delete_message(self, message_id: int, done: Callable[[branches.DeletedMessages], object]) -> None:
        """Remove a message from the open chat. done: gets what `restore_messages` needs."""
        chat = self.chat
        if chat is None or self.busy:
            return

        def erased(what: branches.DeletedMessages | None) -> None:
            if what is not None:
                self._read_again(chat)
                done(what)

        self._database.submit(partial(branches.delete_message, chat_id=chat.id, message_id=message_id), erased)

    def restore_messages(self, what: branches.DeletedMessages) -> None:
        """Undo `delete_message`; where its chat is open, show the restored messages."""

        def done(_: None) -> None:
            if self.chat is not None and self.chat.id == what.chat_id and not self.busy:
                self.open(self.chat, what.messages[0].id)

        self._database.submit(partial(branches.restore_messages, erased=what), done)

    def _read_again(self, chat: Chat) -> None:
        """Show a chat as the database has it now, if it is still the open one."""
        if self.wanted == chat.id:
            self.open(chat)

    def switch_version(self, message_id: int, by: int) -> None:
        """Show the version of a message that is `by` places after the one shown, or before it if negative."""
        if self.chat is not None and not self.busy:
            step = partial(branches.step, chat_id=self.chat.id, message_id=message_id, by=by)
            self._database.submit(step, self._read_done)
