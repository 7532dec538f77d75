"""From stored messages to what the model reads."""

from __future__ import annotations

from collections.abc import Sequence

from app.storage.records import DENIED, Attachment, StoredMessage, ToolUse
from engine import protocol

LONGEST_RESULT = 60_000  # characters; the engine cuts longer ones


def prompt_messages(
    messages: Sequence[StoredMessage], system: str = "", longest: int = LONGEST_RESULT, *, images: bool = False
) -> tuple[protocol.Message, ...]:
    """What the model reads. Roles take turns, as chat templates demand: an answer that never came leaves two questions
    in a row, which become one. longest: characters of a tool's result. images: the model reads images; for others
    their names stand in the text.
    """
    read = [protocol.Message("system", system)] if system else []
    found = group_by_role(messages)
    if len(found) > 1 and found[0][0].role == "assistant":  # its question was deleted
        del found[0]
    for group in found:
        content, uses = "\n\n".join(filter(None, (as_read(m, images=images) for m in group))), group[-1].tools
        content = protocol.with_calls(content, [protocol.ToolCall(u.called, u.arguments, u.ident) for u in uses])
        seen = tuple(a.image for m in group for a in m.attachments if a.image) if images else ()
        tokens = group[0].token_ids if len(group) == 1 else ()
        read.append(protocol.Message(group[0].role, content, tokens, images=seen))
        read += [protocol.Message("tool", result(use, longest), answers=use.ident) for use in uses]
    return tuple(read)


def result(use: ToolUse, longest: int) -> str:
    """What the model reads of a call's result, in at most about so many characters."""
    if not use.settled:
        return "This call was interrupted. There is no result."
    if use.state == DENIED:
        return "The user did not allow this call."
    text = use.text or "(no output)"
    return text if len(text) <= longest else f"{text[:longest]}\n[cut: {len(text):,} characters]"


def group_by_role(messages: Sequence[StoredMessage]) -> list[list[StoredMessage]]:
    """The messages of each turn."""
    found: list[list[StoredMessage]] = []
    for m in messages:
        if m.role == "assistant" and not m.content and not m.tools:
            continue
        if found and m.role == found[-1][0].role and not found[-1][-1].tools:
            found[-1].append(m)
        else:
            found.append([m])
    return found


def first_read_message(messages: Sequence[StoredMessage]) -> int:
    """The message with which the model began to read for the last answer; 0 where that was the first."""
    last = next((i for i in range(len(messages) - 1, -1, -1) if messages[i].role == "assistant"), -1)
    dropped = int(messages[last].stats.get("dropped_turns", 0)) if last >= 0 else 0
    read = [group[0].id for group in group_by_role(messages[:last]) for _ in range(1 + len(group[-1].tools))]
    return read[dropped] if 0 < dropped < len(read) else 0


def as_read(m: StoredMessage, *, images: bool = True) -> str:
    """A message with the passages that were found for it and what is attached to it. images: as of prompt_messages."""
    named = "" if images else "\n".join(f"[image: {a.name}]" for a in m.attachments if a.image)
    content = "\n\n".join(filter(None, (named, m.content)))
    return protocol.with_passages(with_attachments(content, m.attachments), m.sources)


def with_attachments(content: str, attachments: Sequence[Attachment]) -> str:
    """A message with the texts that are attached to it: each in a fence that nothing in it can close."""
    parts = [f"{a.name}:\n{protocol.fence(a.text)}" for a in attachments if not a.image]
    return "\n\n".join([*parts, content] if content else parts)
