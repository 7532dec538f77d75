"""A chat database, and a way to fill it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.storage.records import Chat, StoredMessage, new_id
from app.storage.store import ChatStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ChatStore]:
    made = ChatStore(tmp_path / "chats.db")
    yield made
    made.close()


def talk(store: ChatStore, title: str, *contents: str) -> list[int]:
    """A chat of these messages, turn by turn. Returns its id and theirs."""
    chat = Chat(new_id(), title)
    store.create(chat)
    ids: list[int] = []
    for number, content in enumerate(contents):
        role = "assistant" if number % 2 else "user"
        message = StoredMessage(new_id(), chat.id, ids[-1] if ids else None, role, content)
        store.add(message)
        ids.append(message.id)
    return [chat.id, *ids]
