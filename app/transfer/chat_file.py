"""Chats of a file: our own JSON, or ChatGPT's export. Runs in a process of its own, and sends them one by one."""

from __future__ import annotations

import errno
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from app.transfer import chatgpt, parsing
from app.transfer.found import FORMAT, VERSION, figures, line, moment, words
from engine import api, regular_file

LARGEST = 2 << 30  # bytes, of the file and of what is packed in it
CHAT, UNREAD, LATER, NONE, LONG = "chat", "unread", "later", "none", "long"
_ODD = (ValueError, KeyError, TypeError, AttributeError, RecursionError)  # what reading something else ends in
_LOCKED = (
    zipfile.BadZipFile,
    RuntimeError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
)  # and of archives: also encrypted ones


def chats(path: str, picture: str) -> Iterator[list[Any]]:
    """[CHAT, its fields] for each; at the end [UNREAD, how many more it holds that are not as they should be], or why
    there is nothing to be had from the file: [LATER], [LONG] or [NONE, why]. picture: stands where a picture was.
    """
    odd, ours, some = 0, False, False
    stated: dict[str, Any] = {}  # of our own file, beside its chats
    try:
        for name, value in _parts(Path(path)):
            if name not in ("", "chats"):
                stated[name] = value
                continue
            ours = bool(name)
            try:
                chat = _own(value) if name else chatgpt.read(value, picture)
            except (*_ODD, api.UnderhillError):
                odd += 1
                continue
            if chat["messages"]:
                some = True
                yield [CHAT, chat]
        later = stated.get("version", VERSION) > VERSION
    except parsing.ElementTooLong:
        yield [LONG]
        return
    except (*_ODD, *_LOCKED) as e:
        yield [NONE, f"{type(e).__name__}: {e}"[:1000]]
        return
    except OSError as e:
        if e.errno != errno.EINVAL:  # a place in the file that cannot be, as a damaged archive names it
            raise
        yield [NONE, "a damaged archive"]
        return
    if stated.get("format") == FORMAT and later:
        yield [LATER]
    elif not some or (ours and stated.get("format") != FORMAT):
        yield [NONE, "no chats"]
    else:
        yield [UNREAD, odd]


def _parts(path: Path) -> Iterator[tuple[str, Any]]:
    """Of the file, or of the files that count in an archive."""
    with regular_file.open_regular(path, LARGEST) as file:
        if not zipfile.is_zipfile(file):
            file.seek(0)
            with _text(file, LARGEST) as text:
                yield from parsing.parts(text)
            return
        with zipfile.ZipFile(file) as archive:
            names = [i for i in archive.infolist() if Path(i.filename).name.startswith("conversations")
                     and i.filename.endswith(".json")]  # fmt: skip
            if not names or sum(i.file_size for i in names) > LARGEST:
                raise ValueError("no conversations.json")
            left = LARGEST
            for i in names:
                with archive.open(i) as member, _text(member, left) as text:
                    yield from parsing.parts(text)
                left -= i.file_size


@contextmanager
def _text(file: IO[bytes], max_bytes: int) -> Iterator[IO[str]]:
    with io.TextIOWrapper(io.BufferedReader(_Bounded(file, max_bytes)), encoding="utf-8-sig") as text:
        yield text


class _Bounded(io.RawIOBase):
    """A file that ends in an error when it gives more than it said it would."""

    def __init__(self, file: IO[bytes], max_bytes: int) -> None:
        self._file, self._left = file, max_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        data = self._file.read(len(into))
        self._left -= len(data)
        if self._left < 0:
            raise ValueError("too large")
        into[: len(data)] = data
        return len(data)


def _own(c: dict[str, Any]) -> dict[str, Any]:
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
            "attachments": [[line(a["name"]), words(a["text"])] for a in m.get("attachments", ())],
        })  # fmt: skip
    style = c.get("style")
    if style:
        style = {
            "system": words(style["system"]),
            "sampling": api.settings.validated(dict(style["sampling"]), api.settings.SAMPLING) and style["sampling"],
            "stop": [words(stop) for stop in style["stop"]],
        }
    leaf = c.get("leaf") if isinstance(c.get("leaf"), int | str) else None
    return {
        "title": line(c["title"]), "messages": messages, "leaf": leaf, "updated_at": moment(c.get("updated_at")),
        "folder": line(c.get("folder")), "style": style or None, "title_by_hand": bool(c.get("title_by_hand")),
        "pinned": bool(c.get("pinned")),
    }  # fmt: skip
