"""Chats as files: JSON to take to another computer, and how a file is written."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from pathlib import Path
from typing import Any

from app.chats import folders
from app.chats.records import Chat, StoredMessage
from app.chats.store import ChatStore
from app.i18n.translate import tr
from app.transfer.found import FORMAT, VERSION

_DEVICE = re.compile(
    r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\s*(\.|$)", re.IGNORECASE
)  # names that Windows keeps to itself


def as_json(chats: list[tuple[Chat, str, list[StoredMessage]]]) -> str:
    """Chats with the names of their folders and all branches."""
    return json.dumps({"format": FORMAT, "version": VERSION, "chats": [_entry(*c) for c in chats]}, ensure_ascii=False,
                      indent=1)  # fmt: skip


def gathered(store: ChatStore, only: int | None = None) -> list[tuple[Chat, str, list[StoredMessage]]]:
    """All chats, or one, as `as_json` takes them."""
    names = {f.id: f.name for f in folders.listed(store)}
    return [
        (c, names.get(c.folder_id or 0, ""), store.tree(c.id)) for c in store.chats() if only is None or c.id == only
    ]


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all. Raises OSError."""
    partial = path.with_name(path.name + ".part")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def file_name(chat: Chat, kind: str) -> str:
    """A name for the file that every system takes."""
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
             "attachments": [dataclasses.asdict(a) for a in m.attachments], "created_at": m.created_at,
             "finish": m.finish, "stats": m.stats}
            for m in messages
        ],
    }  # fmt: skip
