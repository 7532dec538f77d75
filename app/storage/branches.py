"""Branches of a chat: read, step between versions, copy, write, delete messages. Jobs for the database thread."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from itertools import count

from app.storage.records import Chat, QueuedMessage, ScrollPosition, StoredMessage, new_id, numbered
from app.storage.store import ChatStore

OpenedChat = tuple[Chat, list[StoredMessage]]


def read(store: ChatStore, chat_id: int) -> OpenedChat | None:
    """Read the branch that is open; None where the chat is deleted."""
    chat = store.chat(chat_id)
    if chat is None:
        return None
    with_it = dataclasses.replace(chat, attached=store.draft_attachments(chat_id), documents=store.documents(chat_id))
    return with_it, store.path(chat_id)


def read_at(store: ChatStore, chat_id: int, message_id: int) -> OpenedChat | None:
    """Open and read the branch that has this message, with the scroll position at it."""
    store.select(chat_id, message_id)
    found = read(store, chat_id)
    return found and (dataclasses.replace(found[0], place=ScrollPosition(message_id, 0)), found[1])


def step(store: ChatStore, chat_id: int, message_id: int, by: int) -> OpenedChat | None:
    """Open the version before (-1) or after (+1) of a message, and read that branch; the same where there is none."""
    versions = store.versions(message_id)
    at = versions.index(message_id) + by if message_id in versions else -1  # deleted, or never written
    if 0 <= at < len(versions):
        store.select(chat_id, versions[at])
    return read(store, chat_id)


def copy_branch(store: ChatStore, chat_id: int, message_id: int) -> Chat | None:
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
    store.keep_documents(chat.id, store.documents(chat_id))
    return chat


def _free_title(title: str, taken: set[str]) -> str:
    """The first of 'Title (2)', 'Title (3)' and so on that no chat has, so that both can be told apart."""
    root, _ = numbered(title)
    return next(name for n in count(2) if (name := f"{root} ({n})") not in taken) if title else ""


def write(
    store: ChatStore,
    chat: Chat | None,
    messages: tuple[StoredMessage, ...],
    queue: tuple[QueuedMessage, ...] | None = None,
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
            store.set_field(messages[0].chat_id, "queue", queue)


@dataclass(frozen=True)
class DeletedMessages:
    """Undo record of `delete_message`. messages: parents before their children.

    leaf: the last message of the branch that was open; after: that is since. moved: those that went up a step in the
    tree, to where the message was.
    """

    chat_id: int
    messages: tuple[StoredMessage, ...]
    moved: tuple[int, ...]
    leaf: int | None
    after: int | None


def delete_message(store: ChatStore, chat_id: int, message_id: int) -> DeletedMessages | None:
    """Remove a message; what follows it stays. One of several versions goes with all that followed it, which belongs to
    no other, and the version beside it is open then. None where there is no such message.
    """
    tree = {m.id: m for m in store.tree(chat_id)}
    if message_id not in tree:
        return None
    versions = store.versions(message_id)
    leaf = _leaf(store, chat_id)
    moved: tuple[int, ...] = ()
    with store.transaction() as db:
        if len(versions) > 1:
            at = versions.index(message_id)
            store.select(chat_id, versions[at - 1] if at else versions[1])
            gone = {message_id}
            for m in tree.values():  # the oldest first
                if m.parent_id in gone:
                    gone.add(m.id)
        else:
            gone, parent = {message_id}, tree[message_id].parent_id
            moved = tuple(m.id for m in tree.values() if m.parent_id == message_id)
            db.execute("UPDATE messages SET parent_id = ? WHERE parent_id = ?", (parent, message_id))
            if leaf == message_id:
                db.execute("UPDATE chats SET leaf_id = ? WHERE id = ?", (parent, chat_id))
        db.execute("DELETE FROM messages WHERE id = ?", (message_id,))  # and what hangs below it
    after = _leaf(store, chat_id)
    return DeletedMessages(chat_id, tuple(m for m in tree.values() if m.id in gone), moved, leaf, after)


def restore_messages(store: ChatStore, erased: DeletedMessages) -> None:
    """Undo `delete_message`, unless the chat itself has gone since. A branch that went on meanwhile stays open."""
    if store.chat(erased.chat_id) is None:
        return
    with store.transaction() as db:
        for m in erased.messages:
            store.put(m)
        for moved in erased.moved:
            db.execute("UPDATE messages SET parent_id = ? WHERE id = ?", (erased.messages[0].id, moved))
        if _leaf(store, erased.chat_id) == erased.after:
            db.execute("UPDATE chats SET leaf_id = ? WHERE id = ?", (erased.leaf, erased.chat_id))


def _leaf(store: ChatStore, chat_id: int) -> int | None:
    found: tuple[int | None] = store.db.execute("SELECT leaf_id FROM chats WHERE id = ?", (chat_id,)).fetchone()
    return found[0]
