"""Trash of deleted chats, which are kept for DAYS. Jobs for the database thread."""

from __future__ import annotations

import time

from app.storage import records
from app.storage.records import Chat
from app.storage.store import ChatStore
from engine.lived_time import LivedTime, look

DAYS = 30  # a deleted chat is kept so long


def add(store: ChatStore, chat_id: int) -> None:
    """Move a chat to the trash; for DAYS, though the clock says that it is before the chat's last message."""
    store.db.execute("UPDATE chats SET deleted_at = max(?, updated_at) WHERE id = ?", (time.time(), chat_id))


def restore(store: ChatStore, chat_id: int) -> None:
    """Undo `add`."""
    store.db.execute("UPDATE chats SET deleted_at = NULL WHERE id = ?", (chat_id,))


def listed(store: ChatStore) -> list[tuple[Chat, float]]:
    """Chats in the trash and when they came there, the latest first."""
    found = store.db.execute(
        f"SELECT deleted_at, {records.CHAT_COLUMNS} FROM chats WHERE deleted_at IS NOT NULL "
        "ORDER BY deleted_at DESC, id DESC"
    )
    return [(records.chat_of(row[1:]), row[0]) for row in found]


def empty(store: ChatStore, chat_id: int | None = None, lived: LivedTime | None = None) -> int:
    """Delete for good: one chat, or all. lived: only those that have been there for DAYS. Returns how many went.

    What they said is taken out of the search index as well, in which SQLite would leave it for a while.
    """
    with store.transaction() as db:
        there = db.execute("SELECT id, deleted_at FROM chats WHERE deleted_at IS NOT NULL").fetchall()
        ids = [
            (number,)
            for number, at in there
            if chat_id in (None, number) and (lived is None or lived.since(at) >= DAYS * 86400)
        ]
        gone = db.executemany("DELETE FROM chats WHERE id = ?", ids).rowcount if ids else 0
        if gone:
            db.execute("INSERT INTO found(found) VALUES ('optimize')")
            db.execute("INSERT INTO ends(ends) VALUES ('optimize')")
    return int(gone)


def empty_expired(store: ChatStore) -> int:
    """Delete for good what has been there for DAYS; nothing of a database in memory. Returns how many went."""
    return 0 if store.file is None else empty(store, lived=look(store.file.parent))
