"""Chat store: SQL of chats, messages, folders, presets, drafts and the trash. The database thread calls it."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

from app.storage import images, records
from app.storage.images import ImageOwner
from app.storage.records import (
    Attachment,
    Chat,
    Folder,
    StoredMessage,
    Style,
    new_id,
    pack_tokens,
    reserve_ids,
)
from app.storage.schema import migrate
from engine.lived_time import LivedTime, look
from engine.protocol import Passage

_LONGEST = 1000  # characters that are looked for in a title, of which SQLite takes no more than 50 000 bytes
_SLOTS = ", ".join("?" * len(records.MESSAGE_COLUMNS.split(",")))


NEW_CHAT = 0  # stands for the chat that has no message yet
TRASH_DAYS = 30  # a deleted chat is kept so long


class ChatStore:
    """One open database. Every method is one transaction; errors are sqlite3.Error.

    What changes the branches of a chat is in `branches`, the search in `search`.
    """

    def __init__(self, path: Path | str) -> None:
        """Open or create the database, and mark answers that a killed process left half written as cut."""
        # isolation_level None: transactions begin and end where they are written here; Python's own would begin before
        # some statements and not before others. 3 seconds: a backup program's lock, rather than an error at once.
        self.db = sqlite3.connect(path, timeout=3.0, isolation_level=None)
        try:
            # A write is appended to a log and needs one fsync; a reader (backup) does not hold it up, and a kill leaves
            # whole transactions.
            self.db.execute("PRAGMA journal_mode = WAL")
            self.db.execute("PRAGMA foreign_keys = ON")
            self.db.execute("PRAGMA secure_delete = ON")  # what is deleted is gone from the file too
            migrate(self.db)
            self.db.execute("UPDATE messages SET state = 'cut' WHERE state = 'streaming'")
            self.count_on()
        except BaseException:
            self.db.close()
            raise

    def count_on(self) -> None:
        """Make new ids larger than all there are, though the clock was set back: their order is shown."""
        for table in ("chats", "messages"):
            (last,) = self.db.execute(f"SELECT max(id) FROM {table}").fetchone()
            reserve_ids(last or 0)

    def close(self) -> None:
        """Close the file; the write-ahead log is folded into it."""
        self.db.close()

    @property
    def in_memory(self) -> bool:
        """Whether nothing of it is on the disk."""
        return self.file is None

    @property
    def file(self) -> Path | None:
        """File on the disk."""
        name = self.db.execute("PRAGMA database_list").fetchone()[2]
        return Path(name) if name else None

    def check(self) -> str:
        """Integrity check: 'ok', or what SQLite finds broken."""
        return str(self.db.execute("PRAGMA quick_check(1)").fetchone()[0])

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Transaction that survives a power cut once it returns; one inside another is part of that."""
        if self.db.in_transaction:
            yield self.db
            return
        # In a log, FULL brings each commit to the disk before it returns; NORMAL, which `update` may have left, only
        # keeps the file consistent. It cannot be changed within a transaction, so before it begins.
        self.db.execute("PRAGMA synchronous = FULL")
        # IMMEDIATE: a transaction that begins by reading and is overtaken by another writer could not be gone on with.
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield self.db
            self.db.execute("COMMIT")
        except BaseException:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            raise

    # ---- chats ------------------------------------------------------------------------------------------------

    def chats(self, search: str = "") -> list[Chat]:
        """Chats that are not deleted, the latest first; `search` looks in titles, case-insensitively."""
        pattern = "%" + search[:_LONGEST].replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        found = self.db.execute(
            f"SELECT {records.CHAT_COLUMNS} FROM chats WHERE deleted_at IS NULL AND title LIKE ? ESCAPE '\\' "
            "ORDER BY updated_at DESC, id DESC",
            (pattern,),
        )
        return [records.chat_of(row, self.image) for row in found]

    def chat(self, chat_id: int) -> Chat | None:
        """One chat as it is now; None where it is deleted."""
        row = self.db.execute(
            f"SELECT {records.CHAT_COLUMNS} FROM chats WHERE id = ? AND deleted_at IS NULL", (chat_id,)
        ).fetchone()
        return records.chat_of(row, self.image) if row is not None else None

    def create(self, chat: Chat, *messages: StoredMessage) -> None:
        """Add a chat and its first messages, all or nothing."""
        with self.transaction():
            self.insert(chat, messages)

    def insert(self, chat: Chat, messages: tuple[StoredMessage, ...]) -> None:
        """Add a chat and its first messages, in the transaction that is open."""
        now = chat.updated_at or time.time()
        self.db.execute(
            "INSERT INTO chats "
            "(id, title, title_by_hand, created_at, updated_at, draft, pinned, folder_id, style, model, tools) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (chat.id, chat.title, chat.title_by_hand, now, now, chat.draft, chat.pinned, chat.folder_id,
             records.style_text(chat.style), chat.model, records.chat_tools_text(chat.tools)),
        )  # fmt: skip
        self.follow(messages)

    def set_title(self, chat_id: int, title: str, by_hand: bool) -> None:
        """Set a chat's title. An automatic title never replaces one set by hand."""
        self.db.execute(
            "UPDATE chats SET title = ?, title_by_hand = ? WHERE id = ? AND (? OR NOT title_by_hand)",
            (title, by_hand, chat_id, by_hand),
        )

    def set_field(self, chat_id: int, name: str, value: Any) -> None:
        """Store one of the fields of `Chat` that are not derived: draft, place, style, model, tools, pinned,
        folder_id or queue."""
        as_text = records.AS_TEXT.get(name)
        kept = value if as_text is None else as_text(value)
        if name != "queue":
            self.db.execute(f"UPDATE chats SET {name} = ? WHERE id = ?", (kept, chat_id))
            return
        with self.transaction() as db:
            changed = db.execute("UPDATE chats SET queue = ? WHERE id = ?", (kept, chat_id)).rowcount
            files = [a for queued in value for a in queued.attachments] if changed else []
            images.keep(db, ImageOwner.QUEUE, chat_id, files)

    # ---- messages ---------------------------------------------------------------------------------------------

    def add(self, *messages: StoredMessage) -> None:
        """Write messages and make the last of them the open branch. On return they survive a power cut."""
        with self.transaction():
            self.follow(messages)

    def follow(self, messages: tuple[StoredMessage, ...]) -> None:
        """Do what `add` does, in the transaction that is open."""
        for m in messages:
            self.put(m)
            self.db.execute(
                "UPDATE chats SET leaf_id = ?, updated_at = ? WHERE id = ?", (m.id, m.created_at, m.chat_id)
            )

    def put(self, m: StoredMessage) -> None:
        """Write a message and its images, in the transaction that is open."""
        self.db.execute(f"INSERT INTO messages ({records.MESSAGE_COLUMNS}) VALUES ({_SLOTS})", records.row_of(m))
        if m.attachments:
            images.keep(self.db, ImageOwner.MESSAGE, m.id, m.attachments)

    def image(self, digest: str) -> bytes:
        """The bytes of an image. Raises LookupError."""
        return images.read(self.db, digest)

    def update(self, m: StoredMessage) -> None:
        """Write an answer's current state. While it streams, no fsync: it survives the process, and is cheap."""
        self.db.execute(f"PRAGMA synchronous = {'NORMAL' if m.state == 'streaming' else 'FULL'}")
        self.db.execute(
            "UPDATE messages SET content = ?, token_ids = ?, state = ?, finish = ?, stats = ?, model = ?, tools = ? "
            "WHERE id = ?",
            (
                m.content,
                pack_tokens(m.token_ids),
                m.state,
                m.finish,
                json.dumps(m.stats),
                m.model,
                records.tools_text(m.tools),
                m.id,
            ),
        )

    def remove(self, message_id: int) -> None:
        """Remove a message that has no successors (an answer that failed before its first word). Where its branch was
        open, that of the version beside it is, if there is one.
        """
        beside = [i for i in self.versions(message_id) if i != message_id]
        with self.transaction() as db:
            row = db.execute("SELECT id FROM chats WHERE leaf_id = ?", (message_id,)).fetchone()
            if row is not None:
                db.execute(
                    "UPDATE chats SET leaf_id = (SELECT parent_id FROM messages WHERE id = ?) WHERE id = ?",
                    (message_id, row[0]),
                )
            db.execute("DELETE FROM messages WHERE id = ?", (message_id,))
            if row is not None and beside:
                self.select(row[0], beside[-1])

    def path(self, chat_id: int, last: int | None = None) -> list[StoredMessage]:
        """The open branch of a chat, from its first message to its last; with `last`: what leads to that message."""
        parents: dict[int, int | None] = dict(
            self.db.execute("SELECT id, parent_id FROM messages WHERE chat_id = ?", (chat_id,))
        )
        at = last
        if at is None:
            row = self.db.execute("SELECT leaf_id FROM chats WHERE id = ?", (chat_id,)).fetchone()
            at = row[0] if row is not None else None
        branch: list[int] = []
        while at is not None and at in parents:
            branch.append(at)
            at = parents[at]
        branch.reverse()
        siblings: dict[int | None, list[int]] = {}
        for i in sorted(parents):
            siblings.setdefault(parents[i], []).append(i)
        if 2 * len(branch) > len(parents):  # most of the chat: read as it lies
            found = self.db.execute(f"SELECT {records.MESSAGE_COLUMNS} FROM messages WHERE chat_id = ?", (chat_id,))
        else:
            found = self.db.execute(
                f"SELECT {records.MESSAGE_COLUMNS} FROM messages WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(branch),),
            )
        read = {row[0]: row for row in found.fetchall()}
        return [records.message_of(read[i], siblings[parents[i]], self.image) for i in branch]

    def tree(self, chat_id: int) -> list[StoredMessage]:
        """Every message of a chat, all branches, the oldest first, but none before the one it answers."""
        found = self.db.execute(f"SELECT {records.MESSAGE_COLUMNS} FROM messages WHERE chat_id = ?", (chat_id,))
        made = {r[0]: records.message_of(r, [r[0]], self.image) for r in found}
        below: dict[int | None, list[int]] = {}
        for message in made.values():
            below.setdefault(message.parent_id, []).append(message.id)
        ready, ordered = sorted(below.get(None, [])), []
        while ready:
            ordered.append(made[heappop(ready)])
            for child in below.get(ordered[-1].id, []):
                heappush(ready, child)
        return ordered

    def select(self, chat_id: int, message_id: int) -> None:
        """Open the branch through this message: down to the youngest message below it.

        A branch that is open already stays, though it may not be the youngest.
        """
        if any(m == message_id for (m,) in self.db.execute(
            """
            WITH RECURSIVE branch(id) AS (
                SELECT leaf_id FROM chats WHERE id = ?
                UNION ALL
                SELECT m.parent_id FROM messages m JOIN branch b ON m.id = b.id WHERE m.parent_id IS NOT NULL
            ) SELECT id FROM branch
            """, (chat_id,),
        )):  # fmt: skip
            return
        children: dict[int, int] = {}
        for i, parent in self.db.execute(
            "SELECT id, parent_id FROM messages WHERE chat_id = ? AND parent_id IS NOT NULL ORDER BY id", (chat_id,)
        ):
            children[parent] = i
        leaf = message_id
        while leaf in children:
            leaf = children[leaf]
        self.db.execute("UPDATE chats SET leaf_id = ? WHERE id = ?", (leaf, chat_id))

    def versions(self, message_id: int) -> list[int]:
        """Ids of a message and its siblings, the oldest first."""
        found = self.db.execute(
            "SELECT s.id FROM messages s JOIN messages m ON s.chat_id = m.chat_id AND s.parent_id IS m.parent_id "
            "WHERE m.id = ? ORDER BY s.id",
            (message_id,),
        )
        return [r[0] for r in found]

    # ---- folders --------------------------------------------------------------------------------------------------

    def folders(self) -> list[Folder]:
        """All folders by name."""
        return [Folder(*row) for row in self.db.execute("SELECT id, name FROM folders ORDER BY name COLLATE NOCASE")]

    def make_folder(self, name: str, folder_id: int = 0) -> Folder:
        """Create a folder, or return the one of that name. folder_id: that the new one had before it was removed."""
        row = self.db.execute("SELECT id, name FROM folders WHERE name = ?", (name,)).fetchone()
        if row is None:
            row = (folder_id or new_id(), name)
            self.db.execute("INSERT INTO folders (id, name) VALUES (?, ?)", row)
        return Folder(*row)

    def rename_folder(self, folder_id: int, name: str) -> tuple[Folder, list[int]] | None:
        """Give a folder another name. Where another folder has it already, the two become one.

        Returns then the folder that is no more, and the ids of the chats that were in it.
        """
        try:
            self.db.execute("UPDATE folders SET name = ? WHERE id = ?", (name, folder_id))
        except sqlite3.IntegrityError:
            with self.transaction() as db:
                gone = next(folder for folder in self.folders() if folder.id == folder_id)
                (other,) = db.execute("SELECT id FROM folders WHERE name = ?", (name,)).fetchone()
                inside = self._chats_in(folder_id)
                db.execute("UPDATE chats SET folder_id = ? WHERE folder_id = ?", (other, folder_id))
                db.execute("DELETE FROM folders WHERE id = ?", (folder_id,))
            return gone, inside
        return None

    def remove_folder(self, folder_id: int) -> list[int]:
        """Remove a folder; its chats go back to the list. Returns their ids, with those in the trash."""
        with self.transaction() as db:
            inside = self._chats_in(folder_id)
            db.execute("DELETE FROM folders WHERE id = ?", (folder_id,))
        return inside

    def _chats_in(self, folder_id: int) -> list[int]:
        return [row[0] for row in self.db.execute("SELECT id FROM chats WHERE folder_id = ?", (folder_id,))]

    # ---- presets --------------------------------------------------------------------------------------------------

    def presets(self) -> dict[str, Style]:
        """All presets by name."""
        found = self.db.execute("SELECT name, style FROM presets ORDER BY name COLLATE NOCASE")
        return {name: records.style_of(style) or Style() for name, style in found}

    def keep_preset(self, name: str, style: Style) -> None:
        """Store a style under a name, replacing what had it."""
        self.db.execute(
            "INSERT INTO presets (id, name, style) VALUES (?, ?, ?) "
            "ON CONFLICT (name) DO UPDATE SET style = excluded.style",
            (new_id(), name, records.style_text(style)),
        )

    def rename_preset(self, name: str, new: str) -> None:
        """Rename a preset. Raises sqlite3.IntegrityError where there is one of that name."""
        self.db.execute("UPDATE presets SET name = ? WHERE name = ?", (new, name))

    def remove_preset(self, name: str) -> None:
        """Delete a preset; chats that were given it keep their style."""
        self.db.execute("DELETE FROM presets WHERE name = ?", (name,))

    # ---- attachments of drafts ------------------------------------------------------------------------------------

    def draft_attachments(self, chat_id: int = NEW_CHAT) -> tuple[Attachment, ...]:
        """Attachments of a chat's draft."""
        row = self.db.execute("SELECT attachments FROM drafts WHERE chat_id = ?", (chat_id,)).fetchone()
        return records.attachments_of(json.loads(row[0]), self.image) if row is not None else ()

    def keep_draft_attachments(self, chat_id: int, files: tuple[Attachment, ...]) -> None:
        """Store the attachments of a chat's draft; without any the row is deleted."""
        with self.transaction() as db:
            if files:
                db.execute(
                    "INSERT INTO drafts (chat_id, attachments) VALUES (?, ?) "
                    "ON CONFLICT (chat_id) DO UPDATE SET attachments = excluded.attachments",
                    (chat_id, records.attachments_text(files)),
                )
                images.keep(db, ImageOwner.DRAFT, chat_id, files)
            else:
                db.execute("DELETE FROM drafts WHERE chat_id = ?", (chat_id,))

    # ---- documents ------------------------------------------------------------------------------------------------

    def documents(self, chat_id: int = NEW_CHAT) -> tuple[str, ...]:
        """Paths of the files and folders that a chat searches."""
        row = self.db.execute("SELECT paths FROM documents WHERE chat_id = ?", (chat_id,)).fetchone()
        return tuple(json.loads(row[0])) if row is not None else ()

    def keep_documents(self, chat_id: int, paths: tuple[str, ...]) -> None:
        """Store which files and folders a chat searches; without any the row is deleted."""
        if paths:
            self.db.execute(
                "INSERT INTO documents (chat_id, paths) VALUES (?, ?) "
                "ON CONFLICT (chat_id) DO UPDATE SET paths = excluded.paths",
                (chat_id, json.dumps(paths)),
            )
        else:
            self.db.execute("DELETE FROM documents WHERE chat_id = ?", (chat_id,))

    def all_documents(self) -> tuple[str, ...]:
        """Paths of all files and folders that any chat searches, those in the trash among them."""
        rows = self.db.execute("SELECT paths FROM documents")
        return tuple(sorted({path for (paths,) in rows for path in json.loads(paths)}))

    def keep_sources(self, message_id: int, sources: tuple[Passage, ...]) -> None:
        """Store the passages that go with a question."""
        with self.transaction() as db:
            db.execute("UPDATE messages SET sources = ? WHERE id = ?", (records.sources_text(sources), message_id))

    # ---- the trash ------------------------------------------------------------------------------------------------

    def move_to_trash(self, chat_id: int) -> None:
        """Move a chat to the trash; for TRASH_DAYS, though the clock says that it is before the chat's last message."""
        self.db.execute("UPDATE chats SET deleted_at = max(?, updated_at) WHERE id = ?", (time.time(), chat_id))

    def restore_from_trash(self, chat_id: int) -> None:
        """Undo `move_to_trash`."""
        self.db.execute("UPDATE chats SET deleted_at = NULL WHERE id = ?", (chat_id,))

    def trashed(self) -> list[tuple[Chat, float]]:
        """Chats in the trash and when they came there, the latest first."""
        found = self.db.execute(
            f"SELECT deleted_at, {records.CHAT_COLUMNS} FROM chats WHERE deleted_at IS NOT NULL "
            "ORDER BY deleted_at DESC, id DESC"
        )
        return [(records.chat_of(row[1:], self.image), row[0]) for row in found]

    def empty_trash(self, chat_id: int | None = None, lived: LivedTime | None = None) -> int:
        """Delete for good: one chat, or all. lived: only those that are there for TRASH_DAYS. Returns how many went.

        What they said is taken out of the search index as well, in which SQLite would leave it for a while.
        """
        with self.transaction() as db:
            there = db.execute("SELECT id, deleted_at FROM chats WHERE deleted_at IS NOT NULL").fetchall()
            ids = [
                (number,)
                for number, at in there
                if chat_id in (None, number) and (lived is None or lived.since(at) >= TRASH_DAYS * 86400)
            ]
            gone = db.executemany("DELETE FROM chats WHERE id = ?", ids).rowcount if ids else 0
            if gone:
                db.execute("INSERT INTO found(found) VALUES ('optimize')")
                db.execute("INSERT INTO ends(ends) VALUES ('optimize')")
        return int(gone)

    def empty_expired_trash(self) -> int:
        """Delete for good what is there for TRASH_DAYS; nothing of a database in memory. Returns how many went."""
        return 0 if self.file is None else self.empty_trash(lived=look(self.file.parent))
