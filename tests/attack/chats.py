"""Chats to import that are none: exports with loops, archives that unpack without end, JSON that no exporter writes.

A chat is waited for 5 seconds instead of 60, so that a wait is told from a hang.
"""

from __future__ import annotations

import io
import json
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

from app.export import import_chats
from app.export.chat_file import FORMAT, VERSION
from tests.attack.case import Case
from tests.attack.given import JSON, changed, put, spoiled

OURS = {"format": FORMAT, "version": VERSION, "chats": [{"title": "A", "messages": [
    {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]}]}  # fmt: skip


def cases() -> list[Case]:
    found = [Case(f"json: {what}", partial(_read, text), True) for what, text in JSON.items()]
    found += [Case(f"packed: {what}", partial(_read, _zip(text)), True) for what, text in JSON.items()]
    found += [Case(f"ours: {what}", partial(_value, one), True) for what, one in changed(OURS, 13, 40)]
    found += [Case(f"theirs: {what}", partial(_value, one), True) for what, one in changed(_theirs(_line(3)), 14, 40)]
    found += [Case(f"theirs: {what}", partial(_value, _theirs(nodes)), True) for what, nodes in _shapes().items()]
    found += [Case(f"archive: {kind}", partial(_read, data), True) for kind, data in spoiled(_zip(b"[]" * 99), 24, 15)]
    found.append(Case("an archive that unpacks to 256 MB of nothing", _bomb))
    found.append(Case("an archive of 100,000 files", _crowd))
    return found


def _node(name: str, parent: str | None, children: list[str], text: str = "x") -> dict[str, Any]:
    said = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [text]}, "create_time": 1.0}
    return {"id": name, "message": said, "parent": parent, "children": children}


def _line(count: int) -> dict[str, Any]:
    return {
        str(n): _node(str(n), str(n - 1) if n else None, [str(n + 1)] if n + 1 < count else []) for n in range(count)
    }


def _shapes() -> dict[str, dict[str, Any]]:
    return {
        "a circle": {"a": _node("a", "b", ["b"]), "b": _node("b", "a", ["a"])},
        "its own child": {"a": _node("a", None, ["a"])},
        "children that are not there": {"a": _node("a", None, ["b", "c"])},
        "20,000 one after the other": _line(20_000),
        "5,000 beside each other": {"r": _node("r", None, [str(n) for n in range(5000)])}
        | {str(n): _node(str(n), "r", []) for n in range(5000)},
        "two parents": {"a": _node("a", None, ["c"]), "b": _node("b", None, ["c"]), "c": _node("c", "a", [])},
    }


def _theirs(nodes: dict[str, Any]) -> list[Any]:
    return [{"title": "A", "create_time": 1.0, "update_time": 2.0, "mapping": nodes, "current_node": list(nodes)[-1]}]


def _zip(text: bytes, count: int = 1) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", text)
        for number in range(1, count):
            archive.writestr(f"f{number}", b"")
    return packed.getvalue()


def _read(data: bytes, folder: Path) -> None:
    import_chats.CHAT_SECONDS = 5.0
    put(folder / "conversations.json", data).chmod(0o600)
    with import_chats.read(folder / "conversations.json") as contents:
        list(contents)


def _value(value: Any, folder: Path) -> None:
    _read(json.dumps(value).encode(), folder)


def _bomb(folder: Path) -> None:
    _read(_zip(b"[" + b" " * (256 << 20)), folder)


def _crowd(folder: Path) -> None:
    _read(_zip(b"[]", 100_000), folder)
