"""A chat as Markdown, to be read by somebody who has no Underhill."""

from __future__ import annotations

import html
import re
from datetime import datetime
from pathlib import PurePath

from app.chat.prompt_messages import fenced
from app.chats.records import Attachment, Chat, StoredMessage
from app.i18n.dates import moment
from app.i18n.translate import tr
from app.render.split import thought_and_answer
from app.transcript import notes

_FENCE = re.compile(r"^ {0,3}(`{3,}(?!.*`)|~{3,})")  # ticks with others behind them are code within a line
_HEADING = re.compile(r"^ {0,3}#{1,6}(?=\s|$)")
_SIGNS = re.compile(r"([\\`*_\[\]<>|~$])")


def markdown(chat: Chat, messages: list[StoredMessage]) -> str:
    """One branch of a chat: who said what and when, with thoughts and attached files to be unfolded."""
    parts = [f"# {_plain(chat.title or tr('New chat'))}"]
    if chat.style is not None and chat.style.system:
        parts.append(f"**{tr('System prompt')}**")
        parts.append("> " + chat.style.system.replace("\n", "\n> "))
    for m in messages:
        who = tr("You") if m.role == "user" else _plain(m.model) or tr("Answer")
        parts.append(f"## {who}\n\n*{moment(datetime.fromtimestamp(m.created_at))}*")
        thought, answer = thought_and_answer(m.content) if m.role == "assistant" else ("", m.content)
        if thought:
            parts.append(_folded(tr("Thought"), _lowered(thought)))
        parts.append(_lowered(answer.strip("\n")))
        parts += [_folded(a.name, _fenced(a)) for a in m.attachments]
        parts += [f"*{_plain(note)}*" for note in (notes.after(m) if m.role == "assistant" else ())]
    return "\n\n".join(p for p in parts if p) + "\n"


def _plain(text: str) -> str:
    """A line of text that Markdown shows as it is."""
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))


def _folded(head: str, inside: str) -> str:
    """What is unfolded by a click; where a reader knows no such thing, it stands there with its head."""
    return f"<details>\n<summary>{html.escape(' '.join(head.split()), quote=False)}</summary>\n\n{inside}\n\n</details>"


def _fenced(attachment: Attachment) -> str:
    """A file, coloured by its ending."""
    kind = PurePath(attachment.name).suffix.lstrip(".").lower()
    code = kind if re.fullmatch(r"[a-z0-9+]{1,12}", kind) and kind != "pdf" else ""
    return fenced(attachment.text.rstrip(), code)


def _lowered(text: str) -> str:
    """Its headings stand below that of the message; what is in a fence stays, and one left open is closed."""
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
