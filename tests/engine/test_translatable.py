"""Texts for people keep their key and arguments, whatever is done with them."""

from __future__ import annotations

import ast
import copy
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import protocol
from engine.errors import Kind, UnderhillError, as_error
from engine.process.codec import pack, unpack
from engine.translatable import (
    LONGEST,
    NO_TEXT,
    Translatable,
    as_json,
    from_json,
    joined,
    msg,
    quoted,
    readable,
    system_reason,
    translated,
)

TEXTS = st.recursive(
    st.text(st.characters(exclude_characters="{}"), max_size=9) | st.builds(translated, st.text(max_size=9)),
    lambda inner: st.builds(
        lambda arguments: Translatable(" and ".join(f"{{{name}}}" for name in arguments), arguments),
        st.dictionaries(st.from_regex(r"[a-z]{1,4}", fullmatch=True), inner, min_size=1, max_size=3),
    ),
    max_leaves=6,
)


def test_a_message_is_its_english_text_and_knows_what_it_is_made_of() -> None:
    text = msg("{name} is {n} % full.", name="a{b}", n=3)
    assert text == "a{b} is 3 % full."
    assert (text.key, dict(text.arguments)) == ("{name} is {n} % full.", {"name": "a{b}", "n": "3"})


def test_adding_and_joining_keep_every_part() -> None:
    first, second = msg("One."), msg("{n} more.", n=2)
    for text in (first + " " + second, joined(" ", (first, "", second))):
        assert isinstance(text, Translatable)
        assert text == "One. 2 more."
    assert joined(" ", ("", first, NO_TEXT)) is first
    assert ("- " + second).arguments["1"] is second


def test_an_exception_with_a_message_gives_it_back_as_an_argument() -> None:
    inner = msg("it has no {what}", what="end")
    assert msg("Broken: {why}.", why=ValueError(inner)).arguments["why"] is inner
    assert msg("Broken: {why}.", why=ValueError("x", 2)) == "Broken: ('x', 2)."


@given(TEXTS)
def test_a_text_is_the_same_after_a_file_another_process_and_a_copy(text: str) -> None:
    sent = unpack(pack(protocol.Failed("1", Kind.BUSY, text, NO_TEXT)))  # type: ignore[arg-type]
    for again in (from_json(as_json(text)), sent.sentence, copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert again == text
        assert as_json(again) == (as_json(text) if isinstance(text, Translatable) else as_json(again))


@pytest.mark.parametrize("plain", [3, None, [], {}, {"key": 3, "arguments": {}}, {"key": "a", "arguments": {"b": 3}}])
def test_what_is_no_text_is_refused(plain: object) -> None:
    with pytest.raises(ValueError, match="not a text"):
        from_json(plain)


def test_an_error_bounds_what_stands_in_its_holes_and_not_its_words() -> None:
    error = UnderhillError(Kind.BROKEN_FILE, msg("{name} is damaged.", name="a\x1b" * 5 * LONGEST), msg("Try again."))
    assert error.sentence.endswith(" is damaged.")
    assert len(error.sentence) < LONGEST + 50
    assert error.sentence.isprintable()
    assert error.message == f"{error.sentence} Try again."


def test_other_scripts_and_lines_stay_as_they_are() -> None:
    assert readable("Das Größte — 模型 x\nzwei") == "Das Größte — 模型 x\nzwei"


def test_what_a_system_says_is_a_key_of_its_own() -> None:
    error = as_error(PermissionError(13, "Permission denied", "/a"))
    assert error.sentence.arguments["strerror"] == "Permission denied"
    assert isinstance(error.sentence.arguments["strerror"], Translatable)
    assert system_reason(OSError("odd")) == "odd"
    assert system_reason(PermissionError(13, "Access denied.")) == "Access denied"  # as Windows says it


def test_every_error_of_the_engine_is_given_messages() -> None:
    """A literal or an f-string would reach people in English alone."""
    root = Path(__file__).resolve().parents[2] / "engine"
    bare = [
        f"{path.name}:{node.lineno}"
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("UnderhillError", "HubError")
        for argument in node.args[1:]
        if isinstance(argument, (ast.Constant, ast.JoinedStr))
    ]
    assert bare == []


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (r"C:\models\new", r"'C:\models\new'"), ("some/where", "'some/where'"), ("a\x1b[2Jb\n", r"'a\x1b[2Jb\n'"),
        ("it's", '"it\'s"'), (7, "7"), (None, "None"),
    ],
)  # fmt: skip
def test_what_was_typed_is_quoted_with_its_backslashes_as_they_are(value: object, told: str) -> None:
    assert quoted(value) == told
