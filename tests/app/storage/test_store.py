"""What is written is read back, branch by branch; what is deleted is gone."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from itertools import chain, pairwise, repeat
from pathlib import Path

import pytest

from app.storage import records
from app.storage.records import Attachment, Chat, StoredMessage, new_id, pack_tokens, unpack_tokens
from app.storage.store import NEW_CHAT, TRASH_DAYS, ChatStore
from engine.lived_time import LivedTime
from tests.app.storage.conftest import talk


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ChatStore]:
    made = ChatStore(tmp_path / "chats.db")
    yield made
    made.close()


def turn(store: ChatStore, chat: int, parent: int | None, role: str, content: str, **more: object) -> StoredMessage:
    message = StoredMessage(id=new_id(), chat_id=chat, parent_id=parent, role=role, content=content, **more)  # type: ignore[arg-type]
    store.add(message)
    return message


def test_each_id_is_larger_than_the_last_whatever_the_clock_does(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time_ns()
    clock = chain([now, now + 999, now - 3600 * 10**9], repeat(now + 10_000, 3000), [now + 10**9])
    monkeypatch.setattr(records.time, "time_ns", lambda: next(clock))
    ids = [new_id() for _ in range(3004)]
    assert all(a < b for a, b in pairwise(ids))
    assert ids[-1] >> 10 == (now + 10**9) // 1000
    assert ids[-1] < 2**63


def test_tokens_survive_packing() -> None:
    assert unpack_tokens(pack_tokens((0, 1, 151_936, 2**32 - 1))) == (0, 1, 151_936, 2**32 - 1)


def test_a_chat_is_read_back_with_everything(store: ChatStore) -> None:
    chat = Chat(id=new_id(), title="Foxes", updated_at=5.0)
    store.create(chat)
    question = turn(store, chat.id, None, "user", "Why red?")
    turn(store, chat.id, question.id, "assistant", "Because.", token_ids=(3, 4), finish="stop", stats={"hits": 7})
    read = store.path(chat.id)
    assert [m.content for m in read] == ["Why red?", "Because."]
    assert (read[1].token_ids, read[1].finish, read[1].stats) == ((3, 4), "stop", {"hits": 7})
    assert store.chats()[0].leaf_id == read[1].id


def test_of_chats_of_the_same_moment_the_later_one_is_first(store: ChatStore) -> None:
    chats = [Chat(id=new_id(), title=f"{number}", updated_at=5.0) for number in range(20)]
    for chat in (*chats[::2], *chats[1::2]):
        store.create(chat)
    assert store.chats() == chats[::-1]


def test_a_branch_is_told_in_its_order_though_the_clock_was_set_back_between_two_starts(store: ChatStore) -> None:
    chat = Chat(id=new_id())
    store.create(chat)
    for number, parent in ((500, None), (200, 500), (900, 200), (100, 900)):
        store.add(StoredMessage(id=number, chat_id=chat.id, parent_id=parent, role="user", content=str(number)))
    assert [m.id for m in store.path(chat.id)] == [500, 200, 900, 100]
    assert [m.id for m in store.path(chat.id, 200)] == [500, 200]
    store.add(StoredMessage(id=300, chat_id=chat.id, parent_id=500, role="user", content="another"))
    assert [m.id for m in store.tree(chat.id)] == [500, 200, 300, 900, 100]


def test_another_answer_is_a_version_and_both_can_be_opened(store: ChatStore) -> None:
    chat = Chat(id=new_id())
    store.create(chat)
    question = turn(store, chat.id, None, "user", "Q")
    first = turn(store, chat.id, question.id, "assistant", "one")
    after = turn(store, chat.id, first.id, "user", "more")
    second = turn(store, chat.id, question.id, "assistant", "two")
    assert [(m.content, m.version, m.versions) for m in store.path(chat.id)] == [("Q", 1, 1), ("two", 2, 2)]
    assert store.versions(second.id) == [first.id, second.id]
    store.select(chat.id, first.id)
    assert [m.id for m in store.path(chat.id)] == [question.id, first.id, after.id]


def test_edited_first_messages_are_versions_too(store: ChatStore) -> None:
    chat, other = Chat(id=new_id()), Chat(id=new_id())
    store.create(chat)
    store.create(other)
    turn(store, other.id, None, "user", "another chat's first message is no version")
    one, two = turn(store, chat.id, None, "user", "a"), turn(store, chat.id, None, "user", "b")
    assert store.versions(one.id) == [one.id, two.id]
    assert store.path(chat.id)[0].versions == 2


def test_an_automatic_title_never_replaces_one_set_by_hand(store: ChatStore) -> None:
    chat = Chat(id=new_id(), title="auto")
    store.create(chat)
    store.set_title(chat.id, "mine", by_hand=True)
    store.set_title(chat.id, "auto again", by_hand=False)
    assert store.chats()[0].title == "mine"


def test_search_takes_signs_literally(store: ChatStore) -> None:
    for title in ("100 % wool", "100 sheep", "under_score"):
        store.create(Chat(id=new_id(), title=title))
    assert [c.title for c in store.chats("%")] == ["100 % wool"]
    assert [c.title for c in store.chats("R_S")] == ["under_score"]


def test_half_written_answers_are_marked_when_the_file_is_opened_again(store: ChatStore, tmp_path: Path) -> None:
    chat = Chat(id=new_id())
    store.create(chat)
    answer = turn(store, chat.id, None, "assistant", "", state="streaming")
    store.update(
        StoredMessage(
            id=answer.id,
            chat_id=chat.id,
            parent_id=None,
            role="assistant",
            content="so far",
            token_ids=(1,),
            state="streaming",
        )
    )
    store.close()
    again = ChatStore(tmp_path / "chats.db")
    assert [(m.content, m.state) for m in again.path(chat.id)] == [("so far", "cut")]
    again.close()


def test_removing_a_message_reopens_its_parent(store: ChatStore) -> None:
    chat = Chat(id=new_id())
    store.create(chat)
    question = turn(store, chat.id, None, "user", "Q")
    answer = turn(store, chat.id, question.id, "assistant", "")
    store.remove(answer.id)
    assert [m.id for m in store.path(chat.id)] == [question.id]


def test_drafts_are_kept(store: ChatStore) -> None:
    chat = Chat(id=new_id())
    store.create(chat)
    store.set_field(chat.id, "draft", "half a thou")
    assert store.chats()[0].draft == "half a thou"


def test_what_is_attached_to_a_draft_is_kept_until_its_chat_is_removed_for_good(store: ChatStore) -> None:
    chat, files = Chat(id=new_id()), (Attachment("a.txt", "one"), Attachment("b.txt", "two"))
    store.create(chat)
    store.keep_draft_attachments(chat.id, files)
    store.keep_draft_attachments(NEW_CHAT, files[:1])
    assert store.draft_attachments(chat.id) == files
    store.move_to_trash(chat.id)
    assert store.draft_attachments(chat.id) == files
    store.empty_trash(chat.id)
    assert store.draft_attachments(chat.id) == ()
    assert store.draft_attachments() == files[:1]
    store.keep_draft_attachments(NEW_CHAT, ())
    assert store.db.execute("SELECT count(*) FROM drafts").fetchone() == (0,)


def test_a_chat_without_its_first_question_never_comes_to_be(tmp_path: Path) -> None:
    store = ChatStore(tmp_path / "chats.db")
    chat = Chat(id=new_id(), title="one")
    question = StoredMessage(id=new_id(), chat_id=chat.id, parent_id=None, role="user", content="hello")
    with pytest.raises(sqlite3.IntegrityError):
        store.create(chat, question, question)
    assert store.chats() == []
    store.create(chat, question)
    assert [m.content for m in store.path(chat.id)] == ["hello"]
    store.close()


def test_ids_go_on_from_those_there_are_though_the_clock_was_set_back_between_two_starts(
    store: ChatStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another answer would be told as the first of its versions, and the older one be opened in its place."""
    ahead = time.time_ns() + 400 * 86400 * 10**9
    monkeypatch.setattr(records, "_last", 0)
    monkeypatch.setattr(records.time, "time_ns", lambda: ahead)
    chat, question, first = talk(store, "one", "Q", "first")
    store.close()
    monkeypatch.setattr(records, "_last", 0)  # as in another process
    monkeypatch.setattr(records.time, "time_ns", lambda: ahead - 400 * 86400 * 10**9)
    again = ChatStore(tmp_path / "chats.db")
    second = turn(again, chat, question, "assistant", "second")
    assert [(m.content, m.version) for m in again.path(chat)] == [("Q", 1), ("second", 2)]
    assert again.versions(first) == [first, second.id]
    again.close()


def test_an_id_that_no_clock_has_made_leaves_room_for_others(
    store: ChatStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "_last", 0)
    store.create(Chat(id=2**63 - 1, title="the last"))
    store.close()
    again = ChatStore(tmp_path / "chats.db")
    again.create(Chat(id=new_id(), title="one more"))
    assert len(again.chats()) == 2
    again.close()


def test_a_chat_stays_in_the_trash_for_its_days_though_the_clock_was_years_behind(
    store: ChatStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A computer without a battery for its clock begins in 2000 or so, and knows better once it has a network."""
    chat, *_ = talk(store, "one", "Q")
    now = time.time()
    with monkeypatch.context() as clock:
        clock.setattr(time, "time", lambda: 946_684_800.0)
        store.move_to_trash(chat)
    assert store.empty_trash(lived=LivedTime(now, ())) == 0
    assert store.empty_trash(lived=LivedTime(now + (TRASH_DAYS + 1) * 86400, ())) == 1


def test_removing_an_answer_that_did_not_come_opens_the_version_beside_it(store: ChatStore) -> None:
    chat, question, _, _ = talk(store, "one", "Q", "first", "Q2")
    other = turn(store, chat, question, "assistant", "")
    store.remove(other.id)
    assert [m.content for m in store.path(chat)] == ["Q", "first", "Q2"]
    last = store.path(chat)[-1].id
    elsewhere = StoredMessage(id=new_id(), chat_id=chat, parent_id=question, role="assistant", content="")
    store.add(elsewhere)
    store.select(chat, last)
    store.remove(elsewhere.id)  # it was not open: what is stays so
    assert [m.content for m in store.path(chat)] == ["Q", "first", "Q2"]
