"""From a database in memory, which stood in for one that could not be opened, to that one."""

from __future__ import annotations

from app.chats.store import ChatStore

_TABLES = ("folders", "chats", "messages", "presets", "drafts")  # what they refer to first


def move(source: ChatStore, target: ChatStore) -> None:
    """Add all rows of `source`, or none; what `target` has under the same id or name stays. Raises sqlite3.Error."""
    with target.transaction() as db:
        db.execute("PRAGMA defer_foreign_keys = ON")  # a version may refer to one made later
        for table in _TABLES:
            names = [row[1] for row in source.db.execute(f"PRAGMA table_info({table})")]
            marks = ", ".join("?" * len(names))
            rows = source.db.execute(f"SELECT {', '.join(names)} FROM {table}")
            db.executemany(f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({marks})", rows)
