"""A conversation of ChatGPT's export: what was said, with its branches."""

from __future__ import annotations

import re
from typing import Any

from app.language.words import say
from app.transfer.found import Found, line, moment, words

_CITATION = re.compile("\ue200[^\ue200\ue201]*\ue201|[\ue200-\ue206]")  # marks that only ChatGPT can show


def read(c: dict[str, Any]) -> Found:
    """Tools and hidden instructions are left out; a picture leaves a note. Raises what odd data ends in."""
    nodes = {i: node for i, node in c["mapping"].items() if isinstance(node, dict)}
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
            model = line(stated.get("model_slug") or "ChatGPT") if role == "assistant" else ""
            at = moment(node["message"].get("create_time")) or moment(c.get("create_time"))
            messages.append({"id": i, "parent": above, "role": role, "content": text, "created_at": at, "model": model})
        waiting += [k for k in (node.get("children") or ())[::-1] if k in nodes and k not in kept]
    return Found(line(c.get("title")), messages, kept.get(c.get("current_node") or ""), moment(c.get("update_time")))


def _said(message: dict[str, Any] | None) -> tuple[str, str]:
    """Role and text; no text for what is not part of the talk."""
    role = ((message or {}).get("author") or {}).get("role")
    if message is None or role not in ("user", "assistant") or (message.get("recipient") or "all") != "all":
        return "", ""
    content = message.get("content") or {}
    if content.get("content_type") not in ("text", "multimodal_text"):
        return "", ""
    parts = [_part(p) for p in content.get("parts") or ()]
    return role, _CITATION.sub("", "\n\n".join(p for p in parts if p)).strip()


def _part(part: object) -> str:
    """A text, what was heard in a recording, or a note that there was a picture."""
    if isinstance(part, str):
        return words(part)
    kind = part.get("content_type") if isinstance(part, dict) else ""
    if isinstance(part, dict) and kind == "audio_transcription":
        return words(part.get("text") or "")
    return say("[picture]") if kind == "image_asset_pointer" else ""
