"""Rows of the chat database, and their ids."""

from __future__ import annotations

import struct
import threading
import time
from dataclasses import dataclass, field
from typing import Any

_LATEST = 1 << 62  # an id of the year 2112
_last = 0
_making = threading.Lock()


def new_id() -> int:
    """An id that grows with time: microseconds since 1970, then ten bits for ids of the same microsecond.

    Each is larger than those made before it, though the clock be set back meanwhile. Made by the window, not by the
    database, so that nothing waits for a write. It is the row's INTEGER PRIMARY KEY, which a full-text index can refer
    to and which VACUUM leaves alone.
    """
    global _last
    with _making:
        _last = max(_last + 1, time.time_ns() // 1000 << 10)
        return _last


def count_from(known: int) -> None:
    """Ids made from now on are larger than this one. One that no clock has made leaves no room for others."""
    global _last
    with _making:
        if known < _LATEST:
            _last = max(_last, known)


def pack_tokens(ids: tuple[int, ...]) -> bytes:
    """Token ids as little-endian 32-bit integers."""
    return struct.pack(f"<{len(ids)}I", *ids)


def unpack_tokens(data: bytes) -> tuple[int, ...]:
    """The inverse of pack_tokens."""
    return struct.unpack(f"<{len(data) // 4}I", data)


@dataclass(frozen=True)
class Place:
    """Where one had scrolled to: the message at the top of the page, and how many pixels of it are above."""

    message_id: int
    pixels: int


@dataclass(frozen=True)
class Style:
    """How a chat is answered: a system prompt, values of api.settings.SAMPLING, and texts that end an answer."""

    system: str = ""
    sampling: dict[str, Any] = field(default_factory=dict)
    stop: tuple[str, ...] = ()


@dataclass(frozen=True)
class Folder:
    """A folder of chats."""

    id: int
    name: str


@dataclass(frozen=True)
class Attachment:
    """A text that goes with a message. name: of the file it came from. text: what the model reads of it."""

    name: str
    text: str


@dataclass(frozen=True)
class Queued:
    """A message that waits for the answer before it to end."""

    text: str
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True)
class Chat:
    """A chat as the list shows it. leaf_id: the last message of the branch that is open; None while empty.

    place: None is at the end. style: None is as the settings say. attached: to the draft; read where a chat is opened.
    """

    id: int
    title: str = ""
    title_by_hand: bool = False
    updated_at: float = 0.0
    draft: str = ""
    leaf_id: int | None = None
    pinned: bool = False
    folder_id: int | None = None
    place: Place | None = None
    style: Style | None = None
    queue: tuple[Queued, ...] = ()
    attached: tuple[Attachment, ...] = ()


@dataclass(frozen=True)
class StoredMessage:
    """One message. Messages form a tree by parent_id; an edit or another answer is a sibling.

    state: 'whole', 'streaming' (being written) or 'cut' (Underhill ended while it was written).
    finish, stats: of answers, as engine.api.Stats has them. version, versions: which sibling this is, from 1.
    """

    id: int
    chat_id: int
    parent_id: int | None
    role: str
    content: str = ""
    token_ids: tuple[int, ...] = ()
    state: str = "whole"
    finish: str = ""
    stats: dict[str, Any] = field(default_factory=dict)
    model: str = ""
    created_at: float = field(default_factory=time.time)
    version: int = 1
    versions: int = 1
    attachments: tuple[Attachment, ...] = ()

    @property
    def unfinished(self) -> bool:
        """An answer that could go on from where it ended."""
        ended = self.state == "cut" or self.finish in ("length", "cancelled", "held", "failed", "edited")
        return self.role == "assistant" and self.state != "streaming" and bool(self.content) and ended
