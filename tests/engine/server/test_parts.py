"""An answer's stream taken apart: the same parts wherever it is cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.generation import turns
from engine.protocol import Tool, ToolCall
from engine.server.parts import AnswerPart, Text, Thought, TurnSplitter, typed

CALL = ToolCall("f", {"x": 1})
TOOLS = (Tool("f", "", {"properties": {"x": {"type": "integer"}}}),)
ANSWERS = {
    "Plain text, with <think> in it.": ("", "Plain text, with <think> in it.", 0),
    "<think>\nHm.\n\nYes.\n</think>\n\nAn answer.": ("Hm.\n\nYes.", "An answer.", 0),
    f"Look:\n\n{turns.written(CALL)}": ("", "Look:", 1),
    f"<think>\nHm.\n</think>\n\n{turns.written(CALL)}{turns.written(CALL)}": ("Hm.", "", 2),
    f"One.\n\n{turns.block(turns.THOUGHT, 'And?')}\nTwo.": ("And?", "One.\n\nTwo.", 0),
    "Code: ```python\nx\n``` and ``````.": ("", "Code: ```python\nx\n``` and ``````.", 0),
    "<thin air>": ("", "<thin air>", 0),
    "<think>\ncut off": ("cut off", "", 0),
    "": ("", "", 0),
}


def parts(text: str, cuts: list[int]) -> list[AnswerPart]:
    splitter, at = TurnSplitter(TOOLS), 0
    found: list[AnswerPart] = []
    for cut in [*sorted(cut % (len(text) + 1) for cut in cuts), len(text)]:
        found += splitter.add(text[at:cut])
        at = cut
    return found + splitter.flush()


@given(st.sampled_from(sorted(ANSWERS)), st.lists(st.integers(0, 200), max_size=12))
def test_the_parts_are_the_same_wherever_the_stream_is_cut(text: str, cuts: list[int]) -> None:
    found = parts(text, cuts)
    thought = "".join(part.text for part in found if isinstance(part, Thought))
    said = "".join(part.text for part in found if isinstance(part, Text))
    calls = [part for part in found if isinstance(part, ToolCall)]
    assert (thought, said, len(calls)) == ANSWERS[text]
    assert all(call == CALL for call in calls)


def test_text_comes_as_soon_as_it_is_known() -> None:
    splitter = TurnSplitter(())
    assert splitter.add("Hello") == [Text("Hello")]
    assert splitter.add(" you.\n") == [Text(" you.")]
    assert splitter.add("More") == [Text("\nMore")]


def test_raw_text_stays_as_it_is() -> None:
    splitter = TurnSplitter((), raw=True)
    text = f"<think>\n{turns.FENCE}\n\n"
    assert "".join(part.text for part in splitter.add(text) + splitter.flush() if isinstance(part, Text)) == text


def test_arguments_get_the_types_of_their_schema() -> None:
    given = ToolCall("f", {"n": "3", "b": "true", "s": "3", "l": "[1]", "bad": "x", "other": "1"})
    types = {"n": "integer", "b": "boolean", "s": "string", "l": "array", "bad": "integer"}
    schema = {"properties": {name: {"type": kind} for name, kind in types.items()}}
    assert typed(given, schema).arguments == {"n": 3, "b": True, "s": "3", "l": [1], "bad": "x", "other": "1"}
