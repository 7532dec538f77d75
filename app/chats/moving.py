"""From a database in memory, which stood in for one that could not be opened, to that one."""

from __future__ import annotations

from app.chats import drafts, folders
from app.chats.store import ChatStore

_TABLES = ("folders", "chats", "messages", "presets", "drafts")  # what they refer to first


def move(source: ChatStore, target: ChatStore) -> None:
    """Add all rows of `source`, or none; what `target` has under the same id or name stays. Raises sqlite3.Error.

    Folders of one name become one, and what is attached to the chat without a message comes together.
    """
    attached = (*drafts.attached(target), *drafts.attached(source))
    same: dict[int | None, int | None] = {None: None}  # id of a folder there: its id here
    with target.transaction() as db:
        db.execute("PRAGMA defer_foreign_keys = ON")  # a version may refer to one made later
        for table in _TABLES:
            names = [row[1] for row in source.db.execute(f"PRAGMA table_info({table})")]
            marks = ", ".join("?" * len(names))
            rows = source.db.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall()
            if table == "chats":
                at = names.index("folder_id")
                rows = [(*row[:at], same[row[at]], *row[at + 1 :]) for row in rows]
            db.executemany(f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({marks})", rows)
            if table == "folders":
                same |= {folder.id: folders.make(target, folder.name).id for folder in folders.listed(source)}
        drafts.keep(target, drafts.NEW, attached)
