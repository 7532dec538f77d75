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
    chat = Chat(id=new_id(), title=title)
    store.create(chat)
    ids: list[int] = []
    for number, content in enumerate(contents):
        role = "assistant" if number % 2 else "user"
        message = StoredMessage(
            id=new_id(), chat_id=chat.id, parent_id=ids[-1] if ids else None, role=role, content=content
        )
        store.add(message)
        ids.append(message.id)
    return [chat.id, *ids]
