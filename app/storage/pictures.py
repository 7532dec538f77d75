"""Pictures of messages in the chat database: each once, by its digest, for as long as anything refers to it.

`picture_uses` says who does; triggers of the schema remove uses with their owners, and a picture with its last use.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from enum import StrEnum

from app.storage.records import Attachment


class PictureOwner(StrEnum):
    """What may refer to a picture: a message by its id, a draft or the queued messages by their chat's."""

    MESSAGE = "message"
    DRAFT = "draft"
    QUEUE = "queue"


def keep(db: sqlite3.Connection, kind: PictureOwner, owner: int, files: Iterable[Attachment]) -> None:
    """Store the pictures among these files, and that this owner refers to them and to no others any more.

    In the transaction that is open.
    """
    pictures = {file.digest: file.image for file in files if file.image}
    known = {
        digest
        for (digest,) in db.execute("SELECT digest FROM picture_uses WHERE kind = ? AND owner = ?", (kind, owner))
    }
    for digest in pictures.keys() - known:
        db.execute("INSERT OR IGNORE INTO pictures (digest, data) VALUES (?, ?)", (digest, pictures[digest]))
        db.execute("INSERT INTO picture_uses (kind, owner, digest) VALUES (?, ?, ?)", (kind, owner, digest))
    for digest in known - pictures.keys():
        db.execute("DELETE FROM picture_uses WHERE kind = ? AND owner = ? AND digest = ?", (kind, owner, digest))


def read(db: sqlite3.Connection, digest: str) -> bytes:
    """A picture's file. Raises LookupError."""
    row = db.execute("SELECT data FROM pictures WHERE digest = ?", (digest,)).fetchone()
    if row is None:
        raise LookupError(f"no picture {digest}")
    return bytes(row[0])
