"""Records of the chat database, their ids and titles, and how they are rows of its tables."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import struct
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from app.i18n.translate import tr
from engine.protocol import Passage

_LATEST = 1 << 62  # an id of the year 2112
_last = 0  # the id made last, under `_making`
_making = threading.Lock()  # ids are made on the window's thread, and by jobs such as imports on the database thread
CHAT_COLUMNS = (
    "id, title, title_by_hand, updated_at, draft, leaf_id, pinned, folder_id, place, style, queue, model, tools"
)
MESSAGE_COLUMNS = (
    "id, chat_id, parent_id, role, content, token_ids, state, finish, stats, model, created_at, attachments, sources, "
    "tools"
)
_LONGEST = 48  # characters of a title, before the ellipsis
_NUMBER = re.compile(r" \(\d+\)$")  # of a chat that began as a copy of another
_BLOCK = re.compile(r"^\s*(?:(?:#{1,6}(?=\s|$)|>|[-+*](?=\s))\s*)+")  # heading, quotation, list
_INLINE = re.compile(r"`+|~{3,}|(?<!\w)[*_~]+(?=\S)|(?<=\S)[*_~]+(?!\w)")  # code, and what stands around stressed words


def new_id() -> int:
    """Make an id that grows with time: microseconds since 1970, then ten bits for ids of the same microsecond.

    Each is larger than those made before it, though the clock be set back meanwhile. Made by the window, not by the
    database, so that nothing waits for a write. It is the row's INTEGER PRIMARY KEY, which a full-text index can refer
    to and which VACUUM leaves alone.
    """
    global _last
    with _making:
        # Under the lock, or two threads in one microsecond would make the same id.
        _last = max(_last + 1, time.time_ns() // 1000 << 10)
        return _last


def reserve_ids(known: int) -> None:
    """Have ids made from now on larger than this one.

    One that no clock can have made is ignored: the ids above it would soon run out.
    """
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
class ScrollPosition:
    """Scroll position: the message at the top of the page, and how many pixels of it are above."""

    message_id: int
    pixels: int


@dataclass(frozen=True)
class Style:
    """How a chat is answered: a system prompt, values of protocol.settings.SAMPLING, and texts that end an answer."""

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
    """A text or an image that goes with a message. name: of the file it came from. text: what the model reads of it.

    image: of an image, which has no text, the bytes of a PNG or JPEG file. digest: its SHA-256 in hexadecimal, made at
    once, as images come on threads that have the time: one takes a millisecond or more.
    """

    name: str
    text: str
    image: bytes = b""
    digest: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", hashlib.sha256(self.image).hexdigest() if self.image else "")


ReadImage = Callable[[str], bytes]  # an image's bytes by its digest


@dataclass(frozen=True)
class QueuedMessage:
    """A message that waits until the answer before it has ended."""

    text: str
    attachments: tuple[Attachment, ...] = ()


ASKED, RUNNING, DONE, FAILED, DENIED, STOPPED = "asked", "running", "done", "failed", "denied", "stopped"


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """A call of a tool that an answer made. server: id of the tool server; '' where no server has such a tool.

    title: of the server. host: where the call goes that leaves this computer; ''. name: of the tool, as its server
    calls it; called: as the model does. ident: of the call, that its result refers to. state: one of the above, ASKED
    where the person is to be asked. text: what came of it.
    """

    server: str
    title: str
    name: str
    called: str
    ident: str
    host: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    state: str = ASKED
    text: str = ""
    seconds: float = 0.0

    @property
    def settled(self) -> bool:
        """Whether it need not be asked or run any more."""
        return self.state in (DONE, FAILED, DENIED)


@dataclass(frozen=True)
class ChatTools:
    """Which tools a chat may use. off: ids of servers that it may not. allowed: (server, tool) without being asked."""

    off: tuple[str, ...] = ()
    allowed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Chat:
    """A chat as the list shows it. leaf_id: the last message of the branch that is open; None while empty.

    place: None is at the end. style: None is as the settings say. attached: to the draft, and documents: paths of files
    and folders that are searched at each question; both are read where a chat is opened.
    model: key of the model or team that answers, as Models.key_of gives it; '' in chats older than that.
    """

    id: int
    title: str = ""
    title_by_hand: bool = False
    updated_at: float = 0.0
    draft: str = ""
    leaf_id: int | None = None
    pinned: bool = False
    folder_id: int | None = None
    place: ScrollPosition | None = None
    style: Style | None = None
    queue: tuple[QueuedMessage, ...] = ()
    model: str = ""
    tools: ChatTools = field(default_factory=ChatTools)
    attached: tuple[Attachment, ...] = ()
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class StoredMessage:
    """One message. Messages form a tree by parent_id; an edit or another answer is a sibling.

    state: 'whole', 'streaming' (being written) or 'cut' (Underhill ended while it was written).
    sources: passages of documents that went with a question. tools: calls that an answer made at its end; its content
    has them no more, and what the model says to their results is the next message.
    finish, stats: of answers, as engine.protocol.Stats has them. version, versions: which sibling this is, from 1.
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
    sources: tuple[Passage, ...] = ()
    tools: tuple[ToolUse, ...] = ()

    @property
    def unfinished(self) -> bool:
        """Whether it is an answer that could be continued."""
        ended = self.state == "cut" or self.finish in ("length", "cancelled", "held", "failed", "edited")
        some = bool(self.tools) or (bool(self.content) and ended)
        return self.role == "assistant" and self.state != "streaming" and some


def new_question(
    chat_id: int, parent_id: int | None, text: str, attachments: Sequence[Attachment], versions: int = 1
) -> StoredMessage:
    """A new message of the user. versions: of it, this one being the last."""
    return StoredMessage(
        id=new_id(), chat_id=chat_id, parent_id=parent_id, role="user", content=text,
        attachments=tuple(attachments), version=versions, versions=versions,
    )  # fmt: skip


def chat_of(row: tuple[Any, ...], read_image: ReadImage) -> Chat:
    """A chat from the columns CHAT_COLUMNS. read_image: reads those of queued messages."""
    i, title, by_hand, at, draft, leaf, pinned, folder, place, style, queue, model, tools = row
    return Chat(
        id=i,
        title=title,
        title_by_hand=bool(by_hand),
        updated_at=at,
        draft=draft,
        leaf_id=leaf,
        pinned=bool(pinned),
        folder_id=folder,
        place=position_of(place),
        style=style_of(style),
        queue=queue_of(queue, read_image),
        model=model,
        tools=chat_tools_of(tools),
    )


def message_of(row: tuple[Any, ...], siblings: list[int], read_image: ReadImage) -> StoredMessage:
    """A message from the columns MESSAGE_COLUMNS. siblings: ids of its versions, the oldest first."""
    i, chat, parent, role, content, tokens, state, finish, stats, model, created, attached, passages, called = row
    facts = json.loads(stats) if stats != "{}" else {}
    files = attachments_of(json.loads(attached), read_image) if attached != "[]" else ()
    sources = sources_of(json.loads(passages)) if passages != "[]" else ()
    count = len(siblings)
    message = object.__new__(StoredMessage)  # a frozen one is made field by field, which takes long for thousands
    message.__dict__.update(
        id=i, chat_id=chat, parent_id=parent, role=role, content=content,
        token_ids=unpack_tokens(tokens) if tokens else (), state=state, finish=finish, stats=facts, model=model,
        created_at=created, version=siblings.index(i) + 1 if count > 1 else 1, versions=count, attachments=files,
        sources=sources, tools=tools_of(json.loads(called)) if called != "[]" else (),
    )  # fmt: skip
    return message


def row_of(m: StoredMessage) -> tuple[Any, ...]:
    """The columns MESSAGE_COLUMNS of a message."""
    return (
        m.id, m.chat_id, m.parent_id, m.role, m.content, pack_tokens(m.token_ids), m.state, m.finish,
        json.dumps(m.stats), m.model, m.created_at, attachments_text(m.attachments),
        sources_text(m.sources), tools_text(m.tools),
    )  # fmt: skip


def attachment_entries(files: Sequence[Attachment]) -> list[dict[str, str]]:
    """Attachments as JSON has them; an image by its digest, as its bytes are kept elsewhere."""
    return [
        {"name": a.name, "text": a.text, "picture": a.digest} if a.image else {"name": a.name, "text": a.text}
        for a in files
    ]


def attachments_text(files: Sequence[Attachment]) -> str:
    """Attachments as JSON."""
    return json.dumps(attachment_entries(files))


def attachments_of(found: list[dict[str, str]], read_image: ReadImage) -> tuple[Attachment, ...]:
    """Attachments from JSON that has been read. An image that is not to be had is left out."""
    files = []
    for a in found:
        digest = a.get("picture", "")
        with suppress(LookupError):
            files.append(Attachment(a["name"], a["text"], read_image(digest) if digest else b""))
    return tuple(files)


def sources_text(sources: tuple[Passage, ...]) -> str:
    """Passages as JSON."""
    return json.dumps([dataclasses.asdict(one) for one in sources])


def sources_of(found: list[dict[str, Any]]) -> tuple[Passage, ...]:
    """Passages from JSON that has been read."""
    return tuple(Passage(**one) for one in found)


def tools_text(tools: tuple[ToolUse, ...]) -> str:
    """Calls of tools as JSON."""
    return json.dumps([dataclasses.asdict(one) for one in tools])


def tools_of(found: list[dict[str, Any]]) -> tuple[ToolUse, ...]:
    """Calls of tools from JSON that has been read."""
    return tuple(ToolUse(**one) for one in found)


def chat_tools_text(tools: ChatTools) -> str:
    """Tools of a chat as JSON; '{}' for those of every chat."""
    return "{}" if tools == ChatTools() else json.dumps(dataclasses.asdict(tools))


def chat_tools_of(text: str) -> ChatTools:
    """The inverse of chat_tools_text."""
    if text == "{}":
        return ChatTools()
    found = json.loads(text)
    return ChatTools(tuple(found["off"]), tuple((server, tool) for server, tool in found["allowed"]))


def queue_text(queue: tuple[QueuedMessage, ...]) -> str:
    """Waiting messages as JSON."""
    return json.dumps([{"text": q.text, "attachments": attachment_entries(q.attachments)} for q in queue])


def queue_of(text: str, read_image: ReadImage) -> tuple[QueuedMessage, ...]:
    """The inverse of queue_text."""
    return tuple(QueuedMessage(q["text"], attachments_of(q["attachments"], read_image)) for q in json.loads(text))


def position_text(place: ScrollPosition | None) -> str:
    """Scroll position as it is stored; '' for the end."""
    return "" if place is None else f"{place.message_id} {place.pixels}"


def position_of(text: str) -> ScrollPosition | None:
    """The inverse of position_text."""
    if not text:
        return None
    message, pixels = text.split()
    return ScrollPosition(int(message), int(pixels))


def style_text(style: Style | None) -> str:
    """A style as JSON; '{}' for none of its own."""
    return "{}" if style is None else json.dumps(dataclasses.asdict(style))


AS_TEXT: dict[str, Callable[[Any], str]] = {
    "place": position_text, "style": style_text, "queue": queue_text, "tools": chat_tools_text,
}  # fmt: skip


def style_of(text: str) -> Style | None:
    """The inverse of style_text."""
    found = json.loads(text)
    return Style(found["system"], dict(found["sampling"]), tuple(found["stop"])) if found else None


def title_from(text: str) -> str:
    """Title from the first line that says something, without Markdown signs, cut at a word; never empty."""
    for line in text.splitlines():
        plain = _INLINE.sub("", _BLOCK.sub("", line))
        plain = " ".join(plain.split()).strip(" -:")
        if plain:
            return _cut(plain)
    return tr("New chat")


def numbered(title: str) -> tuple[str, str]:
    """Split a title into text and number: 'Sourdough', ' (2)'. ('Sourdough', '') where it has none."""
    found = _NUMBER.search(title)
    return (title[: found.start()], found.group()) if found else (title, "")


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    head = text[:_LONGEST]
    space = head.rfind(" ")
    return (head[:space] if space > _LONGEST // 2 else head).rstrip(" ,.;:") + "…"
