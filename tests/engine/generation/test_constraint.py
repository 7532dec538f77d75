"""Answers that are held to a grammar: what may be said, in every format that one is known for, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from engine import limits
from engine.errors import Kind, UnderhillError
from engine.generation.constraint import Constraint, GrammarVocabulary, check_options, chosen_tools, constraint_for
from engine.generation.formats import calls as parsers
from engine.generation.formats.call_grammars import CallGrammar
from engine.generation.formats.declaration import Calls
from engine.generation.formats.families import FAMILIES, GENERIC
from engine.generation.formats.reader import ANSWER, CALL, THOUGHT
from engine.generation.formats.speech import TemplateNames, speech
from engine.generation.messages import AnswerOptions, Tool

ROOT = Path(__file__).resolve().parents[3]
TOWN = Tool("weather", "", {
    "type": "object",
    "properties": {
        "town": {"type": "string", "enum": ["Rome", "Oslo"]}, "days": {"type": "integer", "minimum": 1, "maximum": 9},
        "note": {"type": "string", "maxLength": 20},
    },
    "required": ["town", "days"],
    "additionalProperties": False,
})  # fmt: skip


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(ROOT / "resources/builtin/model/tokenizer.json"))


@pytest.fixture(scope="module")
def vocabulary(tokenizer: Tokenizer) -> GrammarVocabulary:
    return GrammarVocabulary(tokenizer, [2])


def takes(constraint: Constraint, tokenizer: Tokenizer, text: str, state: str = ANSWER) -> bool:
    """Whether the text may be said, token by token."""
    for token in tokenizer.encode(text, add_special_tokens=False).ids:
        allowed = constraint.allowed(state, 4096)
        if allowed is not None and not allowed[token]:
            return False
        constraint.accept(token, state)
    return True


def options(**fields: Any) -> AnswerOptions:
    return AnswerOptions(**fields)


def constraint(vocabulary: GrammarVocabulary, tokenizer: Tokenizer, **fields: Any) -> Constraint:
    made = constraint_for(vocabulary, speech(tokenizer, "", TemplateNames(), {2}), options(**fields))
    assert made is not None
    return made


def test_only_what_the_schema_allows_can_be_said(vocabulary: GrammarVocabulary, tokenizer: Tokenizer) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}
    made = constraint(vocabulary, tokenizer, json=schema)
    assert takes(made, tokenizer, '{"a": true}')
    assert not takes(constraint(vocabulary, tokenizer, json=schema), tokenizer, '{"a": 1}')
    assert not takes(constraint(vocabulary, tokenizer, json=schema), tokenizer, "Sure")


def test_a_complete_answer_is_over(vocabulary: GrammarVocabulary, tokenizer: Tokenizer) -> None:
    made = constraint(vocabulary, tokenizer, json={"enum": ["x"]})
    assert takes(made, tokenizer, '"x')
    assert not made.over
    assert takes(made, tokenizer, '"')
    assert made.over


def test_the_end_may_come_only_once_the_answer_is_whole(vocabulary: GrammarVocabulary, tokenizer: Tokenizer) -> None:
    made = constraint(vocabulary, tokenizer, json={"type": "integer"})
    allowed = made.allowed(ANSWER, 4096)
    assert allowed is not None
    assert not allowed[2]
    assert takes(made, tokenizer, "12")
    allowed = made.allowed(ANSWER, 4096)
    assert allowed is not None
    assert allowed[2]


def test_a_thought_is_free(vocabulary: GrammarVocabulary, tokenizer: Tokenizer) -> None:
    made = constraint(vocabulary, tokenizer, json={"type": "integer"})
    assert takes(made, tokenizer, "Well, let me think.", THOUGHT)
    assert takes(made, tokenizer, "3")


def test_an_empty_schema_is_any_object(vocabulary: GrammarVocabulary, tokenizer: Tokenizer) -> None:
    assert takes(constraint(vocabulary, tokenizer, json={}), tokenizer, '{"any": ["thing", 1, {}]}')
    assert not takes(constraint(vocabulary, tokenizer, json={}), tokenizer, "[1]")


CALLED = {
    "json": '\n{"name": "weather", "arguments": {"town": "Oslo", "days": 3}}\n',
    "any": '\n{"name": "weather", "arguments": {"town": "Oslo", "days": 3}}\n',
    "mistral": 'weather[ARGS]{"town": "Oslo", "days": 3}',
    "deepseek": '<｜tool▁call▁begin｜>weather<｜tool▁sep｜>{"town": "Oslo", "days": 3}<｜tool▁call▁end｜>',
    "kimi": '<|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{"town": "Oslo", "days": 3}'
    "<|tool_call_end|>",
    "function": "<function=weather>\n<parameter=town>\nOslo\n</parameter>\n<parameter=days>\n3\n</parameter>\n"
    "<parameter=note>\nhi <there>\n</parameter>\n</function>",
}


def formats() -> list[Calls]:
    known = {call for family in (*FAMILIES, GENERIC) for call in family.calls if call.grammar in CALLED}
    return sorted(known, key=lambda call: (call.grammar, call.open))


@pytest.mark.parametrize("calls", formats(), ids=lambda calls: f"{calls.grammar} {calls.open}")
def test_a_call_that_keeps_to_its_grammar_is_read_as_one(
    calls: Calls, vocabulary: GrammarVocabulary, tokenizer: Tokenizer
) -> None:
    grammar = CallGrammar(calls, [TOWN], vocabulary.mark)
    body = CALLED[calls.grammar]
    if calls.grammar == "function" and not calls.whole:
        body = f"\n{body}\n"
    if calls.grammar in ("json", "any") and calls.open != "<tool_call>":
        body = f"[{body.strip()}]"
    text = body if calls.whole else f"{calls.open}{body}{calls.close}"
    for wrong in (None, ("Oslo", "Bonn"), ("weather", "other")):
        made = Constraint(vocabulary, f"start: {grammar.whole}\n{grammar.rules}")
        assert takes(made, tokenizer, text if wrong is None else text.replace(*wrong)) is (wrong is None)
        assert made.over is (wrong is None)
    read = parsers.parse(calls.grammar, body)
    assert [call.name for call in read] == ["weather"]
    assert read[0].arguments["town"] == "Oslo"


def test_a_call_that_the_model_begins_by_itself_is_held_to_its_tool(
    vocabulary: GrammarVocabulary, tokenizer: Tokenizer
) -> None:
    made = constraint(vocabulary, tokenizer, tools=(TOWN,))
    for _ in range(2):  # one call, and another
        assert made.allowed(ANSWER, 4096) is None
        assert takes(made, tokenizer, CALLED["json"] + "</tool_call>", CALL)
    assert made.allowed(ANSWER, 4096) is None
    assert not takes(made, tokenizer, "\nnonsense", CALL)


def test_with_a_schema_and_tools_either_may_come(vocabulary: GrammarVocabulary, tokenizer: Tokenizer) -> None:
    for text in ('"x"', f"<tool_call>{CALLED['json']}</tool_call>"):
        assert takes(constraint(vocabulary, tokenizer, json={"enum": ["x"]}, tools=(TOWN,)), tokenizer, text)
    assert not takes(constraint(vocabulary, tokenizer, json={"enum": ["x"]}, tools=(TOWN,)), tokenizer, "So")


@pytest.mark.parametrize(
    "schema",
    [{"type": "nonsense"}, {"$ref": "#/x"}, {"type": "string", "pattern": "("}, {"anyOf": []}, {"$ref": "http://x/y"}],
)
def test_a_schema_that_nothing_can_follow_is_refused(
    schema: dict[str, Any], vocabulary: GrammarVocabulary, tokenizer: Tokenizer
) -> None:
    with pytest.raises(UnderhillError) as refused:
        constraint(vocabulary, tokenizer, json=schema)
    assert refused.value.kind is Kind.BAD_REQUEST


def test_what_would_take_long_is_refused_before_it_is_looked_at() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"not": deep}
    wide = {"enum": list(range(limits.SCHEMA_ENTRIES + 1))}
    long = {"pattern": "a" * (limits.SCHEMA_TEXT + 1)}
    for schema in (deep, wide, long):
        with pytest.raises(UnderhillError):
            check_options(options(json=schema))
    with pytest.raises(UnderhillError):
        check_options(options(tools=(TOWN,) * (limits.TOOLS + 1)))
    while deep:  # taken apart by hand: the interpreter would do it on its stack
        deep = deep.pop("not", {})


def test_a_tool_is_chosen_by_name() -> None:
    other = Tool("other")
    assert chosen_tools(options(tools=(TOWN, other), tool_choice="other")) == (other,)
    assert chosen_tools(options(tools=(TOWN, other), tool_choice="none")) == ()
    for wrong in (options(tools=(TOWN,), tool_choice="no"), options(tool_choice="required")):
        with pytest.raises(UnderhillError):
            chosen_tools(wrong)


def test_a_mask_covers_logits_beyond_the_vocabulary(vocabulary: GrammarVocabulary, tokenizer: Tokenizer) -> None:
    allowed = constraint(vocabulary, tokenizer, json={}).allowed(ANSWER, 5000)
    assert allowed is not None
    assert allowed.shape == (5000,)
    assert not np.any(allowed[4200:])
