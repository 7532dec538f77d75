"""Search over all messages: any part of a word, in any script, the latest first."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from app.chats import rows, short
from app.chats.records import Chat
from app.chats.store import ChatStore

MANY = 100  # terms; SQLite takes no question that is much longer
MOST = 60  # messages found; whoever wants others types more
_BEFORE, _AROUND = 24, 120  # characters of a snippet before the hit, and in all
_INDEXED = 3  # characters of a term that the index of threes can find by itself
_SOON = 2000  # messages, the latest, that are read before the index is asked for a short term: 3 ms
_Row = tuple[int, str, str, float, int]  # id, role, content, when, chat


@dataclass(frozen=True)
class Hit:
    """A message in which all terms occur. snippet: what is around the first of them; marks: where they stand in it."""

    chat: Chat
    message_id: int
    role: str
    snippet: str
    marks: tuple[tuple[int, int], ...]
    created_at: float


def terms(text: str) -> list[str]:
    """What is looked for: words, and what stands between quotation marks as one. Each once, and no more than MANY."""
    found = (quoted or word for quoted, word in re.findall(r'"([^"]+)"?|([^\s"]+)', text.replace("\0", " ")))
    return list(dict.fromkeys(found))[:MANY]


def find(store: ChatStore, text: str, most: int = MOST) -> list[Hit]:
    """Messages with all terms of `text`, upper and lower case alike, without those of deleted chats."""
    wanted = terms(text)
    if not wanted:
        return []
    long = " AND ".join('"' + t.replace('"', '""') + '"' for t in wanted if len(t) >= _INDEXED)
    found = _latest(store.db, long, [t for t in wanted if len(t) < _INDEXED], most)
    ids = {row[4] for row in found}
    chats = {
        row[0]: rows.chat_of(row)
        for row in store.db.execute(
            f"SELECT {rows.CHAT} FROM chats WHERE id IN ({', '.join('?' * len(ids))})", tuple(ids)
        )
    }
    return [
        Hit(chats[chat], message, role, *snippet(content, wanted), created)
        for message, role, content, created, chat in found
    ]


def _latest(db: sqlite3.Connection, long: str, wanted: list[str], most: int) -> list[_Row]:
    """The latest messages that match `long` and have all these short terms."""
    if long and not wanted:
        return _Question(db, most).matching("found", long)
    if not long:  # what stands everywhere is soon seen in the latest messages
        row = db.execute("SELECT id FROM messages ORDER BY id DESC LIMIT 1 OFFSET ?", (_SOON,)).fetchone()
        found = _Question(db, most, wanted).where("m.id > ?", row[0] if row else 0).ask()
        if len(found) == most or row is None:
            return found
    ids: frozenset[int] | None = None
    rest = []
    for term in wanted:
        having = short.messages_with(db, term)
        if having is None:
            rest.append(term)
        else:
            ids = having if ids is None else ids & having
            if not ids:
                return []
    if ids is not None:
        few, key = _Question(db, most, rest), "+found.rowid" if long else "m.id"  # +: do not ask the index for each
        few.where(f"{key} IN (SELECT value FROM json_each(?))", json.dumps(list(ids)))
        return few.matching("found", long) if long else few.ask()
    return _by_threes(db, long, rest, most)


def _by_threes(db: sqlite3.Connection, long: str, wanted: list[str], most: int) -> list[_Row]:
    """The same, where each of the terms stands in very many messages."""
    known = {term: threes for term in wanted if (threes := short.threes(db, term)) is not None}
    unknown = [term for term in wanted if term not in known]
    inside = " AND ".join(short.any_of(t.inside) for t in known.values() if t.inside)
    match = " AND ".join(part for part in (long, inside) if part)
    found: list[_Row] = []
    if all(t.inside for t in known.values()):
        question = _Question(db, most, unknown)
        found = question.matching("found", match) if match else question.ask()
    ending = tuple(three for t in known.values() for three in t.ending)
    if ending:
        question = _Question(db, most, wanted)
        if long:
            question.where("m.id IN (SELECT rowid FROM found WHERE found MATCH ?)", long)
        found += question.matching("ends", short.any_of(ending))
    return sorted({row[0]: row for row in found}.values(), reverse=True)[:most]


class _Question:
    """Looks for the latest messages of chats that are not deleted. wanted: short terms to look for in each message."""

    def __init__(self, db: sqlite3.Connection, most: int, wanted: Sequence[str] = ()) -> None:
        self._db, self._most = db, most
        self._conditions = ["c.deleted_at IS NULL", "m.state <> 'streaming'"]
        self._values: list[object] = []
        for term in wanted:
            condition, values = short.condition(term)
            self.where(condition, *values)

    def where(self, condition: str, *values: object) -> _Question:
        """One condition more."""
        self._conditions.append(condition)
        self._values += values
        return self

    def matching(self, index: str, expression: str) -> list[_Row]:
        """The messages that an index gives."""
        self.where(f"{index} MATCH ?", expression)
        return self.ask(f"{index} CROSS JOIN messages m ON m.id = {index}.rowid", f"{index}.rowid")

    def ask(self, source: str = "messages m", key: str = "m.id") -> list[_Row]:
        """The messages of a source."""
        return self._db.execute(
            f"SELECT m.id, m.role, m.content, m.created_at, m.chat_id FROM {source} "
            f"CROSS JOIN chats c ON c.id = m.chat_id WHERE {' AND '.join(self._conditions)} "
            f"ORDER BY {key} DESC LIMIT ?",
            (*self._values, self._most),
        ).fetchall()


def snippet(content: str, wanted: list[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """One line around the first term found, and where the terms stand in it: (start, end)."""
    pattern = re.compile("|".join(re.escape(t) for t in wanted), re.IGNORECASE)
    first = pattern.search(content)
    start = max(0, first.start() - _BEFORE) if first is not None else 0
    if start:
        space = content.find(" ", start, first.start() if first is not None else start)
        start = space + 1 if space >= 0 else start
    line = " ".join(content[start : start + _AROUND].split())
    line = f"…{line}" if start else line
    return line, tuple(m.span() for m in pattern.finditer(line))
