"""Search finds any part of any word in every message that is not deleted, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.storage.records import Chat, StoredMessage, new_id
from app.storage.search import find, snippet, terms
from app.storage.store import ChatStore
from tests.app.storage.conftest import talk


@pytest.mark.parametrize(
    "text",
    ["Übermut", "übermut", "bermu", "知识", "知", "识库", "can't", "50%", "a_b", '"the old oak"', "oak old", "OAK"],
)
def test_parts_of_words_in_any_script_are_found(store: ChatStore, text: str) -> None:
    talk(store, "other", "nothing of that", "xyz")
    chat, question, _ = talk(
        store, "mine", "Übermut under the old oak: you can't miss it, 50% of a_b. 知识库很大", "Yes."
    )
    hits = find(store, text)
    assert [(h.chat.id, h.message_id, h.role) for h in hits] == [(chat, question, "user")]


@pytest.mark.parametrize("text", ["oak elm", '"old the"', "知库", "5_0", "%%", '"', "aXb", "zz"])
def test_what_is_not_there_is_not_found(store: ChatStore, text: str) -> None:
    talk(store, "mine", "under the old oak: 50% of aYb. 知识库很大")
    assert find(store, text) == []


def test_the_latest_come_first_and_no_more_than_asked_for(store: ChatStore) -> None:
    ids = [talk(store, f"chat {n}", "the oak")[1] for n in range(5)]
    assert [h.message_id for h in find(store, "oak", 3)] == ids[:1:-1]


def test_answers_are_found_once_they_are_written_and_not_as_they_were_before(store: ChatStore) -> None:
    chat = Chat(id=new_id(), title="t")
    store.create(chat)
    answer = StoredMessage(
        id=new_id(), chat_id=chat.id, parent_id=None, role="assistant", content="first draft", state="streaming"
    )
    store.add(answer)
    assert find(store, "draft") == find(store, "dr") == []
    store.update(
        StoredMessage(id=answer.id, chat_id=chat.id, parent_id=None, role="assistant", content="the whole truth")
    )
    assert find(store, "draft") == []
    assert len(find(store, "truth")) == 1
    store.db.execute("INSERT INTO found(found) VALUES ('integrity-check')")


def test_deleted_chats_are_not_found_and_leave_nothing_in_the_file(store: ChatStore, tmp_path: Path) -> None:
    chat, *_ = talk(store, "secret", "the treasure is under the oak", "in Iraq")
    talk(store, "other", "an oak")
    store.move_to_trash(chat)
    assert [h.chat.title for h in find(store, "oak")] == ["other"]
    assert find(store, "treasure") == []
    assert store.empty_trash() == 1
    assert store.db.execute("SELECT count(*) FROM found WHERE found MATCH 'treasure'").fetchone() == (0,)
    store.close()
    kept = (tmp_path / "chats.db").read_bytes()
    assert b"treasure" not in kept
    assert b"eas" not in kept  # nor trigrams of it in the index
    assert b"sur" not in kept
    assert b"q\x01\x01" not in kept  # nor of its end


def test_the_snippet_is_around_the_hit() -> None:
    text = "word " * 100 + "and\nthen the **treasure** was\n\nfound " + "again " * 100
    line, marks = snippet(text, ["treasure", "found"])
    assert line.startswith("…")
    assert "\n" not in line
    assert [line[a:b] for a, b in marks] == ["treasure", "found"]
    assert marks[0][0] < 40


def test_terms() -> None:
    assert terms('one "two three" four') == ["one", "two three", "four"]
    assert terms('open "quote') == ["open", "quote"]


def test_the_index_is_read_from_its_end_and_only_as_far_as_needed(store: ChatStore) -> None:
    """What keeps a search in a hundred thousand messages quick: no scan, and no sorting of all that is found."""
    told: list[str] = []
    store.db.set_trace_callback(told.append)
    find(store, "oak")
    store.db.set_trace_callback(None)
    statement = next(s for s in told if "MATCH" in s)
    plan = [row[3] for row in store.db.execute(f"EXPLAIN QUERY PLAN {statement}")]
    assert "VIRTUAL TABLE" in plan[0]
    assert not any("TEMP B-TREE" in step or step.startswith("SCAN m") for step in plan)


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("ab cd " * 3000, 1), (" ".join(f"{n:02}" for n in range(100)) * 20, 0), ("a\0b", 2), ("x" * 100_000, 0),
        ("%" * 30_000, 0), ("word " * 5000, 1),
    ],
    ids=["two words", "a hundred words", "zero", "a long word", "signs", "a word"],
)  # fmt: skip
def test_whatever_is_pasted_can_be_looked_for(store: ChatStore, text: str, hits: int) -> None:
    """SQLite refuses questions that are too long, and that was said as if chats could not be saved."""
    talk(store, "one", "ab cd", "a and b, word for word")
    assert not store.chats(text)
    assert len(find(store, text)) == hits
