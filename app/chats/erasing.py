"""Taking a message out of a chat, and putting it back. Jobs for the keeper."""

from __future__ import annotations

from dataclasses import dataclass

from app.chats import rows
from app.chats.records import StoredMessage
from app.chats.store import ChatStore


@dataclass(frozen=True)
class Erased:
    """What `bring_back` needs. messages: parents before their children. moved: those that went up a step in the tree,
    and came to hang where the message did. leaf: the last message of the branch that was open; after: that is since.
    """

    chat_id: int
    messages: tuple[StoredMessage, ...]
    moved: tuple[int, ...]
    leaf: int | None
    after: int | None


def erase(store: ChatStore, chat_id: int, message_id: int) -> Erased | None:
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
    return Erased(chat_id, tuple(m for m in tree.values() if m.id in gone), moved, leaf, after)


def bring_back(store: ChatStore, erased: Erased) -> None:
    """Undo `erase`, unless the chat itself has gone since. A branch that went on meanwhile stays open."""
    if store.chat(erased.chat_id) is None:
        return
    with store.transaction() as db:
        for m in erased.messages:
            slots = ", ".join("?" * len(rows.MESSAGE.split(",")))
            db.execute(f"INSERT INTO messages ({rows.MESSAGE}) VALUES ({slots})", rows.row_of(m))
        for moved in erased.moved:
            db.execute("UPDATE messages SET parent_id = ? WHERE id = ?", (erased.messages[0].id, moved))
        if _leaf(store, erased.chat_id) == erased.after:
            db.execute("UPDATE chats SET leaf_id = ? WHERE id = ?", (erased.leaf, erased.chat_id))


def _leaf(store: ChatStore, chat_id: int) -> int | None:
    found: tuple[int | None] = store.db.execute("SELECT leaf_id FROM chats WHERE id = ?", (chat_id,)).fetchone()
    return found[0]
