"""Attachments of messages that are not sent yet. Jobs for the database thread."""

from __future__ import annotations

import json

from app.storage import records
from app.storage.records import Attachment
from app.storage.store import ChatStore

NEW = 0  # stands for the chat that has no message yet


def attached(store: ChatStore, chat_id: int = NEW) -> tuple[Attachment, ...]:
    """Attachments of a chat's draft."""
    row = store.db.execute("SELECT attachments FROM drafts WHERE chat_id = ?", (chat_id,)).fetchone()
    return records.attachments_of(json.loads(row[0])) if row is not None else ()


def keep(store: ChatStore, chat_id: int, files: tuple[Attachment, ...]) -> None:
    """Store the attachments of a chat's draft; none leaves no row."""
    if files:
        store.db.execute(
            "INSERT INTO drafts (chat_id, attachments) VALUES (?, ?) "
            "ON CONFLICT (chat_id) DO UPDATE SET attachments = excluded.attachments",
            (chat_id, records.attachments_text(files)),
        )
    else:
        store.db.execute("DELETE FROM drafts WHERE chat_id = ?", (chat_id,))
