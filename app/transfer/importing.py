"""Chats from files: our own JSON, and the export of ChatGPT (conversations.json, or the archive it came in)."""

from __future__ import annotations

import io
import json
import lzma
import time
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

from app.chats import folders, rows
from app.chats.records import Attachment, Chat, StoredMessage, Style, new_id
from app.chats.store import ChatStore
from app.chats.titles import title_from
from app.language.words import say
from app.transfer import chatgpt, parsing
from app.transfer.exporting import FORMAT, VERSION
from app.transfer.found import Contents, Found, figures, line, moment, words
from engine import api

LARGEST = 2 << 30  # bytes
_CHUNK = 1 << 20  # characters
_ODD = (ValueError, KeyError, TypeError, AttributeError, RecursionError)  # what reading something else ends in
_LOCKED = (
    zipfile.BadZipFile,
    RuntimeError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
)  # and of archives: also encrypted ones


def read(path: Path) -> Contents:
    """The chats of a file. Raises UnderhillError, or OSError."""
    found: list[Found] = []
    odd, ours = 0, False
    stated: dict[str, Any] = {}  # of our own file, beside its chats
    try:
        for name, value in (part for text in _texts(path) for part in parsing.parts(text)):
            if name not in ("", "chats"):
                stated[name] = value
                continue
            try:
                found.append(_own(value) if name else chatgpt.read(value))
            except (*_ODD, api.UnderhillError):
                odd += 1
            ours = bool(name)
        later = stated.get("version", VERSION) > VERSION
    except (*_ODD, *_LOCKED) as e:
        raise _none(path) from e
    if stated.get("format") == FORMAT and later:
        raise api.UnderhillError(
            api.Kind.BAD_REQUEST, say("{file} comes from another version of Underhill.", file=path.name),
            say("Install a newer version, then import it there."),
        )  # fmt: skip
    if not any(chat.messages for chat in found) or (ours and stated.get("format") != FORMAT):
        raise _none(path)
    return Contents(tuple(chat for chat in found if chat.messages), odd)


def add(store: ChatStore, contents: Contents) -> tuple[Chat, ...]:
    """Write the chats, all of them or none. Returns them as they are in the store."""
    chats, added = contents.chats, []
    with store.transaction():
        made = {name: folders.make(store, name).id for name in {c.folder for c in chats} if name}
        for chat in chats:
            ids = {m["id"]: new_id() for m in chat.messages}
            leaf = ids.get(chat.leaf, ids[chat.messages[-1]["id"]])
            style = chat.more.get("style")
            record = Chat(
                new_id(), chat.title or title_from(chat.messages[0]["content"]), bool(chat.more.get("title_by_hand")),
                chat.updated_at or time.time(), pinned=bool(chat.more.get("pinned")), folder_id=made.get(chat.folder),
                style=rows.style_of(json.dumps(style)) if style else None,
            )  # fmt: skip
            store.insert(record, tuple(_message(m, ids, record.id) for m in chat.messages))
            store.db.execute(
                "UPDATE chats SET leaf_id = ?, updated_at = ? WHERE id = ?", (leaf, record.updated_at, record.id)
            )
            added.append(record)
    return tuple(added)


def _message(m: dict[str, Any], ids: dict[Any, int], chat: int) -> StoredMessage:
    return StoredMessage(
        ids[m["id"]], chat, ids.get(m["parent"]), m["role"], m["content"], finish=m.get("finish", ""),
        stats=m.get("stats", {}), model=m["model"], created_at=m["created_at"] or time.time(),
        attachments=m.get("attachments", ()),
    )  # fmt: skip


def _none(path: Path) -> api.UnderhillError:
    return api.UnderhillError(
        api.Kind.BROKEN_FILE, say("{file} holds no chats that Underhill can read.", file=path.name),
        say("Choose a JSON file that Underhill has written, or the export of ChatGPT (conversations.json or its "
            "ZIP)."),
    )  # fmt: skip


def _texts(path: Path) -> Iterator[str]:
    """The file's, or those of the files that count in an archive."""
    if path.stat().st_size > LARGEST:
        raise ValueError("too large")
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            yield _text(file)
        return
    with zipfile.ZipFile(path) as archive:
        names = [i for i in archive.infolist() if Path(i.filename).name.startswith("conversations")
                 and i.filename.endswith(".json")]  # fmt: skip
        if not names or sum(i.file_size for i in names) > LARGEST:
            raise ValueError("no conversations.json")
        for i in names:
            with archive.open(i) as file:
                yield _text(file)


def _text(file: IO[bytes]) -> str:
    """Bit by bit, as `parsing` reads it."""
    with io.TextIOWrapper(file, encoding="utf-8-sig") as lines:
        return "".join(iter(partial(lines.read, _CHUNK), ""))


def _own(c: dict[str, Any]) -> Found:
    known: set[Any] = {None}
    messages = []
    for m in c["messages"]:
        if m["role"] not in ("user", "assistant", "system") or not isinstance(m["content"], str):
            raise ValueError("not a message")
        if m["parent"] not in known or m["id"] in known:
            raise ValueError("a child before its parent")
        known.add(m["id"])
        messages.append({
            "id": m["id"], "parent": m["parent"], "role": m["role"], "content": words(m["content"]),
            "finish": line(m.get("finish")), "stats": figures(m.get("stats")),
            "model": line(m.get("model")), "created_at": moment(m.get("created_at")),
            "attachments": tuple(Attachment(line(a["name"]), words(a["text"])) for a in m.get("attachments", ())),
        })  # fmt: skip
    if c.get("style"):
        style = Style(words(c["style"]["system"]), dict(c["style"]["sampling"]), tuple(map(words, c["style"]["stop"])))
        api.settings.validated(style.sampling, api.settings.SAMPLING)
    leaf = c.get("leaf") if isinstance(c.get("leaf"), int | str) else None
    return Found(line(c["title"]), messages, leaf, moment(c.get("updated_at")), line(c.get("folder")), c)
