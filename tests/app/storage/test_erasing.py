"""A message is taken out of a chat, and comes back as if it had never gone."""

from __future__ import annotations

import pytest

from app.storage import branches, search
from app.storage.records import StoredMessage, new_id
from app.storage.store import ChatStore
from tests.app.storage.conftest import talk


def texts(store: ChatStore, chat: int) -> list[str]:
    return [m.content for m in store.path(chat)]


@pytest.mark.parametrize("number", range(4))
def test_one_message_goes_what_follows_stays_and_undo_gives_it_back(store: ChatStore, number: int) -> None:
    said = ["Q1", "A1", "Q2", "A2"]
    chat, *ids = talk(store, "one", *said)
    before, tree = store.path(chat), store.tree(chat)
    erased = branches.delete_message(store, chat, ids[number])
    assert erased is not None
    assert texts(store, chat) == said[:number] + said[number + 1 :]
    branches.restore_messages(store, erased)
    assert store.path(chat) == before
    assert store.tree(chat) == tree


def test_a_chat_without_its_only_message_can_go_on(store: ChatStore) -> None:
    chat, only = talk(store, "one", "Q1")
    erased = branches.delete_message(store, chat, only)
    assert erased is not None
    assert texts(store, chat) == []
    store.add(StoredMessage(id=new_id(), chat_id=chat, parent_id=None, role="user", content="another"))
    assert texts(store, chat) == ["another"]


def test_versions_below_a_message_stay_versions(store: ChatStore) -> None:
    chat, _, answer, question = talk(store, "one", "Q1", "A1", "Q2")
    store.add(StoredMessage(id=new_id(), chat_id=chat, parent_id=answer, role="user", content="Q2 edited"))
    erased = branches.delete_message(store, chat, answer)
    assert erased is not None
    assert [(m.content, m.version, m.versions) for m in store.path(chat)] == [("Q1", 1, 1), ("Q2 edited", 2, 2)]
    branches.restore_messages(store, erased)
    store.select(chat, question)
    assert [(m.content, m.versions) for m in store.path(chat)] == [("Q1", 1), ("A1", 1), ("Q2", 2)]


def test_a_version_goes_with_what_followed_it_and_the_one_beside_it_is_open(store: ChatStore) -> None:
    chat, first, _ = talk(store, "one", "Q1", "A1")
    other = StoredMessage(id=new_id(), chat_id=chat, parent_id=first, role="assistant", content="A1 again")
    below = StoredMessage(id=new_id(), chat_id=chat, parent_id=other.id, role="user", content="Q2 below it")
    store.add(other, below)
    tree = store.tree(chat)
    erased = branches.delete_message(store, chat, other.id)
    assert erased is not None
    assert [m.content for m in erased.messages] == ["A1 again", "Q2 below it"]
    assert texts(store, chat) == ["Q1", "A1"]
    assert not search.find(store, "below it")
    branches.restore_messages(store, erased)
    assert texts(store, chat) == ["Q1", "A1 again", "Q2 below it"]
    assert store.tree(chat) == tree
    assert search.find(store, "below it")


def test_what_is_not_there_is_left_alone(store: ChatStore) -> None:
    chat, first = talk(store, "one", "Q1")
    erased = branches.delete_message(store, chat, first)
    assert erased is not None
    assert branches.delete_message(store, chat, first) is None
    store.db.execute("DELETE FROM chats WHERE id = ?", (chat,))
    branches.restore_messages(store, erased)
    assert store.tree(chat) == []


def test_what_came_meanwhile_stays_open_when_a_message_comes_back(store: ChatStore) -> None:
    chat, _, answer, question = talk(store, "one", "Q1", "A1", "Q2")
    erased = branches.delete_message(store, chat, answer)
    assert erased is not None
    store.add(StoredMessage(id=new_id(), chat_id=chat, parent_id=question, role="assistant", content="A2"))
    branches.restore_messages(store, erased)
    assert texts(store, chat) == ["Q1", "A1", "Q2", "A2"]
