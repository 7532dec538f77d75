"""From stored messages to what the model reads."""

from __future__ import annotations

from collections.abc import Sequence

from app.storage.records import DENIED, Attachment, StoredMessage, ToolUse
from engine import protocol

LONGEST_RESULT = 60_000  # characters; the engine cuts longer ones


def prompt_messages(
    messages: Sequence[StoredMessage], system: str = "", longest: int = LONGEST_RESULT
) -> tuple[protocol.Message, ...]:
    """What the model reads. Roles take turns, as chat templates demand: an answer that never came leaves two questions
    in a row, which become one. longest: characters of a tool's result.
    """
    read = [protocol.Message("system", system)] if system else []
    found = group_by_role(messages)
    if len(found) > 1 and found[0][0].role == "assistant":  # its question was deleted
        del found[0]
    for group in found:
        content, uses = "\n\n".join(map(as_read, group)), group[-1].tools
        content = protocol.with_calls(content, [protocol.ToolCall(u.called, u.arguments, u.ident) for u in uses])
        read.append(protocol.Message(group[0].role, content, group[0].token_ids if len(group) == 1 else ()))
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


def as_read(m: StoredMessage) -> str:
    """A message with the passages that were found for it and what is attached to it."""
    return protocol.with_passages(with_attachments(m.content, m.attachments), m.sources)


def with_attachments(content: str, attachments: Sequence[Attachment]) -> str:
    """A message with what is attached to it: each in a fence that nothing in it can close."""
    parts = [f"{a.name}:\n{protocol.fence(a.text)}" for a in attachments]
    return "\n\n".join([*parts, content] if content else parts)
