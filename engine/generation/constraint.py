"""Holds an answer to a grammar: a JSON schema, a call of a tool, or either. llguidance says what may come next."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine import limits
from engine.errors import Kind, UnderhillError
from engine.generation.formats.call_grammars import CallGrammar, quoted, schema_text
from engine.generation.formats.declaration import Calls
from engine.generation.formats.reader import CALL, HEADER, THOUGHT
from engine.generation.formats.speech import Speech
from engine.generation.messages import AnswerOptions, Tool
from engine.generation.sampling import Mask
from engine.translatable import msg, translated

_HINT = msg("Simplify the schema, or ask without it.")


class GrammarVocabulary:
    """A model's vocabulary as llguidance takes it; made once, which takes up to a second for a large one."""

    def __init__(self, tokenizer: Any, ends: Sequence[int]) -> None:
        """tokenizer: a tokenizers.Tokenizer of this process. ends: tokens that end an answer."""
        from llguidance import LLTokenizer

        self._special = {t.content: i for i, t in tokenizer.get_added_tokens_decoder().items() if t.special}
        last = max(ends, default=tokenizer.get_vocab_size() - 1)
        self.tokens = LLTokenizer(tokenizer.to_str(), eos_token=sorted(ends) or [last])

    def mark(self, text: str) -> str:
        """A mark of a format in a grammar. A special token counts by its number; any other text by its letters."""
        found = self._special.get(text)
        return quoted(text) if found is None else f"<[{found}]>"


class Constraint:
    """Of one answer. Inside a thought and in a message's header anything may stand."""

    def __init__(self, vocabulary: GrammarVocabulary, answer: str, call: str = "") -> None:
        """answer: grammar of all that is no thought; ''. call: of what follows the mark that begins a call; ''.

        Raises UnderhillError(BAD_REQUEST) for a grammar that cannot be met, or is too complex.
        """
        self._vocabulary = vocabulary
        self._answer: Any = self._matcher(answer) if answer else None
        self._call_grammar = call
        self._call: Any = self._matcher(call) if call else None
        self._inside = False  # a call that `call` is for has begun
        self.over = False  # the whole answer is complete, and nothing can follow

    def _matcher(self, grammar: str) -> Any:
        from llguidance import LLMatcher

        matcher = LLMatcher(self._vocabulary.tokens, LLMatcher.grammar_from_lark(grammar), log_level=0)
        _check(matcher)
        return matcher

    def _active(self, state: str) -> Any:
        if state in (THOUGHT, HEADER):
            return None
        if self._answer is not None:
            return self._answer
        return self._call if state == CALL else None

    def allowed(self, state: str, size: int) -> Mask | None:
        """Which of `size` tokens may come next, None for all. state: of the reader of the answer (formats.reader)."""
        matcher = self._active(state)
        if matcher is None:
            if self._inside:
                self._inside, self._call = False, self._matcher(self._call_grammar)
            return None
        bits = np.unpackbits(np.frombuffer(matcher.compute_bitmask(), np.uint8), bitorder="little")
        _check(matcher)
        mask = np.zeros(size, np.bool_)
        known = min(size, bits.size)
        mask[:known] = bits[:known].astype(np.bool_)
        return mask if mask.any() else None

    def accept(self, token: int, state: str) -> None:
        """A token was chosen in that state."""
        matcher = self._active(state)
        if matcher is None:
            return
        self._inside = matcher is self._call
        if not matcher.is_stopped():
            matcher.consume_token(token)
        _check(matcher)
        self.over = matcher is self._answer and matcher.is_stopped()


def _check(matcher: Any) -> None:
    if matcher.is_error():
        raise _unusable(str(matcher.get_error()))


def _unusable(why: str) -> UnderhillError:
    first = limits.shown(why.splitlines()[0] if why else "")
    return UnderhillError(
        Kind.BAD_REQUEST, msg("The answer cannot be held to this schema: {why}", why=translated(first)), _HINT
    )


def constraint_for(vocabulary: GrammarVocabulary, speech: Speech, options: AnswerOptions) -> Constraint | None:
    """What these options ask of an answer; None where they leave it free. Raises UnderhillError(BAD_REQUEST)."""
    tools = chosen_tools(options)
    calls = grammar_of_calls(vocabulary, speech, tools) if tools else None
    must = options.tool_choice not in ("auto", "none")
    if options.json is None and not must:
        inside = f"start: {calls.inside}\n{calls.rules}" if calls is not None and calls.inside else ""
        return Constraint(vocabulary, "", inside) if inside else None
    if calls is None and must:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("How this model calls tools is in a form that it cannot be made to keep to."),
            msg("Leave it to the model whether it calls one (tool_choice auto)."),
        )
    rules = [
        f"start: {' | '.join(['wanted'] * (not must and options.json is not None) + ['call'] * (calls is not None))}"
    ]
    if not must and options.json is not None:
        rules.append(f"wanted: %json {schema_text({'type': 'object'} if not options.json else options.json)}")
    if calls is not None:
        rules += [f"call: {calls.whole}", calls.rules]
    return Constraint(vocabulary, "\n".join(rules))


def chosen_tools(options: AnswerOptions) -> tuple[Tool, ...]:
    """Those that may be called. Raises UnderhillError(BAD_REQUEST) where one is named that there is none of."""
    if options.tool_choice == "none":
        return ()
    if options.tool_choice in ("auto", "required"):
        if options.tool_choice == "required" and not options.tools:
            raise UnderhillError(Kind.BAD_REQUEST, msg("A tool must be called, and none is given."))
        return options.tools
    found = tuple(tool for tool in options.tools if tool.name == options.tool_choice)
    if not found:
        raise UnderhillError(
            Kind.BAD_REQUEST, msg("There is no tool called {name}.", name=limits.shown(options.tool_choice))
        )
    return found


def grammar_of_calls(vocabulary: GrammarVocabulary, speech: Speech, tools: Sequence[Tool]) -> CallGrammar | None:
    """By the first of the family's formats that a grammar is known for; None where there is none."""
    for calls in speech.declaration.calls:
        if not calls.bare:
            try:
                return CallGrammar(calls, tools, vocabulary.mark)
            except LookupError:
                continue
    return None


def check_options(options: AnswerOptions) -> None:
    """Refuse what would take long to look at, before anything looks at it. Raises UnderhillError(BAD_REQUEST)."""
    schemas = [tool.parameters for tool in options.tools] + ([options.json] if options.json else [])
    if len(options.tools) > limits.TOOLS:
        raise UnderhillError(Kind.BAD_REQUEST, msg("No more than {most} tools can be given.", most=limits.TOOLS))
    for schema in schemas:
        limits.check_schema(schema)


def tool_text(calls: Calls, tools: Sequence[Tool]) -> str:
    """What tells a model of the tools whose own template cannot: as Hermes models are told."""
    signatures = "\n".join(json.dumps(as_function(tool), ensure_ascii=False) for tool in tools)
    return (
        "You may call one or more of these tools:\n"
        f"<tools>\n{signatures}\n</tools>\n"
        f'To call one, write {calls.open}\n{{"name": NAME, "arguments": {{…}}}}\n{calls.close} and nothing after it.'
    )


def as_function(tool: Tool) -> dict[str, Any]:
    """A tool as chat templates want it."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}
