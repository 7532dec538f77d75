"""Presets: named styles. Jobs for the database thread."""

from __future__ import annotations

from app.storage import records
from app.storage.records import Style, new_id
from app.storage.store import ChatStore


def listed(store: ChatStore) -> dict[str, Style]:
    """All presets by name."""
    found = store.db.execute("SELECT name, style FROM presets ORDER BY name COLLATE NOCASE")
    return {name: records.style_of(style) or Style() for name, style in found}


def keep(store: ChatStore, name: str, style: Style) -> None:
    """Store a style under a name, replacing what had it."""
    store.db.execute(
        "INSERT INTO presets (id, name, style) VALUES (?, ?, ?) "
        "ON CONFLICT (name) DO UPDATE SET style = excluded.style",
        (new_id(), name, records.style_text(style)),
    )


def rename(store: ChatStore, name: str, new: str) -> None:
    """Rename a preset. Raises sqlite3.IntegrityError where there is one of that name."""
    store.db.execute("UPDATE presets SET name = ? WHERE name = ?", (new, name))


def remove(store: ChatStore, name: str) -> None:
    """Delete a preset; chats that were given it keep their style."""
    store.db.execute("DELETE FROM presets WHERE name = ?", (name,))
