"""Imports chats from files: our own JSON, and ChatGPT's export (conversations.json, or the archive it came in)."""

from __future__ import annotations

import base64
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from app.export import chat_file
from app.export.chat_file import ImportedChat
from app.i18n.translate import problem, tr
from app.storage.records import (
    Chat,
    ReadImage,
    StoredMessage,
    Style,
    attachments_of,
    new_id,
    sources_of,
    title_from,
    tools_of,
)
from app.storage.store import ChatStore
from engine import protocol, regular_file
from engine.sandbox import SandboxedFunction, SandboxFailure, SandboxMemory, SandboxTimeout

MEMORY = 900_000_000  # bytes that reading a file may take, however long it is; one chat is in memory at a time
CHAT_SECONDS = 60.0  # from one chat to the next; the longest that is taken needs a few
IN_MEMORY = 8 << 20  # bytes of chats that are not put on the disk until they are added


class ImportedChats(AbstractContextManager["ImportedChats", None]):
    """Chats of a file, spooled to the disk. Close it, or use it as a context.

    unread: how many more chats the file holds that are malformed, and were skipped.
    """

    def __init__(self) -> None:
        self.unread = 0
        self._count = 0
        self._spool = tempfile.SpooledTemporaryFile(IN_MEMORY, "w+b")  # noqa: SIM115
        self._images = tempfile.SpooledTemporaryFile(IN_MEMORY, "w+b")  # noqa: SIM115
        self._places: dict[str, tuple[int, int]] = {}  # of images in that: first byte, and how many

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[ImportedChat]:
        self._spool.seek(0)
        for row in self._spool:
            yield ImportedChat(**json.loads(row))

    def put(self, chat: dict[str, Any]) -> None:
        """Append a chat. Raises OSError."""
        self._spool.write(json.dumps(chat).encode() + b"\n")
        self._count += 1

    def put_image(self, name: str, data: bytes) -> None:
        """Add an image, by the name that attachments have for it. Raises OSError."""
        self._images.seek(0, os.SEEK_END)
        self._places[name] = self._images.tell(), len(data)
        self._images.write(data)

    def image(self, name: str) -> bytes:
        """The file of an image. Raises LookupError."""
        start, length = self._places[name]
        self._images.seek(start)
        return self._images.read(length)

    def close(self) -> None:
        """Delete the spools."""
        self._spool.close()
        self._images.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def read(path: Path) -> ImportedChats:
    """Read the chats of a file in a sandboxed process. Raises UnderhillError, or OSError."""
    regular_file.open_regular(path).close()  # says now what the other process could only say of itself
    reader = SandboxedFunction("app.export.chat_file:chats", MEMORY)
    contents = ImportedChats()
    try:
        for kind, *more in reader.stream(str(path.resolve()), tr("[image]"), seconds=CHAT_SECONDS):
            match kind:
                case chat_file.CHAT:
                    contents.put(more[0])
                case chat_file.IMAGE:
                    contents.put_image(more[0], base64.b64decode(more[1]))
                case chat_file.UNREAD:
                    contents.unread = more[0]
                    return contents
                case chat_file.LATER:
                    raise problem(
                        protocol.Kind.BAD_REQUEST,
                        tr("{file} comes from another version of Underhill.", file=path.name),
                        tr("Install a newer version, then import it there."),
                    )  # fmt: skip
                case chat_file.LONG:
                    raise _too_much(path)
                case _:
                    raise _none(path)
        raise _none(path)
    except BaseException as e:
        contents.close()
        if isinstance(e, SandboxMemory | SandboxTimeout):
            raise _too_much(path) from e
        if isinstance(e, SandboxFailure):
            raise _none(path) from e
        raise
    finally:
        reader.close()


def add(store: ChatStore, contents: ImportedChats) -> tuple[Chat, ...]:
    """Write the chats to the store, all of them or none. Returns them as they are there."""
    added: list[Chat] = []
    made: dict[str, int] = {}
    with store.transaction():
        for chat in contents:
            if chat.folder and chat.folder not in made:
                made[chat.folder] = store.make_folder(chat.folder).id
            ids = {m["id"]: new_id() for m in chat.messages}
            leaf = ids.get(chat.leaf, ids[chat.messages[-1]["id"]])
            record = Chat(
                id=new_id(),
                title=chat.title or title_from(chat.messages[0]["content"]),
                title_by_hand=chat.title_by_hand,
                updated_at=chat.updated_at or time.time(),
                pinned=chat.pinned,
                folder_id=made.get(chat.folder),
                style=_style(chat.style),
            )
            store.insert(record, tuple(_message(m, ids, record.id, contents.image) for m in chat.messages))
            store.db.execute(
                "UPDATE chats SET leaf_id = ?, updated_at = ? WHERE id = ?", (leaf, record.updated_at, record.id)
            )
            added.append(record)
    return tuple(added)


def _message(m: dict[str, Any], ids: dict[Any, int], chat: int, read_image: ReadImage) -> StoredMessage:
    return StoredMessage(
        id=ids[m["id"]],
        chat_id=chat,
        parent_id=ids.get(m["parent"]),
        role=m["role"],
        content=m["content"],
        finish=m.get("finish", ""),
        stats=m.get("stats", {}),
        model=m["model"],
        created_at=m["created_at"] or time.time(),
        attachments=attachments_of(m.get("attachments", []), read_image),
        sources=sources_of(m.get("sources", [])),
        tools=tools_of(m.get("tools", [])),
    )


def _style(found: dict[str, Any] | None) -> Style | None:
    return Style(found["system"], dict(found["sampling"]), tuple(found["stop"])) if found else None


def _too_much(path: Path) -> protocol.UnderhillError:
    return problem(
        protocol.Kind.BAD_REQUEST,
                        tr("A chat in {file} is too long.", file=path.name),
        tr("Export fewer chats at a time, or leave that chat out."),
    )  # fmt: skip


def _none(path: Path) -> protocol.UnderhillError:
    return problem(
        protocol.Kind.BROKEN_FILE, tr("No readable chats in {file}.", file=path.name),
        tr("Choose a JSON file exported by Underhill or ChatGPT (conversations.json or its ZIP)."),
    )  # fmt: skip
