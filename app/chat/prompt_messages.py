"""From stored messages to what the model reads."""

from __future__ import annotations

from collections.abc import Sequence

from app.storage.records import Attachment, StoredMessage
from engine import protocol


def prompt_messages(messages: Sequence[StoredMessage], system: str = "") -> tuple[protocol.Message, ...]:
    """What the model reads. Roles take turns, as chat templates demand: an answer that never came leaves two questions
    in a row, which become one.
    """
    read = [protocol.Message("system", system)] if system else []
    found = group_by_role(messages)
    if len(found) > 1 and found[0][0].role == "assistant":  # its question was deleted
        del found[0]
    for group in found:
        content = "\n\n".join(map(as_read, group))
        read.append(protocol.Message(group[0].role, content, group[0].token_ids if len(group) == 1 else ()))
    return tuple(read)


def group_by_role(messages: Sequence[StoredMessage]) -> list[list[StoredMessage]]:
    """The messages of each turn."""
    found: list[list[StoredMessage]] = []
    for m in messages:
        if m.role == "assistant" and not m.content:
            continue
        if found and m.role == found[-1][0].role:
            found[-1].append(m)
        else:
            found.append([m])
    return found


def first_read_message(messages: Sequence[StoredMessage]) -> int:
    """The message with which the model began to read for the last answer; 0 where that was the first."""
    last = next((i for i in range(len(messages) - 1, -1, -1) if messages[i].role == "assistant"), -1)
    dropped = int(messages[last].stats.get("dropped_turns", 0)) if last >= 0 else 0
    found = group_by_role(messages[:last]) if dropped else []
    return found[dropped][0].id if 0 < dropped < len(found) else 0


def as_read(m: StoredMessage) -> str:
    """A message with the passages that were found for it and what is attached to it."""
    return protocol.with_passages(with_attachments(m.content, m.attachments), m.sources)


def with_attachments(content: str, attachments: Sequence[Attachment]) -> str:
    """A message with what is attached to it: each in a fence that nothing in it can close."""
    parts = [f"{a.name}:\n{protocol.fence(a.text)}" for a in attachments]
    return "\n\n".join([*parts, content] if content else parts)
