"""Search over all messages: any part of a word, in any script, the latest first."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.chats import rows
from app.chats.records import Chat
from app.chats.store import ChatStore

MOST = 60  # messages found; whoever wants others types more
_BEFORE, _AROUND = 24, 120  # characters of a snippet before the hit, and in all
_INDEXED = 3  # characters of a term that the trigram index can find


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
    """What is looked for: words, and what stands between quotation marks as one."""
    return [quoted or word for quoted, word in re.findall(r'"([^"]+)"?|([^\s"]+)', text)]


def find(store: ChatStore, text: str, most: int = MOST) -> list[Hit]:
    """Messages with all terms of `text`, upper and lower case alike, without those of deleted chats.

    A term of one or two characters (a word in Chinese, say) is not in the index: it is looked for in the messages.
    """
    wanted = terms(text)
    if not wanted:
        return []
    long = [t for t in wanted if len(t) >= _INDEXED]
    short = [t for t in wanted if len(t) < _INDEXED]
    conditions = ["c.deleted_at IS NULL", "m.state <> 'streaming'"]
    values: list[object] = []
    if long:
        conditions.append("found MATCH ?")
        values.append(" AND ".join('"' + t.replace('"', '""') + '"' for t in long))
    for term in short:
        if term.lower() == term.upper():  # no letters with two cases, as in Chinese: looked for as it stands, faster
            conditions.append("instr(m.content, ?) > 0")
            values.append(term)
        else:
            conditions.append("m.content LIKE ? ESCAPE '\\'")
            values.append("%" + term.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%")
    source = "found JOIN messages m ON m.id = found.rowid" if long else "messages m"
    found = store.db.execute(
        f"SELECT m.id, m.role, m.content, m.created_at, m.chat_id FROM {source} "
        f"CROSS JOIN chats c ON c.id = m.chat_id WHERE {' AND '.join(conditions)} "
        f"ORDER BY {'found.rowid' if long else 'm.id'} DESC LIMIT ?",
        (*values, most),
    ).fetchall()
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
