"""Parser of chat files: our own JSON and ChatGPT's export. Runs in a sandboxed process and yields chats one by one.

The JSON is parsed as a stream, so that one chat is in memory at a time, however long the file is.
"""

from __future__ import annotations

import base64
import errno
import io
import json
import lzma
import re
import time
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from engine import protocol, regular_file
from engine.translatable import from_json

CHUNK = 1 << 20  # characters read at a time, at least
MAX_ELEMENT = 32 << 20  # characters of one chat; the longest that people have take a few million
_LONGEST_WORD = 16  # characters: an error nearer to the end of the text may be only that the rest is not read yet
_decode_json = json.JSONDecoder().raw_decode
_WHITE_SPACE = re.compile(r"[ \t\n\r]*")
FORMAT = "underhill-chats"  # what our own files say they are
VERSION = 2  # of FORMAT: a file of a later one is refused, with the advice to install a newer Underhill
WITHOUT_IMAGES = 1  # the version of a file that has none, which an older Underhill reads, too
_DAY = 86400.0  # seconds: clocks of other time zones and wrong clocks may be ahead by that much
_ENDLESS = 1e18  # more than any figure
_CITATION = re.compile("\ue200[^\ue200\ue201]*\ue201|[\ue200-\ue206]")  # marks that only ChatGPT can show
LARGEST = 2 << 30  # bytes, of the file and of what is packed in it
CHAT, IMAGE, UNREAD, LATER, NONE, LONG = "chat", "image", "unread", "later", "none", "long"
_ODD = (ValueError, KeyError, TypeError, AttributeError, RecursionError)  # what reading something else ends in
_LOCKED = (zipfile.BadZipFile, RuntimeError, EOFError, zlib.error, lzma.LZMAError)  # and of archives: also encrypted


class ElementTooLong(ValueError):
    """An element is longer than the limit."""


def json_parts(source: IO[str]) -> Iterator[tuple[str, Any]]:
    """('', element) for each element of a list; (name, value) for each member of an object, and where that is a list
    (name, element) for each of its elements. Each is read when it is asked for. Raises ValueError, RecursionError.
    """
    text = _Window(source)
    if text.sees("["):
        yield from _elements(text, "")
    else:
        yield from _members(text)
    if text.more():
        raise ValueError("more than one value")


def _members(text: _Window) -> Generator[tuple[str, Any]]:
    text.take("{")
    while not text.sees("}"):
        name = text.value()
        if not isinstance(name, str):
            raise ValueError("a member without a name")
        text.take(":")
        if text.sees("["):
            yield from _elements(text, name)
        else:
            yield name, text.value()
        _skip_comma(text, "}")
    text.take("}")


def _elements(text: _Window, name: str) -> Generator[tuple[str, Any]]:
    text.take("[")
    while not text.sees("]"):
        yield name, text.value()
        _skip_comma(text, "]")
    text.take("]")


def _skip_comma(text: _Window, end: str) -> None:
    """Skip to the next element, or to the end."""
    if not text.sees(end):
        text.take(",")
        if text.sees(end):
            raise ValueError("nothing behind a comma")


class _Window:
    """Part of a text that is in memory. Every call first skips white space."""

    def __init__(self, source: IO[str]) -> None:
        self._source, self._text, self._at, self._ended = source, "", 0, False

    def more(self) -> bool:
        """Whether anything but white space is left."""
        while True:
            found = _WHITE_SPACE.match(self._text, self._at)
            assert found is not None
            self._at = found.end()
            if self._at < len(self._text):
                return True
            if not self._read(CHUNK):
                return False

    def sees(self, sign: str) -> bool:
        """Whether this sign comes next."""
        return self.more() and self._text[self._at] == sign

    def take(self, sign: str) -> None:
        """Skip this sign."""
        if not self.sees(sign):
            raise ValueError(f"no {sign}")
        self._at += 1

    def value(self) -> Any:
        """Read one value. What ends too early is tried again with twice the text, so that all tries together cost
        twice the last; a number at the end of the text may go on, too."""
        self.more()
        while True:
            long = len(self._text) - self._at
            try:
                value, end = _decode_json(self._text, self._at)
                if end < len(self._text) or self._ended:
                    self._at = end
                    return value
            except json.JSONDecodeError as e:
                cut = e.pos > len(self._text) - _LONGEST_WORD or e.msg.startswith("Unterminated")
                if self._ended or not cut:
                    raise
            if long > MAX_ELEMENT:
                raise ElementTooLong(f"more than {MAX_ELEMENT} characters")
            self._read(max(CHUNK, long))

    def _read(self, count: int) -> bool:
        new = self._source.read(count)
        self._ended = len(new) < count
        self._text, self._at = self._text[self._at :] + new, 0
        return bool(new)


@dataclass(frozen=True, kw_only=True)
class ImportedChat:
    """A chat of a file. messages: parents before their children, ids as the file has them. leaf: one of those ids.

    messages have at least id, parent, role, content, model and created_at (0: not known). updated_at: likewise. style:
    as `Style` has it, checked.
    """

    title: str
    messages: list[dict[str, Any]]
    leaf: Any
    updated_at: float = 0.0
    folder: str = ""
    style: dict[str, Any] | None = None
    title_by_hand: bool = False
    pinned: bool = False


def clean_text(text: object) -> str:
    """Text that a database can keep: lone surrogates become question marks. Raises TypeError."""
    if not isinstance(text, str):
        raise TypeError("not a text")
    return text.encode("utf-8", "replace").decode("utf-8")


def one_line(text: object) -> str:
    """A name or title on one line; '' for none."""
    return " ".join(clean_text(text if isinstance(text, str) else "" if text is None else str(text)).split())


def checked_stats(stats: object) -> dict[str, Any]:
    """Statistics of an answer, without values that the window could not show."""
    if not isinstance(stats, dict):
        return {}
    return {name: value for name, value in stats.items() if name not in _FIGURES or _FIGURES[name](value)}


def _amount(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value < _ENDLESS


def _amounts(value: object) -> bool:
    return isinstance(value, dict) and all(map(_amount, value.values()))


def timestamp(at: object) -> float:
    """Seconds since 1970 as a file says them; 0 for what is no time, or one in the future."""
    if isinstance(at, bool) or not isinstance(at, int | float):
        return 0.0
    return float(at) if 0 < at < time.time() + _DAY else 0.0


def _is_text(value: object) -> bool:
    with suppress(ValueError, RecursionError):
        return from_json(value) is not None
    return False


def _are_steps(value: object) -> bool:
    """Steps of a team, as messages.StepReport has them."""
    return isinstance(value, list) and len(value) <= _STEPS and all(
        isinstance(step, dict)
        and all(isinstance(step.get(name), str) for name in ("name", "model", "state", "text"))
        and _amount(step.get("seconds")) and isinstance(step.get("note"), bool)
        for step in value
    )  # fmt: skip


_STEPS = 100  # of a team; more than any has
_FIGURES: dict[str, Callable[[object], bool]] = {
    **dict.fromkeys(
        ("prompt_tokens", "reused_tokens", "dropped_turns", "images_left_out", "prompt_seconds", "decode_seconds",
         "hits", "misses", "bytes_read", "peak_rss", "thinking_seconds", "drafted", "accepted", "substituted"),
        _amount,
    ),
    "precision": _amounts,
    "why": _is_text,
    "steps": _are_steps,
}  # fmt: skip


def read_chatgpt(c: dict[str, Any], image: str) -> dict[str, Any]:
    """Parse a conversation of ChatGPT's export, without tools and hidden instructions. image: stands for one.

    Raises what odd data ends in.
    """
    nodes = {i: node for i, node in c["mapping"].items() if isinstance(node, dict)}
    parents, below = _tree(nodes)
    kept: dict[str, str | None] = {}  # node id: itself, or the nearest node above it that is kept
    messages: list[dict[str, Any]] = []
    waiting = [*nodes][::-1] + [i for i in nodes if parents[i] is None][::-1]  # what is above itself comes last
    while waiting:
        i = waiting.pop()
        if i in kept:
            continue
        node = nodes[i]
        above = kept.get(parents[i] or "")
        role, text = _said(node.get("message"), image)
        kept[i] = i if text else above
        if text:
            stated = node["message"].get("metadata") or {}
            model = one_line(stated.get("model_slug") or "ChatGPT") if role == "assistant" else ""
            at = timestamp(node["message"].get("create_time")) or timestamp(c.get("create_time"))
            messages.append({"id": i, "parent": above, "role": role, "content": text, "created_at": at, "model": model})
        waiting += below[i][::-1]
    leaf = kept.get(c.get("current_node") or "")
    return {
        "title": one_line(c.get("title")),
        "messages": messages,
        "leaf": leaf,
        "updated_at": timestamp(c.get("update_time")),
    }


def _tree(nodes: dict[str, dict[str, Any]]) -> tuple[dict[str, str | None], dict[str, list[str]]]:
    """Parents and children by node. A parent is as the node says, or as another says; children keep their order."""
    named = {i: [k for k in node.get("children") or () if k in nodes] for i, node in nodes.items()}
    stated = {k: i for i, children in named.items() for k in children}
    parents = {i: above if (above := node.get("parent")) in nodes else stated.get(i) for i, node in nodes.items()}
    below: dict[str, dict[str, None]] = {i: {} for i in nodes}  # in order, and each once: siblings may be thousands
    for i in (*(k for children in named.values() for k in dict.fromkeys(children)), *nodes):
        above = parents[i]
        if above is not None:
            below[above].setdefault(i)
    return parents, {i: [*children] for i, children in below.items()}


def _said(message: dict[str, Any] | None, image: str) -> tuple[str, str]:
    """Role and text of a message; no text for what is not part of the talk."""
    role = ((message or {}).get("author") or {}).get("role")
    if message is None or role not in ("user", "assistant") or (message.get("recipient") or "all") != "all":
        return "", ""
    content = message.get("content") or {}
    if content.get("content_type") not in ("text", "multimodal_text"):
        return "", ""
    parts = [_part(p, image) for p in content.get("parts") or ()]
    return role, _CITATION.sub("", "\n\n".join(p for p in parts if p)).strip()


def _part(part: object, image: str) -> str:
    """Text of a part: typed, transcribed from a recording, or what stands for an image."""
    if isinstance(part, str):
        return clean_text(part)
    kind = part.get("content_type") if isinstance(part, dict) else ""
    if isinstance(part, dict) and kind == "audio_transcription":
        return clean_text(part.get("text") or "")
    return image if kind == "image_asset_pointer" else ""


def chats(path: str, image: str) -> Iterator[list[Any]]:
    """[CHAT, its fields] for each, and of our own file [IMAGE, its name, base64] for each; at the end [UNREAD, how
    many more chats it holds that are not as they should be], or why there is nothing to be had from the file: [LATER],
    [LONG] or [NONE, why]. image: stands where ChatGPT had an image.
    """
    odd, ours, some = 0, False, False
    stated: dict[str, Any] = {}  # of our own file, beside its chats
    try:
        for name, value in _parts(Path(path)):
            if name == "pictures":
                if (found := _image(value)) is not None:
                    yield [IMAGE, *found]
                continue
            if name not in ("", "chats"):
                stated[name] = value
                continue
            ours = bool(name)
            try:
                chat = _own(value) if name else read_chatgpt(value, image)
            except (*_ODD, protocol.UnderhillError):
                odd += 1
                continue
            if chat["messages"]:
                some = True
                yield [CHAT, chat]
        later = stated.get("version", VERSION) > VERSION
    except ElementTooLong:
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
    """Parts of the file, or of the files that count in an archive."""
    with regular_file.open_regular(path, LARGEST) as file:
        if not zipfile.is_zipfile(file):
            file.seek(0)
            with _text(file, LARGEST) as text:
                yield from json_parts(text)
            return
        with zipfile.ZipFile(file) as archive:
            names = [i for i in archive.infolist() if Path(i.filename).name.startswith("conversations")
                     and i.filename.endswith(".json")]  # fmt: skip
            if not names or sum(i.file_size for i in names) > LARGEST:
                raise ValueError("no conversations.json")
            left = LARGEST
            for i in names:
                with archive.open(i) as member, _text(member, left) as text:
                    yield from json_parts(text)
                left -= i.file_size


@contextmanager
def _text(file: IO[bytes], max_bytes: int) -> Iterator[IO[str]]:
    with io.TextIOWrapper(io.BufferedReader(_Bounded(file, max_bytes)), encoding="utf-8-sig") as text:
        yield text


class _Bounded(io.RawIOBase):
    """File that raises an error when it gives more than it said it would."""

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


def _image(value: Any) -> tuple[str, str] | None:
    """What its chats call an image, and its file in base64; None of one that cannot be read."""
    from app.images import encode  # Qt's decoders, which most files need not

    with suppress(*_ODD):  # one that is damaged is such a ValueError, too
        return one_line(value["picture"]), base64.b64encode(
            encode.checked(base64.b64decode(value["data"], validate=True))
        ).decode("ascii")
    return None


def _source(found: dict[str, Any]) -> dict[str, Any]:
    """Passage of a document, as protocol.Passage has it; without its file, which is on another computer."""
    numbers = {name: int(found[name]) for name in ("page", "line", "last_line")}
    if not all(0 <= number < 1 << 31 for number in numbers.values()):
        raise ValueError("no place in a document")
    texts = {name: one_line(found[name]) for name in ("name", "heading")}
    return {"file": "", **texts, **numbers, "text": clean_text(found["text"])}


def _tool(found: dict[str, Any]) -> dict[str, Any]:
    """Call of a tool, as records.ToolUse has it. Its server is on another computer: nothing here is called for it."""
    seconds, arguments = found["seconds"], found["arguments"]
    if not _amount(seconds) or not isinstance(arguments, dict):
        raise ValueError("no call of a tool")
    texts = {name: one_line(found[name]) for name in ("title", "name", "called", "ident", "host")}
    ended = found["state"] in ("done", "failed", "denied")
    return {
        "server": "", **texts, "arguments": arguments, "state": found["state"] if ended else "stopped",
        "text": clean_text(found["text"]), "seconds": float(seconds),
    }  # fmt: skip


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
            "id": m["id"], "parent": m["parent"], "role": m["role"], "content": clean_text(m["content"]),
            "finish": one_line(m.get("finish")), "stats": checked_stats(m.get("stats")),
            "model": one_line(m.get("model")), "created_at": timestamp(m.get("created_at")),
            "attachments": [
                {"name": one_line(a["name"]), "text": clean_text(a["text"]), "picture": one_line(a.get("picture"))}
                for a in m.get("attachments", ())
            ],
            "sources": [_source(s) for s in m.get("sources", ())],
            "tools": [_tool(use) for use in m.get("tools", ())],
        })  # fmt: skip
    style = c.get("style")
    if style:
        style = {
            "system": clean_text(style["system"]),
            "sampling": protocol.settings.validated(dict(style["sampling"]), protocol.settings.SAMPLING)
            and style["sampling"],
            "stop": [clean_text(stop) for stop in style["stop"]],
        }
    leaf = c.get("leaf") if isinstance(c.get("leaf"), int | str) else None
    return {
        "title": one_line(c["title"]), "messages": messages, "leaf": leaf, "updated_at": timestamp(c.get("updated_at")),
        "folder": one_line(c.get("folder")), "style": style or None, "title_by_hand": bool(c.get("title_by_hand")),
        "pinned": bool(c.get("pinned")),
    }  # fmt: skip
