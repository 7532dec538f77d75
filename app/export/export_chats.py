"""Chats as files: JSON to take to another computer, Markdown to be read without Underhill."""

from __future__ import annotations

import base64
import dataclasses
import html
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any

from app.export.chat_file import FORMAT, VERSION, WITHOUT_IMAGES
from app.i18n.languages import moment
from app.i18n.translate import tr
from app.images.files import data_url
from app.markdown.split import thought_and_answer
from app.storage.records import Attachment, Chat, StoredMessage, attachment_entries
from app.storage.store import ChatStore
from app.transcript import notes
from app.transcript.steps import place_of
from app.transcript.tools import written
from engine import filesystem, protocol

IN_MEMORY = 8 << 20  # characters of images that are not put on the disk until they are written
_PIECE = 1 << 20  # characters
# names that Windows keeps to itself
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\s*(\.|$)", re.IGNORECASE)
_FENCE = re.compile(r"^ {0,3}(`{3,}(?!.*`)|~{3,})")  # ticks with others behind them are code within a line
_HEADING = re.compile(r"^ {0,3}#{1,6}(?=\s|$)")
_SIGNS = re.compile(r"([\\`*_\[\]<>|~$])")


def as_json(chats: Iterable[tuple[Chat, str, list[StoredMessage]]]) -> Iterator[str]:
    """JSON of chats with the names of their folders and all branches, piece by piece.

    Images stand behind the chats, each once; until then they are on the disk, as all may be more than memory holds.
    """
    with tempfile.SpooledTemporaryFile(IN_MEMORY, "w+", encoding="ascii") as spool:
        images: set[str] = set()
        between = ""
        yield f'{{"format": {json.dumps(FORMAT)}, "chats": ['
        for chat, folder, messages in chats:
            yield between + "\n" + json.dumps(_entry(chat, folder, messages), ensure_ascii=False, indent=1)
            between = ","
            for file in (a for m in messages for a in m.attachments if a.image and a.digest not in images):
                data = base64.b64encode(file.image).decode("ascii")
                spool.write(("," if images else "") + "\n" + json.dumps({"picture": file.digest, "data": data}))
                images.add(file.digest)
        yield '\n], "pictures": ['
        spool.seek(0)
        while piece := spool.read(_PIECE):
            yield piece
        yield f'\n], "version": {VERSION if images else WITHOUT_IMAGES}}}\n'


def gathered(store: ChatStore, only: int | None = None) -> Iterator[tuple[Chat, str, list[StoredMessage]]]:
    """Read all chats, or one, as `as_json` takes them; each when it is asked for."""
    names = {f.id: f.name for f in store.folders()}
    for chat in store.chats():
        if only is None or chat.id == only:
            yield chat, names.get(chat.folder_id or 0, ""), store.tree(chat.id)


def write(path: Path, pieces: Iterable[str]) -> None:
    """Write a file whole or not at all. Raises OSError."""
    partial = path.with_name(path.name + ".part")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        filesystem.replace(partial, path)
    except OSError:
        filesystem.remove(partial, missing_ok=True)
        raise


def file_name(chat: Chat, kind: str) -> str:
    """File name from a chat's title that every system takes."""
    plain = re.sub(r'[\\/:*?"<>|\x00-\x1f]+', " ", chat.title).strip(" .")
    name = " ".join(plain.split())[:60].strip(" .") or tr("Chat")
    return f"_{name}.{kind}" if _DEVICE.match(name) else f"{name}.{kind}"


def _entry(chat: Chat, folder: str, messages: list[StoredMessage]) -> dict[str, Any]:
    style = dataclasses.asdict(chat.style) if chat.style is not None else None
    return {
        "title": chat.title, "title_by_hand": chat.title_by_hand, "updated_at": chat.updated_at, "pinned": chat.pinned,
        "folder": folder, "style": style, "leaf": chat.leaf_id,
        "messages": [
            {"id": m.id, "parent": m.parent_id, "role": m.role, "content": m.content, "model": m.model,
             "attachments": attachment_entries(m.attachments), "created_at": m.created_at,
             "sources": [_source(source) for source in m.sources],
             "tools": [dataclasses.asdict(use) for use in m.tools],
             "finish": m.finish, "stats": m.stats}
            for m in messages
        ],
    }  # fmt: skip


def _source(source: protocol.Passage) -> dict[str, Any]:
    """A passage without the path of its file, which says something of this computer, and nothing on another."""
    return {name: value for name, value in dataclasses.asdict(source).items() if name != "file"}


def markdown(chat: Chat, messages: list[StoredMessage]) -> str:
    """Markdown of one branch: author and time of each message, with collapsible thoughts and attached files.

    Images stand in it themselves, as addresses at its end, where they are in nobody's way.
    """
    parts = [f"# {_plain(chat.title or tr('New chat'))}"]
    if chat.style is not None and chat.style.system:
        parts.append(f"**{tr('System prompt')}**")
        parts.append("> " + chat.style.system.replace("\n", "\n> "))
    numbers: dict[str, str] = {}  # of images, by their addresses
    for m in messages:
        who = tr("You") if m.role == "user" else _plain(m.model) or tr("Answer")
        parts.append(f"## {who}\n\n*{moment(datetime.fromtimestamp(m.created_at))}*")
        thought, answer = thought_and_answer(m.content) if m.role == "assistant" else ("", m.content)
        if thought:
            parts.append(_folded(tr("Thinking"), _lowered(thought)))
        seen = [a for a in m.attachments if a.image]
        parts += [f"![{_plain(a.name)}][{numbers.setdefault(data_url(a), f'image-{len(numbers) + 1}')}]" for a in seen]
        parts.append(_lowered(answer.strip("\n")))
        parts += [_folded(a.name, _fenced(a)) for a in m.attachments if not a.image]
        parts += [_folded(f"[{n}] {place_of(s)}", protocol.fence(s.text)) for n, s in enumerate(m.sources, 1)]
        parts += [_folded(f"{use.title}: {use.name}", protocol.fence(written(use))) for use in m.tools]
        parts += [f"*{_plain(note)}*" for note in (notes.after(m) if m.role == "assistant" else ())]
    parts += [f"[{number}]: {address}" for address, number in numbers.items()]
    return "\n\n".join(p for p in parts if p) + "\n"


def _plain(text: str) -> str:
    """Escape a line of text so that Markdown shows it as it is."""
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))


def _folded(head: str, inside: str) -> str:
    """Collapsible section; a reader that knows none shows it with its head."""
    return f"<details>\n<summary>{html.escape(' '.join(head.split()), quote=False)}</summary>\n\n{inside}\n\n</details>"


def _fenced(attachment: Attachment) -> str:
    """Fenced code block of a file, coloured by its ending."""
    kind = PurePath(attachment.name).suffix.lstrip(".").lower()
    code = kind if re.fullmatch(r"[a-z0-9+]{1,12}", kind) and kind != "pdf" else ""
    return protocol.fence(attachment.text.rstrip(), code)


def _lowered(text: str) -> str:
    """Lower headings below that of the message; code stays, and a fence left open is closed."""
    lines, fence = [], ""
    for line in text.split("\n"):
        ticks = _FENCE.match(line)
        if fence:
            if ticks and ticks[1][0] == fence[0] and len(ticks[1]) >= len(fence) and not line[ticks.end() :].strip():
                fence = ""
        elif ticks:
            fence = ticks[1]
        elif _HEADING.match(line):
            marks = line.lstrip()
            deep = len(marks) - len(marks.lstrip("#"))
            line = "#" * min(6, deep + 2) + marks[deep:]
        lines.append(line)
    return "\n".join([*lines, fence] if fence else lines)
