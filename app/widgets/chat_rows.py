"""What stands in the list of chats: sections with chats, or what a search found."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.chats.records import Chat, Folder
from app.chats.search import Hit
from app.i18n.dates import month
from app.i18n.translate import tr


@dataclass(frozen=True)
class Section:
    """A heading. folder: its chats are shown while it is open; count: how many they are."""

    title: str
    folder: Folder | None = None
    open: bool = True
    count: int = 0


Row = Chat | Section | Hit
Identity = tuple[str, int]


def identity(row: Row | None) -> Identity | None:
    """What a row is known by when the list is read anew; None for a heading."""
    if isinstance(row, Chat):
        return "chat", row.id
    if isinstance(row, Hit):
        return "message", row.message_id
    return ("folder", row.folder.id) if row is not None and row.folder is not None else None


def listing(chats: Sequence[Chat], folders: Sequence[Folder], closed: Collection[int], now: datetime) -> list[Row]:
    """Pinned chats, then folders, then the rest by time. chats: the latest first. closed: ids of folders."""
    rows: list[Row] = []
    pinned = [c for c in chats if c.pinned]
    if pinned:
        rows += [Section(tr("Pinned")), *pinned]
    for folder in folders:
        inside = [c for c in chats if c.folder_id == folder.id and not c.pinned]
        rows.append(Section(folder.name, folder, folder.id not in closed, len(inside)))
        if folder.id not in closed:
            rows += inside
    known = {f.id for f in folders}
    last = ""
    for chat in (c for c in chats if not c.pinned and c.folder_id not in known):
        heading = when(datetime.fromtimestamp(chat.updated_at), now)
        if heading != last:
            rows.append(Section(heading))
            last = heading
        rows.append(chat)
    return rows


def findings(chats: Sequence[Chat], hits: Sequence[Hit], most: int) -> list[Row]:
    """Chats whose title has it, then messages that have it. most: hits that are looked for at all."""
    rows: list[Row] = []
    if chats:
        rows += [Section(tr("Titles")), *chats]
    if hits:
        rows += [Section(tr("Messages") if len(hits) < most else tr("The latest {most} messages", most=most)), *hits]
    return rows


def when(at: datetime, now: datetime) -> str:
    """The heading a chat of that time stands under."""
    days = (now.date() - at.date()).days
    if days <= 0:
        return tr("Today")
    if days == 1:
        return tr("Yesterday")
    if days < 7:
        return tr("Last seven days")
    return month(at, at.year != now.year)
