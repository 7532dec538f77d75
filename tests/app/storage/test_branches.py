"""Branches and what waits in a chat, as they are kept."""

from __future__ import annotations

import sqlite3

import pytest

from app.storage import branches, search
from app.storage.records import Attachment, QueuedMessage, StoredMessage, new_id
from app.storage.store import ChatStore
from tests.app.storage.conftest import talk


def test_a_branch_is_a_copy_up_to_a_message(store: ChatStore) -> None:
    chat, first, answer, second, _ = talk(store, "one", "Q1", "A1", "Q2", "A2")
    other = StoredMessage(
        id=new_id(),
        chat_id=chat,
        parent_id=first,
        role="assistant",
        content="another",
        attachments=(Attachment("a.txt", "text"),),
    )
    store.add(other)
    made = branches.copy_branch(store, chat, answer)
    assert made is not None
    assert [(m.content, m.chat_id, m.versions) for m in store.path(made.id)] == [
        ("Q1", made.id, 1), ("A1", made.id, 1),
    ]  # fmt: skip
    assert [m.content for m in store.path(chat)] == ["Q1", "another"]  # the old one is as it was
    again = branches.copy_branch(store, chat, other.id)
    assert again is not None
    assert (made.title, again.title) == ("one (2)", "one (3)")
    further = branches.copy_branch(store, again.id, store.path(again.id)[-1].id)
    assert further is not None
    assert further.title == "one (4)"
    assert store.path(again.id)[1].attachments == (Attachment("a.txt", "text"),)
    assert second


def test_a_message_on_another_branch_is_opened_with_its_branch(store: ChatStore) -> None:
    chat, first, answer, *_ = talk(store, "one", "Q1", "A1", "Q2")
    store.add(StoredMessage(id=new_id(), chat_id=chat, parent_id=first, role="assistant", content="another"))
    found = branches.read_at(store, chat, answer)
    assert found is not None
    assert [m.content for m in found[1]] == ["Q1", "A1", "Q2"]
    assert found[0].place is not None
    assert found[0].place.message_id == answer


def test_what_waits_is_kept(store: ChatStore) -> None:
    chat, *_ = talk(store, "one", "Q1")
    queue = (QueuedMessage("next"), QueuedMessage("", (Attachment("a.txt", "text"),)))
    store.set_field(chat, "queue", queue)
    found = store.chat(chat)
    assert found is not None
    assert found.queue == queue


def test_a_branch_at_an_answer_on_its_way_has_what_there_is_of_it(store: ChatStore) -> None:
    chat, question = talk(store, "one", "Q1")
    store.add(
        answer := StoredMessage(
            id=new_id(), chat_id=chat, parent_id=question, role="assistant", content="so far", state="streaming"
        )
    )
    made = branches.copy_branch(store, chat, answer.id)
    assert made is not None
    assert [(m.content, m.state) for m in store.path(made.id)] == [("Q1", "whole"), ("so far", "cut")]
    assert store.path(made.id)[-1].unfinished
    assert len(search.find(store, "so far")) == 1


def test_what_has_waited_is_sent_or_waits_whenever_the_process_is_killed(store: ChatStore) -> None:
    chat, last = talk(store, "one", "Q1")
    store.set_field(chat, "queue", (QueuedMessage("Q2"), QueuedMessage("Q3")))
    second = StoredMessage(id=new_id(), chat_id=chat, parent_id=last, role="user", content="Q2")
    commits = 0

    def one_more(statement: str) -> None:
        nonlocal commits
        commits += statement.startswith("COMMIT")

    store.db.set_trace_callback(one_more)
    branches.write(store, None, (second,), (QueuedMessage("Q3"),))
    store.db.set_trace_callback(None)
    assert commits == 1
    found = store.chat(chat)
    assert found is not None
    assert (found.queue, [m.content for m in store.path(chat)]) == ((QueuedMessage("Q3"),), ["Q1", "Q2"])
    with pytest.raises(sqlite3.IntegrityError):  # there is no such message to follow
        branches.write(
            store, None, (StoredMessage(id=new_id(), chat_id=chat, parent_id=5, role="user", content="Q3"),), ()
        )
    found = store.chat(chat)
    assert found is not None
    assert found.queue == (QueuedMessage("Q3"),)


def test_a_message_that_is_gone_by_now_has_no_version_beside_it(store: ChatStore) -> None:
    chat, first, answer = talk(store, "one", "Q1", "A1")
    store.add(StoredMessage(id=new_id(), chat_id=chat, parent_id=first, role="assistant", content="another"))
    store.remove(answer)
    found = branches.step(store, chat, answer, 1)
    assert found is not None
    assert [m.content for m in found[1]] == ["Q1", "another"]
