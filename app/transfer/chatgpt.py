"""A conversation of ChatGPT's export: what was said, with its branches."""

from __future__ import annotations

import re
from typing import Any

from app.transfer.found import line, moment, words

_CITATION = re.compile("\ue200[^\ue200\ue201]*\ue201|[\ue200-\ue206]")  # marks that only ChatGPT can show


def read(c: dict[str, Any], picture: str) -> dict[str, Any]:
    """The fields of Found. Tools and hidden instructions are left out; `picture` stands for a picture.

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
        role, text = _said(node.get("message"), picture)
        kept[i] = i if text else above
        if text:
            stated = node["message"].get("metadata") or {}
            model = line(stated.get("model_slug") or "ChatGPT") if role == "assistant" else ""
            at = moment(node["message"].get("create_time")) or moment(c.get("create_time"))
            messages.append({"id": i, "parent": above, "role": role, "content": text, "created_at": at, "model": model})
        waiting += below[i][::-1]
    leaf = kept.get(c.get("current_node") or "")
    return {
        "title": line(c.get("title")),
        "messages": messages,
        "leaf": leaf,
        "updated_at": moment(c.get("update_time")),
    }


def _tree(nodes: dict[str, dict[str, Any]]) -> tuple[dict[str, str | None], dict[str, list[str]]]:
    """By node: its parent, as it says itself or as another says it; and its children, in the order that it says."""
    named = {i: [k for k in node.get("children") or () if k in nodes] for i, node in nodes.items()}
    stated = {k: i for i, children in named.items() for k in children}
    parents = {i: above if (above := node.get("parent")) in nodes else stated.get(i) for i, node in nodes.items()}
    below: dict[str, dict[str, None]] = {i: {} for i in nodes}  # in order, and each once: siblings may be thousands
    for i in (*(k for children in named.values() for k in dict.fromkeys(children)), *nodes):
        above = parents[i]
        if above is not None:
            below[above].setdefault(i)
    return parents, {i: [*children] for i, children in below.items()}


def _said(message: dict[str, Any] | None, picture: str) -> tuple[str, str]:
    """Role and text; no text for what is not part of the talk."""
    role = ((message or {}).get("author") or {}).get("role")
    if message is None or role not in ("user", "assistant") or (message.get("recipient") or "all") != "all":
        return "", ""
    content = message.get("content") or {}
    if content.get("content_type") not in ("text", "multimodal_text"):
        return "", ""
    parts = [_part(p, picture) for p in content.get("parts") or ()]
    return role, _CITATION.sub("", "\n\n".join(p for p in parts if p)).strip()


def _part(part: object, picture: str) -> str:
    """A text, what was heard in a recording, or what stands for a picture."""
    if isinstance(part, str):
        return words(part)
    kind = part.get("content_type") if isinstance(part, dict) else ""
    if isinstance(part, dict) and kind == "audio_transcription":
        return words(part.get("text") or "")
    return picture if kind == "image_asset_pointer" else ""
