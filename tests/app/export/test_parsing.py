"""JSON that is read piece by piece holds what it holds when it is read at once, and is refused where that is."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from app.export import chat_file, import_chats
from tests.app.export.test_malformed import exported, node


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[]", []), ("{}", []), (" [ ] ", []), ("\n{ }\t", []), ("[1]", [("", 1)]), ('[1, "a\\"]", null]',
        [("", 1), ("", 'a"]'), ("", None)]), ("[[1, 2], {}]", [("", [1, 2]), ("", {})]),
        ('{"a": 1, "b": [2, [3]], "c": {"d": [4]}, "e": []}', [("a", 1), ("b", 2), ("b", [3]), ("c", {"d": [4]})]),
        ('{"a":[{"b":"}"}] , "b":"x"}', [("a", {"b": "}"}), ("b", "x")]),
    ],
)  # fmt: skip
def test_the_parts_of_a_text(text: str, found: list[Any]) -> None:
    json.loads(text)
    assert list(chat_file.json_parts(io.StringIO(text))) == found


@pytest.mark.parametrize(
    "text",
    ["", " ", "[", "{", "[1", "[1,", "[1,]", "[1 2]", "[1]]", "[]x",
     '{"a"}', '{"a":}', '{"a": 1,}', '{"a": [1}', "{1: 2}",
     '{"a": 1} {}', '{"a": [1],, "b": 2}', "[,1]", "nothing", "5", '"a"', "{[]: 1}"],
)  # fmt: skip
def test_what_is_no_list_or_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no .|Expecting|behind a comma|more than one|without a name"):
        list(chat_file.json_parts(io.StringIO(text)))


def test_a_piece_is_read_when_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read at once, 94 MB kept the window from moving for 0.6 s."""
    found = chat_file.json_parts(io.StringIO('{"a": 1, "chats": [2, 3, oops'))
    assert [next(found) for _ in range(3)] == [("a", 1), ("chats", 2), ("chats", 3)]


def test_chats_are_sent_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.json").write_text(exported({"a": node(None, [], "A")}, {"b": node(None, [], "B")}))
    order: list[str] = []
    decode, read = chat_file._decode_json, chat_file.read_chatgpt

    def decoded(text: str, at: int) -> Any:
        order.append("decoded")
        return decode(text, at)

    def taken(chat: dict[str, Any], image: str) -> Any:
        order.append("taken")
        return read(chat, image)

    monkeypatch.setattr(chat_file, "_decode_json", decoded)
    monkeypatch.setattr(chat_file, "read_chatgpt", taken)
    assert [kind for kind, _ in chat_file.chats(str(tmp_path / "x.json"), "")] == ["chat", "chat", "unread"]
    assert order == ["decoded", "taken", "decoded", "taken"]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7])
def test_where_the_text_is_cut_makes_no_difference(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chats = [{'a"b': "\u00e9\\", "c": [1, 23, True, None]}, [], {}, 456]
    value = {"format": "x", "n": -12.5e10, "chats": chats, "z": 1}
    monkeypatch.setattr(chat_file, "CHUNK", chunk)
    found = list(chat_file.json_parts(io.StringIO(json.dumps(value, indent=1))))
    assert found == [("format", "x"), ("n", -12.5e10), *(("chats", chat) for chat in chats), ("z", 1)]


def test_no_element_is_read_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_file, "CHUNK", 10)
    monkeypatch.setattr(chat_file, "MAX_ELEMENT", 1000)
    endless = io.StringIO('["' + "x" * 100_000)
    with pytest.raises(chat_file.ElementTooLong):
        list(chat_file.json_parts(endless))
    assert endless.tell() < 5000
    wrong = io.StringIO('[{"a": nothing' + "x" * 100_000)
    with pytest.raises(ValueError, match="Expecting"):
        list(chat_file.json_parts(wrong))
    assert wrong.tell() < 5000


class Counted(str):
    """An id that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)


def test_many_siblings_cost_their_number_not_its_square() -> None:
    """20,000 answers to one question took twelve seconds."""

    def compared(count: int) -> int:
        children = [Counted(f"n{i}") for i in range(count)]
        nodes = {Counted("top"): node(None, children, "Top")}  # type: ignore[arg-type]
        nodes.update({Counted(f"n{i}"): node("top", [], f"{i}") for i in range(count)})
        Counted.compared = 0
        assert len(chat_file.read_chatgpt({"mapping": nodes}, "")["messages"]) == count + 1
        return Counted.compared

    assert compared(2000) < 3 * compared(1000)


@pytest.mark.parametrize("order", [("format", "version", "chats"), ("chats", "version", "format")])
def test_our_own_file_may_name_its_parts_in_any_order(tmp_path: Path, order: tuple[str, ...]) -> None:
    message = {"id": 1, "parent": None, "role": "user", "content": "x"}
    whole = {"format": "underhill-chats", "version": 1, "chats": [{"title": "t", "messages": [message]}]}
    (tmp_path / "x.json").write_text(json.dumps({name: whole[name] for name in order}))
    assert len(import_chats.read(tmp_path / "x.json")) == 1
