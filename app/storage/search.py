"""Full-text search over all messages: any part of a word, in any script, the latest first.

The index holds trigrams (SQLite's FTS5). For a term of one or two characters it is asked for the trigrams that begin
with the term. What stands at the very end of a message begins no trigram: the index `ends` has the last two characters
of every message, with two characters after them that cannot be typed.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from app.storage import records
from app.storage.records import Chat
from app.storage.store import ChatStore

_LISTED = 6000  # places in an index that are read one by one: 5 ms
_TRIGRAMS = 200  # trigrams by which messages are looked for: 20 ms
_LAST = "\U0010ffff"
_NEXT = "\x01"  # a trigram and this: what comes after it
MANY = 100  # terms; SQLite takes no question that is much longer
MOST = 60  # messages found; a longer query finds others
_BEFORE, _AROUND = 24, 120  # characters of a snippet before the hit, and in all
_INDEXED = 3  # characters of a term that the index of trigrams can find by itself
_SOON = 2000  # messages, the latest, that are read before the index is asked for a short term: 3 ms
_Row = tuple[int, str, str, float, int]  # id, role, content, when, chat


def messages_with(db: sqlite3.Connection, term: str) -> frozenset[int] | None:
    """Ids of all messages that have a term; None where it stands in too many places to be listed."""
    found: set[int] = set()
    space = _LISTED
    for table, start in product(("found_threes", "ends_threes"), _starts(term)):
        rows = db.execute(
            f"SELECT doc FROM {table} WHERE term >= ? AND term <= ? LIMIT ?", (start, start + _LAST, space)
        ).fetchall()
        found.update(doc for (doc,) in rows)
        space -= len(rows)
        if space <= 0:
            return None
    return frozenset(found)


def trigrams_of(db: sqlite3.Connection, term: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Trigrams that begin with a term: within messages, and at their ends. None where there are too many."""
    inside, ending = _listed(db, "found_threes", term), _listed(db, "ends_threes", term)
    return (inside, ending) if inside is not None and ending is not None else None


def any_of(found: tuple[str, ...]) -> str:
    """Expression for MATCH: any of these trigrams."""
    return "(" + " OR ".join('"' + trigram.replace('"', '""') + '"' for trigram in found) + ")"


def _condition(term: str) -> tuple[str, list[str]]:
    """SQL that looks for a term in a message m itself, and its values."""
    spelt = ["".join(spelling) for spelling in product(*({c, *_cases(c)} for c in term))]
    return f"({' OR '.join(['instr(m.content, ?) > 0'] * len(spelt))})", spelt


def _cases(character: str) -> tuple[str, ...]:
    return tuple(c for c in (character.lower(), character.upper()) if len(c) == 1)


def _starts(term: str) -> set[str]:
    """A term as the index has it, which folds the letters that it knows two cases of."""
    return {term, "".join(c.lower() if len(c.lower()) == 1 else c for c in term)}


def _listed(db: sqlite3.Connection, table: str, term: str) -> tuple[str, ...] | None:
    """Each is searched for behind the one before it: the places where they stand are not read."""
    found: list[str] = []
    for start in _starts(term):
        at = start
        while row := db.execute(
            f"SELECT term FROM {table} WHERE term >= ? AND term <= ? LIMIT 1", (at, start + _LAST)
        ).fetchone():
            found.append(row[0])
            at = row[0] + _NEXT
            if len(found) > _TRIGRAMS:
                return None
    return tuple(found)


@dataclass(frozen=True)
class SearchHit:
    """A message in which all terms occur. snippet: what is around the first of them; marks: where they stand in it."""

    chat: Chat
    message_id: int
    role: str
    snippet: str
    marks: tuple[tuple[int, int], ...]
    created_at: float


def terms(text: str) -> list[str]:
    """Terms of a query: words, and what stands between quotation marks as one. Each once, and no more than MANY."""
    found = (quoted or word for quoted, word in re.findall(r'"([^"]+)"?|([^\s"]+)', text.replace("\0", " ")))
    return list(dict.fromkeys(found))[:MANY]


def find(store: ChatStore, text: str, most: int = MOST) -> list[SearchHit]:
    """Find messages with all terms of `text`, case-insensitively, without those of deleted chats."""
    wanted = terms(text)
    if not wanted:
        return []
    long = " AND ".join('"' + t.replace('"', '""') + '"' for t in wanted if len(t) >= _INDEXED)
    found = _latest(store.db, long, [t for t in wanted if len(t) < _INDEXED], most)
    ids = {row[4] for row in found}
    chats = {
        row[0]: records.chat_of(row, store.image)
        for row in store.db.execute(
            f"SELECT {records.CHAT_COLUMNS} FROM chats WHERE id IN ({', '.join('?' * len(ids))})", tuple(ids)
        )
    }
    return [
        SearchHit(chats[chat], message, role, *snippet(content, wanted), created)
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
        having = messages_with(db, term)
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
    return _by_trigrams(db, long, rest, most)


def _by_trigrams(db: sqlite3.Connection, long: str, wanted: list[str], most: int) -> list[_Row]:
    """The same, where each of the terms stands in very many messages."""
    known = {term: some for term in wanted if (some := trigrams_of(db, term)) is not None}
    unknown = [term for term in wanted if term not in known]
    inside = " AND ".join(any_of(within) for within, _ in known.values() if within)
    match = " AND ".join(part for part in (long, inside) if part)
    found: list[_Row] = []
    if all(within for within, _ in known.values()):
        question = _Question(db, most, unknown)
        found = question.matching("found", match) if match else question.ask()
    ending = tuple(trigram for _, ends in known.values() for trigram in ends)
    if ending:
        question = _Question(db, most, wanted)
        if long:
            question.where("m.id IN (SELECT rowid FROM found WHERE found MATCH ?)", long)
        found += question.matching("ends", any_of(ending))
    return sorted({row[0]: row for row in found}.values(), reverse=True)[:most]


class _Question:
    """Query for the latest messages of chats that are not deleted. wanted: short terms to look for in each message."""

    def __init__(self, db: sqlite3.Connection, most: int, wanted: Sequence[str] = ()) -> None:
        self._db, self._most = db, most
        self._conditions = ["c.deleted_at IS NULL", "m.state <> 'streaming'"]
        self._values: list[object] = []
        for term in wanted:
            condition, values = _condition(term)
            self.where(condition, *values)

    def where(self, condition: str, *values: object) -> _Question:
        """Add a condition."""
        self._conditions.append(condition)
        self._values += values
        return self

    def matching(self, index: str, expression: str) -> list[_Row]:
        """Run it on the messages that an index gives."""
        self.where(f"{index} MATCH ?", expression)
        # CROSS JOIN keeps SQLite from turning the order round: it would read every message and ask the index for each.
        return self.ask(f"{index} CROSS JOIN messages m ON m.id = {index}.rowid", f"{index}.rowid")

    def ask(self, source: str = "messages m", key: str = "m.id") -> list[_Row]:
        """Run it on the messages of a source."""
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
