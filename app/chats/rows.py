"""Between rows of the chat database and records."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from app.chats.records import Attachment, Chat, Place, Queued, StoredMessage, Style, pack_tokens, unpack_tokens

CHAT = "id, title, title_by_hand, updated_at, draft, leaf_id, pinned, folder_id, place, style, queue"
MESSAGE = "id, chat_id, parent_id, role, content, token_ids, state, finish, stats, model, created_at, attachments"


def chat_of(row: tuple[Any, ...]) -> Chat:
    """A chat from the columns CHAT."""
    i, title, by_hand, at, draft, leaf, pinned, folder, place, style, queue = row
    return Chat(
        i, title, bool(by_hand), at, draft, leaf, bool(pinned), folder, place_of(place), style_of(style),
        queue_of(queue),
    )  # fmt: skip


def message_of(row: tuple[Any, ...], siblings: list[int]) -> StoredMessage:
    """A message from the columns MESSAGE. siblings: ids of its versions, the oldest first."""
    i, chat, parent, role, content, tokens, state, finish, stats, model, created, attached = row
    facts = json.loads(stats) if stats != "{}" else {}
    files = attachments_of(json.loads(attached)) if attached != "[]" else ()
    count = len(siblings)
    message = object.__new__(StoredMessage)  # a frozen one is made field by field, which takes long for thousands
    message.__dict__.update(
        id=i, chat_id=chat, parent_id=parent, role=role, content=content,
        token_ids=unpack_tokens(tokens) if tokens else (), state=state, finish=finish, stats=facts, model=model,
        created_at=created, version=siblings.index(i) + 1 if count > 1 else 1, versions=count, attachments=files,
    )  # fmt: skip
    return message


def row_of(m: StoredMessage) -> tuple[Any, ...]:
    """The columns MESSAGE of a message."""
    return (
        m.id, m.chat_id, m.parent_id, m.role, m.content, pack_tokens(m.token_ids), m.state, m.finish,
        json.dumps(m.stats), m.model, m.created_at, attachments_text(m.attachments),
    )  # fmt: skip


def attachments_text(files: tuple[Attachment, ...]) -> str:
    """Attachments as JSON."""
    return json.dumps([dataclasses.asdict(a) for a in files])


def attachments_of(found: list[dict[str, str]]) -> tuple[Attachment, ...]:
    """Attachments from JSON that has been read."""
    return tuple(Attachment(a["name"], a["text"]) for a in found)


def queue_text(queue: tuple[Queued, ...]) -> str:
    """Waiting messages as JSON."""
    return json.dumps([dataclasses.asdict(q) for q in queue])


def queue_of(text: str) -> tuple[Queued, ...]:
    """The inverse of queue_text."""
    return tuple(Queued(q["text"], attachments_of(q["attachments"])) for q in json.loads(text))


def place_text(place: Place | None) -> str:
    """A place as it is kept; '' for the end."""
    return "" if place is None else f"{place.message_id} {place.pixels}"


def place_of(text: str) -> Place | None:
    """The inverse of place_text."""
    if not text:
        return None
    message, pixels = text.split()
    return Place(int(message), int(pixels))


def style_text(style: Style | None) -> str:
    """A style as JSON; '{}' for none of its own."""
    return "{}" if style is None else json.dumps(dataclasses.asdict(style))


def style_of(text: str) -> Style | None:
    """The inverse of style_text."""
    found = json.loads(text)
    return Style(found["system"], dict(found["sampling"]), tuple(found["stop"])) if found else None
