"""What can be done with the chat database. Plain and synchronous; `keeper` calls it on its own thread."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path

from app.chats.records import Chat, StoredMessage, pack_tokens, unpack_tokens
from app.chats.schema import migrate

_CHAT = "id, title, title_by_hand, updated_at, draft, leaf_id"
_MESSAGE = "id, chat_id, parent_id, role, content, token_ids, state, finish, stats, model, created_at"


class ChatStore:
    """One open database. Every method is one transaction; errors are sqlite3.Error."""

    def __init__(self, path: Path | str) -> None:
        """Open or create the database, and mark answers that a killed process left half written as cut."""
        self._db = sqlite3.connect(path, timeout=3.0, isolation_level=None)
        try:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA foreign_keys = ON")
            self._db.execute("PRAGMA secure_delete = ON")  # what is deleted is gone from the file too
            migrate(self._db)
            self._db.execute("UPDATE messages SET state = 'cut' WHERE state = 'streaming'")
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        """Close the file; the write-ahead log is folded into it."""
        self._db.close()

    def check(self) -> str:
        """'ok', or what SQLite finds broken."""
        return str(self._db.execute("PRAGMA quick_check(1)").fetchone()[0])

    # ---- chats ------------------------------------------------------------------------------------------------

    def chats(self, search: str = "") -> list[Chat]:
        """Chats that are not deleted, the latest first; `search` looks in titles, case-insensitively."""
        pattern = "%" + search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        rows = self._db.execute(
            f"SELECT {_CHAT} FROM chats WHERE deleted_at IS NULL AND title LIKE ? ESCAPE '\\' ORDER BY updated_at DESC",
            (pattern,),
        )
        return [_chat(row) for row in rows]

    def chat(self, chat_id: int) -> Chat | None:
        """One chat as it is now; None where it is deleted."""
        row = self._db.execute(f"SELECT {_CHAT} FROM chats WHERE id = ? AND deleted_at IS NULL", (chat_id,)).fetchone()
        return _chat(row) if row is not None else None

    def create(self, chat: Chat) -> None:
        """Add an empty chat."""
        now = chat.updated_at or time.time()
        self._db.execute(
            "INSERT INTO chats (id, title, title_by_hand, created_at, updated_at, draft) VALUES (?, ?, ?, ?, ?, ?)",
            (chat.id, chat.title, chat.title_by_hand, now, now, chat.draft),
        )

    def set_title(self, chat_id: int, title: str, by_hand: bool) -> None:
        """Name a chat. An automatic title never replaces one set by hand."""
        self._db.execute(
            "UPDATE chats SET title = ?, title_by_hand = ? WHERE id = ? AND (? OR NOT title_by_hand)",
            (title, by_hand, chat_id, by_hand),
        )

    def set_draft(self, chat_id: int, draft: str) -> None:
        """Keep what is typed but not sent."""
        self._db.execute("UPDATE chats SET draft = ? WHERE id = ?", (draft, chat_id))

    def delete(self, chat_id: int) -> None:
        """Hide a chat; `restore` brings it back until `purge`."""
        self._db.execute("UPDATE chats SET deleted_at = ? WHERE id = ?", (time.time(), chat_id))

    def restore(self, chat_id: int) -> None:
        """Undo `delete`."""
        self._db.execute("UPDATE chats SET deleted_at = NULL WHERE id = ?", (chat_id,))

    def purge(self) -> None:
        """Remove deleted chats and their messages for good."""
        self._db.execute("DELETE FROM chats WHERE deleted_at IS NOT NULL")

    # ---- messages ---------------------------------------------------------------------------------------------

    def add(self, *messages: StoredMessage) -> None:
        """Write messages and make the last of them the open branch. On return they survive a power cut."""
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("BEGIN IMMEDIATE")
        try:
            for m in messages:
                self._db.execute(
                    f"INSERT INTO messages ({_MESSAGE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (m.id, m.chat_id, m.parent_id, m.role, m.content, pack_tokens(m.token_ids), m.state, m.finish,
                     json.dumps(m.stats), m.model, m.created_at),
                )  # fmt: skip
                self._db.execute(
                    "UPDATE chats SET leaf_id = ?, updated_at = ? WHERE id = ?", (m.id, m.created_at, m.chat_id)
                )
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def update(self, m: StoredMessage) -> None:
        """Write an answer as it is by now. While it streams, no fsync: it survives the process, and is cheap."""
        self._db.execute(f"PRAGMA synchronous = {'NORMAL' if m.state == 'streaming' else 'FULL'}")
        self._db.execute(
            "UPDATE messages SET content = ?, token_ids = ?, state = ?, finish = ?, stats = ? WHERE id = ?",
            (m.content, pack_tokens(m.token_ids), m.state, m.finish, json.dumps(m.stats), m.id),
        )

    def remove(self, message_id: int) -> None:
        """Remove a message that has no successors (an answer that failed before its first word)."""
        self._db.execute(
            "UPDATE chats SET leaf_id = (SELECT parent_id FROM messages WHERE id = :id) WHERE leaf_id = :id",
            {"id": message_id},
        )
        self._db.execute("DELETE FROM messages WHERE id = ?", (message_id,))

    def path(self, chat_id: int) -> list[StoredMessage]:
        """The open branch of a chat, from its first message to its last."""
        rows = {
            r[0]: r
            for r in self._db.execute(
                f"""
                WITH RECURSIVE branch(id) AS (
                    SELECT leaf_id FROM chats WHERE id = ?
                    UNION ALL
                    SELECT m.parent_id FROM messages m JOIN branch b ON m.id = b.id WHERE m.parent_id IS NOT NULL
                )
                SELECT {_MESSAGE} FROM messages WHERE id IN (SELECT id FROM branch)
                """,
                (chat_id,),
            )
        }
        siblings: dict[int | None, list[int]] = {}
        for i, parent in self._db.execute(
            "SELECT id, parent_id FROM messages WHERE chat_id = ? ORDER BY id", (chat_id,)
        ):
            siblings.setdefault(parent, []).append(i)
        made = [_message(r, siblings[r[2]]) for r in rows.values()]
        return sorted(made, key=lambda m: m.id)  # a message is always younger than its parent

    def select(self, chat_id: int, message_id: int) -> None:
        """Open the branch through this message: down to the youngest message below it."""
        children: dict[int, int] = {}
        for i, parent in self._db.execute(
            "SELECT id, parent_id FROM messages WHERE chat_id = ? AND parent_id IS NOT NULL ORDER BY id", (chat_id,)
        ):
            children[parent] = i
        leaf = message_id
        while leaf in children:
            leaf = children[leaf]
        self._db.execute("UPDATE chats SET leaf_id = ? WHERE id = ?", (leaf, chat_id))

    def versions(self, message_id: int) -> list[int]:
        """Ids of a message and its siblings, the oldest first."""
        rows = self._db.execute(
            "SELECT s.id FROM messages s JOIN messages m ON s.chat_id = m.chat_id AND s.parent_id IS m.parent_id "
            "WHERE m.id = ? ORDER BY s.id",
            (message_id,),
        )
        return [r[0] for r in rows]


def _chat(row: tuple) -> Chat:  # type: ignore[type-arg]
    i, title, by_hand, at, draft, leaf = row
    return Chat(i, title, bool(by_hand), at, draft, leaf)


def _message(row: tuple, siblings: list[int]) -> StoredMessage:  # type: ignore[type-arg]
    i, chat, parent, role, content, tokens, state, finish, stats, model, created = row
    facts = json.loads(stats) if stats != "{}" else {}
    version = siblings.index(i) + 1
    return StoredMessage(
        i,
        chat,
        parent,
        role,
        content,
        unpack_tokens(tokens),
        state,
        finish,
        facts,
        model,
        created,
        version,
        len(siblings),
    )
