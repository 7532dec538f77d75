"""Folders of chats. Jobs for the database thread."""

from __future__ import annotations

import sqlite3

from app.storage.records import Folder, new_id
from app.storage.store import ChatStore


def listed(store: ChatStore) -> list[Folder]:
    """All folders by name."""
    return [Folder(*row) for row in store.db.execute("SELECT id, name FROM folders ORDER BY name COLLATE NOCASE")]


def make(store: ChatStore, name: str, folder_id: int = 0) -> Folder:
    """Create a folder, or return the one of that name. folder_id: that the new one had before it was removed."""
    row = store.db.execute("SELECT id, name FROM folders WHERE name = ?", (name,)).fetchone()
    if row is None:
        row = (folder_id or new_id(), name)
        store.db.execute("INSERT INTO folders (id, name) VALUES (?, ?)", row)
    return Folder(*row)


def rename(store: ChatStore, folder_id: int, name: str) -> tuple[Folder, list[int]] | None:
    """Give a folder another name. Where another has it already, the two become one: returned is then the folder that is
    no more, and the ids of the chats that were in it.
    """
    try:
        store.db.execute("UPDATE folders SET name = ? WHERE id = ?", (name, folder_id))
    except sqlite3.IntegrityError:
        with store.transaction() as db:
            gone = next(folder for folder in listed(store) if folder.id == folder_id)
            (other,) = db.execute("SELECT id FROM folders WHERE name = ?", (name,)).fetchone()
            inside = _inside(store, folder_id)
            db.execute("UPDATE chats SET folder_id = ? WHERE folder_id = ?", (other, folder_id))
            db.execute("DELETE FROM folders WHERE id = ?", (folder_id,))
        return gone, inside
    return None


def remove(store: ChatStore, folder_id: int) -> list[int]:
    """Remove a folder; its chats go back to the list. Returns their ids, with those in the trash."""
    with store.transaction() as db:
        inside = _inside(store, folder_id)
        db.execute("DELETE FROM folders WHERE id = ?", (folder_id,))
    return inside


def move(store: ChatStore, chat_id: int, folder_id: int | None) -> None:
    """Put a chat into a folder, or out of any."""
    store.db.execute("UPDATE chats SET folder_id = ? WHERE id = ?", (folder_id, chat_id))


def _inside(store: ChatStore, folder_id: int) -> list[int]:
    return [row[0] for row in store.db.execute("SELECT id FROM chats WHERE folder_id = ?", (folder_id,))]
