"""A title for a chat, from its first message."""

from __future__ import annotations

import re

from app.i18n.translate import tr

_LONGEST = 48
_NUMBER = re.compile(r" \(\d+\)$")  # of a chat that began as a copy of another
_BLOCK = re.compile(r"^\s*(?:(?:#{1,6}(?=\s|$)|>|[-+*](?=\s))\s*)+")  # heading, quotation, list
_INLINE = re.compile(r"`+|~{3,}|(?<!\w)[*_~]+(?=\S)|(?<=\S)[*_~]+(?!\w)")  # code, and what stands around stressed words


def title_from(text: str) -> str:
    """Title from the first line that says something, without Markdown signs, cut at a word; never empty."""
    for line in text.splitlines():
        plain = _INLINE.sub("", _BLOCK.sub("", line))
        plain = " ".join(plain.split()).strip(" -:")
        if plain:
            return _cut(plain)
    return tr("New chat")


def numbered(title: str) -> tuple[str, str]:
    """Split a title into text and number: 'Sourdough', ' (2)'. ('Sourdough', '') where it has none."""
    found = _NUMBER.search(title)
    return (title[: found.start()], found.group()) if found else (title, "")


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    head = text[:_LONGEST]
    space = head.rfind(" ")
    return (head[:space] if space > _LONGEST // 2 else head).rstrip(" ,.;:") + "…"
