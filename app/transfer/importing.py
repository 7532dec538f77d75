"""Chats from files: our own JSON, and the export of ChatGPT (conversations.json, or the archive it came in)."""

from __future__ import annotations

import json
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.chats import folders, rows
from app.chats.records import Attachment, Chat, StoredMessage, Style, new_id
from app.chats.store import ChatStore
from app.chats.titles import title_from
from app.language.words import say
from app.transfer.exporting import FORMAT
from engine import api

LARGEST = 2 << 30  # bytes


@dataclass(frozen=True)
class Found:
    """A chat of a file. messages: parents before their children, ids as the file has them. leaf: one of those ids."""

    title: str
    messages: list[dict[str, Any]]
    leaf: Any
    updated_at: float = 0.0
    folder: str = ""
    more: dict[str, Any] = field(default_factory=dict)


def read(path: Path) -> list[Found]:
    """The chats of a file. Raises UnderhillError, or OSError."""
    try:
        found = _chats(_json(path))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, zipfile.BadZipFile) as e:
        raise api.UnderhillError(
            api.Kind.BROKEN_FILE, say("{file} holds no chats that Underhill can read.", file=path.name),
            say("Choose a JSON file that Underhill has written, or the export of ChatGPT (conversations.json or its "
                "ZIP)."),
        ) from e  # fmt: skip
    return [chat for chat in found if chat.messages]


def add(store: ChatStore, found: list[Found]) -> int:
    """Write the chats, all of them or none. Returns how many."""
    made = {name: folders.make(store, name).id for name in {c.folder for c in found} if name}
    with store.transaction():
        for chat in found:
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
    return len(found)


def _message(m: dict[str, Any], ids: dict[Any, int], chat: int) -> StoredMessage:
    return StoredMessage(
        ids[m["id"]], chat, ids.get(m["parent"]), m["role"], m["content"], finish=m.get("finish", ""),
        stats=m.get("stats", {}), model=m.get("model", ""), created_at=float(m.get("created_at") or time.time()),
        attachments=tuple(Attachment(a["name"], a["text"]) for a in m.get("attachments", ())),
    )  # fmt: skip


def _json(path: Path) -> Any:
    if path.stat().st_size > LARGEST:
        raise ValueError("too large")
    if not zipfile.is_zipfile(path):
        return json.loads(path.read_text(encoding="utf-8-sig"))
    with zipfile.ZipFile(path) as archive:
        names = [i for i in archive.infolist() if Path(i.filename).name.startswith("conversations")
                 and i.filename.endswith(".json")]  # fmt: skip
        if not names or sum(i.file_size for i in names) > LARGEST:
            raise ValueError("no conversations.json")
        return [chat for i in names for chat in json.loads(archive.read(i))]


def _chats(data: Any) -> list[Found]:
    if isinstance(data, dict) and data.get("format") == FORMAT:
        return [_own(c) for c in data["chats"]]
    if isinstance(data, list) and all(isinstance(c["mapping"], dict) for c in data):
        return [_chatgpt(c) for c in data]
    raise ValueError("neither of the two")


def _own(c: dict[str, Any]) -> Found:
    known: set[Any] = {None}
    for m in c["messages"]:
        if m["role"] not in ("user", "assistant", "system") or not isinstance(m["content"], str):
            raise ValueError("not a message")
        if m["parent"] not in known:
            raise ValueError("a child before its parent")
        known.add(m["id"])
        [Attachment(a["name"], a["text"]) for a in m.get("attachments", ())]
    if c.get("style"):
        style = Style(c["style"]["system"], dict(c["style"]["sampling"]), tuple(c["style"]["stop"]))
        api.settings.validated(style.sampling, api.settings.SAMPLING)
    return Found(str(c["title"]), c["messages"], c.get("leaf"), float(c.get("updated_at") or 0), c.get("folder") or "",
                 c)  # fmt: skip


def _chatgpt(c: dict[str, Any]) -> Found:
    """What was said, with its branches; tools, pictures and hidden instructions are left out."""
    nodes: dict[str, Any] = c["mapping"]
    kept: dict[str, str | None] = {}  # node id: itself, or the nearest node above it that is kept
    messages: list[dict[str, Any]] = []
    waiting = [i for i, n in nodes.items() if n.get("parent") not in nodes][::-1]
    while waiting:
        i = waiting.pop()
        node = nodes[i]
        above = kept.get(node.get("parent") or "")
        role, text = _said(node.get("message"))
        kept[i] = i if text else above
        if text:
            stated = node["message"].get("metadata") or {}
            model = (stated.get("model_slug") or "ChatGPT") if role == "assistant" else ""
            at = node["message"].get("create_time") or c.get("create_time")
            messages.append({"id": i, "parent": above, "role": role, "content": text, "created_at": at, "model": model})
        waiting += [k for k in node.get("children", ())[::-1] if k in nodes and k not in kept]
    return Found(
        c.get("title") or "", messages, kept.get(c.get("current_node") or ""), float(c.get("update_time") or 0)
    )


def _said(message: dict[str, Any] | None) -> tuple[str, str]:
    """Role and text; no text for what is not part of the talk."""
    if not message or message["author"]["role"] not in ("user", "assistant"):
        return "", ""
    if (message.get("recipient") or "all") != "all":
        return "", ""
    content = message.get("content") or {}
    if content.get("content_type") not in ("text", "multimodal_text"):
        return "", ""
    return message["author"]["role"], "\n\n".join(p for p in content.get("parts", ()) if isinstance(p, str)).strip()
