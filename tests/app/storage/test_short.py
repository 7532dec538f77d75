"""Terms of one or two characters are found wherever they stand, also where the index has to be asked for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.storage import search
from app.storage.records import Chat, StoredMessage, new_id
from app.storage.search import find, terms
from app.storage.store import ChatStore

LATER = 2200  # messages after those that are looked for, so that none is seen by reading the latest
SIGNS = [chr(0x4E00 + n) for n in range(400)]
TEXTS = [
    "知识库很大", "很大的知识", "大", "知", "很", "ab", "xAb", "Übermut ÜB", "der übel", "Straße", "a_b 50%", 'q"q',
    "0!", *(f"{n % 7}ab{n % 5} 库" for n in range(80)),
    "th " * 6500 + "知",  # stands in more places than are listed
    "".join("鱼" + sign for sign in SIGNS) * 20 + "鱼",  # and begins more threes than are looked for
    "th 鱼 知", "oak th", "oak 鱼", "鱼 at the end th",
]  # fmt: skip


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChatStore]:
    """TEXTS, and messages after them that have none of what is in those, apart from a few letters."""
    store = ChatStore(Path(tmp_path_factory.mktemp("full")) / "chats.db")
    chat, deleted = Chat(id=new_id(), title="old"), Chat(id=new_id(), title="deleted")
    store.create(
        chat,
        *(StoredMessage(id=new_id(), chat_id=chat.id, parent_id=None, role="user", content=text) for text in TEXTS),
    )
    store.create(
        deleted,
        *(StoredMessage(id=new_id(), chat_id=deleted.id, parent_id=None, role="user", content=text) for text in TEXTS),
    )
    store.db.execute("UPDATE chats SET deleted_at = 1 WHERE id = ?", (deleted.id,))
    later = Chat(id=new_id(), title="later")
    store.create(
        later,
        *(
            StoredMessage(id=new_id(), chat_id=later.id, parent_id=None, role="user", content="come, we go on")
            for _ in range(LATER)
        ),
    )
    yield store
    store.close()


@pytest.mark.parametrize(
    "text",
    [
        "知识", "识库", "大", "知", "库", "ab", "AB", "b", "üb", "ÜB", "ß", "_b", "%", '"q"', "0!", "zz", "鱼龙", "th",
        "鱼", "h", "鱼 th", "th 知", "th 鱼 知", "th 鱼 zz", "oak th", "oak 鱼", "oak 知", "th end", "end 鱼", "ab 库",
        "库 ab b", "th h", "go on", "e", "we", "e th", "the 鱼",
    ],
)  # fmt: skip
def test_it_finds_what_reading_every_message_finds(full: ChatStore, text: str) -> None:
    wanted = [term.lower() for term in terms(text)]
    read = full.db.execute(
        "SELECT m.id, m.content FROM messages m JOIN chats c ON c.id = m.chat_id WHERE c.deleted_at IS NULL "
        "ORDER BY m.id DESC"
    )
    expected = [i for i, content in read if all(term in content.lower() for term in wanted)][:60]
    assert [hit.message_id for hit in find(full, text)] == expected


def test_what_is_rare_is_listed_and_what_is_not_is_looked_for_by_its_threes(full: ChatStore) -> None:
    """The texts above do lead down every way there is."""
    assert len(search.messages_with(full.db, "库") or ()) == 2 * 81
    assert search.messages_with(full.db, "zz") == frozenset()
    assert search.messages_with(full.db, "th") is None
    found = search.trigrams_of(full.db, "th")
    assert found is not None
    assert set(found[0]) == {"th ", "the"}
    assert found[1] == ("th\x01",)
    assert search.messages_with(full.db, "鱼") is None
    assert search.trigrams_of(full.db, "鱼") is None


@pytest.mark.parametrize("text", ["zz", "知识", "ab", "库 ab"])
def test_what_is_rare_is_not_looked_for_in_every_message(full: ChatStore, text: str) -> None:
    told: list[str] = []
    full.db.set_trace_callback(told.append)
    find(full, text)
    full.db.set_trace_callback(None)
    plans = [
        row[3]
        for statement in told
        if "FROM messages" in statement
        for row in full.db.execute(f"EXPLAIN QUERY PLAN {statement}")
    ]
    assert any("SEARCH m" in step for step in plans)
    assert not any(step == "SCAN m" for step in plans)
