"""Saves drafts, attachments, queues and ended answers, and holds what the disk refuses until it takes it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

from app.i18n.translate import sentences, tr
from app.storage import branches
from app.storage.database_thread import DatabaseThread, Problem
from app.storage.records import Attachment, Chat, QueuedMessage, StoredMessage
from app.storage.store import ChatStore

_ANSWER = "answer"
_Key = tuple[int, str]  # id of a chat, and a field of it: 'draft', 'attached' or 'queue'; or of a message, and _ANSWER


class DraftStore:
    """tell: called with what is wrong, once until all is saved again."""

    def __init__(self, database: DatabaseThread, tell: Callable[[Problem], object]) -> None:
        self._database, self._tell = database, tell
        self._held: dict[_Key, Any] = {}  # not known to be on the disk
        self._reported = False
        self.problem: Problem | None = None  # why the disk refused it last

    @property
    def held(self) -> dict[_Key, Any]:
        """Values not known to be on the disk, by chat and field: 'draft', 'attached' or 'queue'."""
        return {key: value for key, value in self._held.items() if key[1] != _ANSWER}

    @property
    def answers(self) -> dict[int, StoredMessage]:
        """Answers of which the end is not known to be on the disk, by id."""
        return {i: value for (i, field), value in self._held.items() if field == _ANSWER}

    @property
    def unsaved(self) -> bool:
        """Whether anything is not known to be on the disk."""
        return bool(self._held)

    def keep(self, chat_id: int, field: str, value: str | tuple[Attachment, ...] | tuple[QueuedMessage, ...]) -> None:
        """Save a field of a chat: 'draft', the text that is not sent; 'attached' to it; or 'queue'."""
        self._keep((chat_id, field), value)

    def forget_queue(self, chat_id: int) -> None:
        """Forget the queue of a chat: it is written together with the question that begins it."""
        self._held.pop((chat_id, "queue"), None)

    def keep_answer(self, message: StoredMessage, done: Callable[[], object]) -> None:
        """An answer that has ended. done: it is on the disk."""
        self._keep((message.id, _ANSWER), message, done)

    def with_unsaved(self, chat: Chat, messages: list[StoredMessage]) -> tuple[Chat, list[StoredMessage]]:
        """A chat as it was read from the disk, with what the disk does not have."""
        chat = dataclasses.replace(chat, **{field: held for (i, field), held in self.held.items() if i == chat.id})
        ended = self.answers
        return chat, [_ended(m, ended[m.id]) if m.id in ended else m for m in messages]

    def try_again(self) -> None:
        """Write again at the user's wish: where it fails, that is reported again."""
        self._reported = False
        self.write_again()

    def write_again(self) -> None:
        """Write everything again that is not known to be on the disk."""
        for key, value in list(self._held.items()):
            self._keep(key, value)

    def mark_refused(self, problem: Problem) -> None:
        """The disk did not take it."""
        self.problem = problem
        if not self._reported:
            self._reported = True
            kept = tr("What could not be saved is kept while Underhill is open.") if self._held else ""
            self._tell(dataclasses.replace(problem, action=sentences(problem.action, kept)))

    def mark_saved(self) -> None:
        """The disk took something."""
        if self._reported:  # there is room again
            self._reported = bool(self._held)
            self.write_again()

    def _keep(self, key: _Key, value: Any, done: Callable[[], object] = lambda: None) -> None:
        self._held[key] = value
        self._database.submit(
            partial(_write, key=key, value=value), partial(self._kept, key, value, done), self.mark_refused
        )

    def _kept(self, key: _Key, value: Any, done: Callable[[], object], _: None) -> None:
        if self._held.get(key) == value:
            del self._held[key]
        done()
        self.mark_saved()


def _write(store: ChatStore, key: _Key, value: Any) -> None:
    chat_id, field = key
    if field == _ANSWER:
        store.update(value)
    elif field == "draft":
        store.set_draft(chat_id, value)
    elif field == "queue":
        branches.set_queue(store, chat_id, value)
    else:
        store.keep_draft_attachments(chat_id, value)


def _ended(read: StoredMessage, held: StoredMessage) -> StoredMessage:
    """An answer as the disk has it, with what ChatStore.update would have written."""
    return dataclasses.replace(
        read, content=held.content, token_ids=held.token_ids, state=held.state, finish=held.finish, stats=held.stats
    )
