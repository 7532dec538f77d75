"""Reads the text of a file that goes with a message."""

from __future__ import annotations

from pathlib import Path

from app.i18n.translate import in_this_language
from app.storage.records import Attachment
from engine import protocol
from engine.documents import reading


def read(path: Path) -> Attachment:
    """Read a file as an attachment. Raises UnderhillError, which says what cannot be read and why."""
    try:
        return Attachment(path.name, reading.read(path))
    except protocol.UnderhillError as error:
        raise in_this_language(error) from error.__cause__
