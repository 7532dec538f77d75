"""JSON that is read piece by piece holds what it holds when it is read at once, and is refused where that is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.transfer import chatgpt, importing, parsing
from tests.app.transfer.test_malformed import exported, node


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
    assert list(parsing.parts(text)) == found


@pytest.mark.parametrize(
    "text",
    ["", " ", "[", "{", "[1", "[1,", "[1,]", "[1 2]", "[1]]", "[]x",
     '{"a"}', '{"a":}', '{"a": 1,}', '{"a": [1}', "{1: 2}",
     '{"a": 1} {}', '{"a": [1],, "b": 2}', "[,1]", "nothing", "5", '"a"', "{[]: 1}"],
)  # fmt: skip
def test_what_is_no_list_or_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no . at|Expecting|behind a comma|more than one|without a name"):
        list(parsing.parts(text))


def test_a_piece_is_read_when_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read at once, 94 MB kept the window from moving for 0.6 s."""
    found = parsing.parts('{"a": 1, "chats": [2, 3, oops')
    assert [next(found) for _ in range(3)] == [("a", 1), ("chats", 2), ("chats", 3)]
    (tmp_path / "x.json").write_text(exported({"a": node(None, [], "A")}, {"b": node(None, [], "B")}))
    order: list[str] = []
    decode, read = parsing._decode, chatgpt.read

    def decoded(text: str, at: int) -> Any:
        order.append("decoded")
        return decode(text, at)

    def taken(chat: dict[str, Any]) -> Any:
        order.append("taken")
        return read(chat)

    monkeypatch.setattr(parsing, "_decode", decoded)
    monkeypatch.setattr(chatgpt, "read", taken)
    assert len(importing.read(tmp_path / "x.json").chats) == 2
    assert order == ["decoded", "taken", "decoded", "taken"]


@pytest.mark.parametrize("order", [("format", "version", "chats"), ("chats", "version", "format")])
def test_our_own_file_may_name_its_parts_in_any_order(tmp_path: Path, order: tuple[str, ...]) -> None:
    message = {"id": 1, "parent": None, "role": "user", "content": "x"}
    whole = {"format": "underhill-chats", "version": 1, "chats": [{"title": "t", "messages": [message]}]}
    (tmp_path / "x.json").write_text(json.dumps({name: whole[name] for name in order}))
    assert len(importing.read(tmp_path / "x.json").chats) == 1
