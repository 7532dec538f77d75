"""Images of messages in the chat database: each once, by its digest, for as long as anything refers to it.

Its tables are called `pictures` and `picture_uses`, as files of chats hold them; the latter says who refers to which.
Triggers of the schema remove uses with their owners, and an image with its last use.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from enum import StrEnum

from app.storage.records import Attachment


class ImageOwner(StrEnum):
    """What may refer to an image: a message by its id, a draft or the queued messages by their chat's."""

    MESSAGE = "message"
    DRAFT = "draft"
    QUEUE = "queue"


def keep(db: sqlite3.Connection, kind: ImageOwner, owner: int, files: Iterable[Attachment]) -> None:
    """Store the images among these files, and that this owner refers to them and to no others any more.

    In the transaction that is open.
    """
    images = {file.digest: file.image for file in files if file.image}
    known = {
        digest
        for (digest,) in db.execute("SELECT digest FROM picture_uses WHERE kind = ? AND owner = ?", (kind, owner))
    }
    for digest in images.keys() - known:
        db.execute("INSERT OR IGNORE INTO pictures (digest, data) VALUES (?, ?)", (digest, images[digest]))
        db.execute("INSERT INTO picture_uses (kind, owner, digest) VALUES (?, ?, ?)", (kind, owner, digest))
    for digest in known - images.keys():
        db.execute("DELETE FROM picture_uses WHERE kind = ? AND owner = ? AND digest = ?", (kind, owner, digest))


def read(db: sqlite3.Connection, digest: str) -> bytes:
    """An image's file. Raises LookupError."""
    row = db.execute("SELECT data FROM pictures WHERE digest = ?", (digest,)).fetchone()
    if row is None:
        raise LookupError(f"no image {digest}")
    return bytes(row[0])
