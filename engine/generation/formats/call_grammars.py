"""Grammars of tool calls, so that a model that is held to one can only call what there is, with arguments that fit.

Written in the dialect of Lark that llguidance reads: `%json` is a JSON schema, `<[7]>` the token of that number.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from engine.generation.formats.declaration import Calls
from engine.generation.messages import Tool

# One way to write a value, as `json.dumps` does: with free white space a small model may go on writing only that.
JSON_STYLE = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
Mark = Callable[[str], str]  # a text of the format as the grammar has it: a token of the vocabulary, or a string


class CallGrammar:
    """The rules for one call of any of `tools`, between the marks of `calls` and with them."""

    def __init__(self, calls: Calls, tools: Sequence[Tool], mark: Mark) -> None:
        """Raises LookupError for a format that no grammar is known for."""
        self._mark = mark
        self._rules: list[str] = []
        body = _BODIES[calls.grammar](self, calls, tools)
        close = f" {mark(calls.close)}" if calls.close else ""
        self.inside = f"{body}{close}" if not calls.whole else ""
        self.whole = f"{mark(calls.open)} {body}{close}"
        if calls.whole:  # the marks are part of how a call begins and ends
            self.whole = body

    @property
    def rules(self) -> str:
        """What `inside` and `whole` refer to, a rule a line."""
        return "\n".join(self._rules)

    def _rule(self, text: str) -> str:
        name = f"call{len(self._rules)}"
        self._rules.append(f"{name}: {text}")
        return name

    def _any(self, alternatives: Sequence[str]) -> str:
        return self._rule(" | ".join(map(self._rule, alternatives)))

    def _arguments(self, tool: Tool) -> str:
        return self._rule(f"%json {schema_text({'type': 'object', **tool.parameters})}")

    def json(self, calls: Calls, tools: Sequence[Tool]) -> str:
        """Hermes: {"name": …, "arguments": {…}}; in the marks of several calls, a list of them."""
        one = self._any(
            [
                f'{quoted("{" + _member("name", t.name) + ", " + _key("arguments"))} {self._arguments(t)} "}}"'
                for t in tools
            ]
        )
        return f'"\\n" {one} "\\n"' if calls.open == "<tool_call>" else f'"[" {one} "]"'

    def mistral(self, calls: Calls, tools: Sequence[Tool]) -> str:
        """NAME[ARGS]{…}"""
        return self._any([f"{quoted(t.name)} {self._mark('[ARGS]')} {self._arguments(t)}" for t in tools])

    def deepseek(self, calls: Calls, tools: Sequence[Tool]) -> str:
        """V3.1: each call between marks of its own."""
        begin, middle, end = map(self._mark, ("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"))
        return self._any([f"{begin} {quoted(t.name)} {middle} {self._arguments(t)} {end}" for t in tools])

    def kimi(self, calls: Calls, tools: Sequence[Tool]) -> str:
        """K2: the name is inside the id."""
        begin, middle, end = map(
            self._mark, ("<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>")
        )
        return self._any(
            [f"{begin} {quoted(f'functions.{t.name}:0')} {middle} {self._arguments(t)} {end}" for t in tools]
        )

    def function(self, calls: Calls, tools: Sequence[Tool]) -> str:
        """Qwen3-Coder: <function=NAME>, one <parameter=KEY> after the other, texts as they are."""
        one = self._any([self._function(t) for t in tools])
        return one if calls.whole else f'"\\n" {one} "\\n"'

    def _function(self, tool: Tool) -> str:
        known = tool.parameters.get("properties", {})
        needed = tool.parameters.get("required", [])
        parts = []
        for name, schema in known.items():
            one = self._parameter(name, schema if isinstance(schema, dict) else {}, tool.parameters)
            parts.append(one if name in needed else f"{one}?")
        return " ".join([quoted(f"<function={tool.name}>\n"), *parts, quoted("</function>")])

    def _parameter(self, name: str, schema: dict[str, Any], whole: dict[str, Any]) -> str:
        begin, end = quoted(f"<parameter={name}>\n"), quoted("\n</parameter>\n")
        if schema.get("type") != "string":
            definitions: dict[str, Any] = {key: whole[key] for key in ("$defs", "definitions") if key in whole}
            return self._rule(f"{begin} {self._rule(f'%json {schema_text({**definitions, **schema})}')} {end}")
        if isinstance(choices := schema.get("enum"), list) and choices:
            return self._rule(f"{begin} {self._any([quoted(str(each)) for each in choices])} {end}")
        text = f"call{len(self._rules)}"
        self._rules.append(f"{text}[suffix={end}]: /(?s:.*)/")
        return self._rule(f"{begin} {text}")


def schema_text(schema: dict[str, Any]) -> str:
    """A JSON schema, its values to be written in one style."""
    return json.dumps({**schema, "x-guidance": JSON_STYLE}, ensure_ascii=True)


def quoted(text: str) -> str:
    """A text as a string of the grammar."""
    return json.dumps(text, ensure_ascii=False)


def _member(key: str, value: str) -> str:
    return f"{_key(key)}{json.dumps(value, ensure_ascii=False)}"


def _key(key: str) -> str:
    return f'"{key}": '


_BODIES: dict[str, Callable[[CallGrammar, Calls, Sequence[Tool]], str]] = {
    "json": CallGrammar.json, "any": CallGrammar.json, "mistral": CallGrammar.mistral,
    "deepseek": CallGrammar.deepseek, "kimi": CallGrammar.kimi, "function": CallGrammar.function,
}  # fmt: skip
