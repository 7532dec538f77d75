"""What is typed and attached in chats, but not sent: what the disk refuses is held until it takes it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

from app.chats import drafts
from app.chats.keeper import Keeper
from app.chats.opening import Problem
from app.chats.records import Attachment, Chat
from app.chats.store import ChatStore
from app.language.words import say, sentences

_Key = tuple[int, str]  # id of a chat, and a field of it: 'draft' or 'attached'


class Unsent:
    """tell: called with what is wrong, once until all is saved again."""

    def __init__(self, keeper: Keeper, tell: Callable[[Problem], object]) -> None:
        self._keeper, self._tell = keeper, tell
        self._held: dict[_Key, Any] = {}  # not known to be on the disk
        self._told = False
        self.problem: Problem | None = None  # why the disk refused it last

    @property
    def held(self) -> dict[_Key, Any]:
        """What is not known to be on the disk: by chat and field, 'draft' or 'attached'."""
        return dict(self._held)

    @property
    def unsaved(self) -> bool:
        """Is there something that is nowhere but here?"""
        return bool(self._held)

    def keep_text(self, chat_id: int, text: str) -> None:
        """What is typed in a chat."""
        self._keep((chat_id, "draft"), text)

    def keep_files(self, chat_id: int, files: tuple[Attachment, ...]) -> None:
        """What is attached to it."""
        self._keep((chat_id, "attached"), files)

    def whole(self, chat: Chat) -> Chat:
        """A chat as it was read from the disk, with what the disk does not have."""
        return dataclasses.replace(chat, **{field: held for (i, field), held in self._held.items() if i == chat.id})

    def try_again(self) -> None:
        """Somebody asked for it: where it fails, that is said again."""
        self._told = False
        self.write_again()

    def write_again(self) -> None:
        """Have all that is held written."""
        for key, value in list(self._held.items()):
            self._keep(key, value)

    def refused(self, problem: Problem) -> None:
        """The disk did not take it."""
        self.problem = problem
        if not self._told:
            self._told = True
            kept = say("What you have typed is kept while Underhill is open.") if self._held else ""
            self._tell(dataclasses.replace(problem, action=sentences(problem.action, kept)))

    def _keep(self, key: _Key, value: Any) -> None:
        self._held[key] = value
        self._keeper.do(partial(_write, key=key, value=value), partial(self._kept, key, value), self.refused)

    def _kept(self, key: _Key, value: Any, _: None) -> None:
        if self._held.get(key) == value:
            del self._held[key]
        if self._told:  # there is room again
            self._told = bool(self._held)
            self.write_again()


def _write(store: ChatStore, key: _Key, value: Any) -> None:
    chat_id, field = key
    if field == "draft":
        store.set_draft(chat_id, value)
    else:
        drafts.keep(store, chat_id, value)
