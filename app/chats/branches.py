"""A chat as it is opened: the chat and the messages of one branch. Jobs for the keeper."""

from __future__ import annotations

import dataclasses
import time
from itertools import count

from app.chats import drafts, rows
from app.chats.records import Chat, Place, Queued, StoredMessage, new_id
from app.chats.store import ChatStore
from app.chats.titles import numbered

Opened = tuple[Chat, list[StoredMessage]]


def read(store: ChatStore, chat_id: int) -> Opened | None:
    """The branch that is open; None where the chat is deleted."""
    chat = store.chat(chat_id)
    if chat is None:
        return None
    return dataclasses.replace(chat, attached=drafts.attached(store, chat_id)), store.path(chat_id)


def read_at(store: ChatStore, chat_id: int, message_id: int) -> Opened | None:
    """The branch that has this message, with the place at it."""
    store.select(chat_id, message_id)
    found = read(store, chat_id)
    return found and (dataclasses.replace(found[0], place=Place(message_id, 0)), found[1])


def step(store: ChatStore, chat_id: int, message_id: int, by: int) -> Opened | None:
    """The branch of the version before (-1) or after (+1) of a message; the same where there is none."""
    versions = store.versions(message_id)
    at = versions.index(message_id) + by if message_id in versions else -1  # deleted, or never written
    if 0 <= at < len(versions):
        store.select(chat_id, versions[at])
    return read(store, chat_id)


def branch(store: ChatStore, chat_id: int, message_id: int) -> Chat | None:
    """A new chat that begins with a copy of this one's messages, up to this message."""
    old = store.chat(chat_id)
    if old is None:
        return None
    title = _free_title(old.title, {chat.title for chat in store.chats()})
    chat = dataclasses.replace(old, id=new_id(), title=title, updated_at=time.time(), draft="", leaf_id=None,
                               pinned=False, place=None, queue=())  # fmt: skip
    copies: list[StoredMessage] = []
    for message in store.path(chat_id, message_id):
        parent = copies[-1].id if copies else None
        state = "cut" if message.state == "streaming" else message.state  # the copy of an answer does not go on
        copies.append(dataclasses.replace(message, id=new_id(), chat_id=chat.id, parent_id=parent, state=state))
    write(store, chat, tuple(copies))
    return chat


def _free_title(title: str, taken: set[str]) -> str:
    """The first of 'Title (2)', 'Title (3)' and so on that no chat has, so that both can be told apart."""
    root, _ = numbered(title)
    return next(name for n in count(2) if (name := f"{root} ({n})") not in taken) if title else ""


def write(
    store: ChatStore, chat: Chat | None, messages: tuple[StoredMessage, ...], queue: tuple[Queued, ...] | None = None
) -> None:
    """Add messages, and the chat they are the first of. queue: what waits in the chat from now on, one of them no more:
    whenever it is looked at, a message is either sent or waits."""
    if chat is not None:
        store.create(chat, *messages)
    elif queue is None:
        store.add(*messages)
    else:
        with store.transaction():
            store.follow(messages)
            set_queue(store, messages[0].chat_id, queue)


def set_queue(store: ChatStore, chat_id: int, queue: tuple[Queued, ...]) -> None:
    """Keep the messages that wait for an answer to end."""
    store.db.execute("UPDATE chats SET queue = ? WHERE id = ?", (rows.queue_text(queue), chat_id))
