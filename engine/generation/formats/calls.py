"""What stands between the marks of a tool call, read into names and arguments, whichever way a family writes it.

Where a format does not say the type of an argument (`function`, `keys`, `solar2`, `elements`), it stays a text: only
who offered the tool knows what it is.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any

from engine.generation.messages import ToolCall

# One pattern or two for each grammar that a family's chat template teaches its model (families.py says which). All may
# end where the text ends: a call that was cut off is shown as far as it came. First: Qwen3-Coder, Nemotron, Seed.
_FUNCTION = re.compile(r"<function=([^>\n]+)>(.*?)(?:</function>|\Z)", re.S)
_PARAMETER = re.compile(r"<parameter=([^>\n]+)>(.*?)</parameter>", re.S)
# MiniMax; DeepSeek V3.2's DSML
_INVOKE = re.compile(r'<(?:｜DSML｜)?invoke name="([^"]+)">(.*?)(?:</(?:｜DSML｜)?invoke>|\Z)', re.S)
_NAMED = re.compile(
    r'<(?:｜DSML｜)?parameter name="([^"]+)"(?: string="(true|false)")?>(.*?)</(?:｜DSML｜)?parameter>', re.S
)
_ELEMENT = re.compile(r"<([\w.-]+)>(.*?)</\1>", re.S)  # MiniMax M3
# GLM, Hunyuan, LongCat.
_KEY = re.compile(r"<(?:\w+_)?arg_key>(.*?)</(?:\w+_)?arg_key>\s*<(?:\w+_)?arg_value>(.*?)</(?:\w+_)?arg_value>", re.S)
_ONE = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.S)
_SUFFIX = re.compile(r"(</?\w+):\w+>")  # Hy3 writes <tool_call:opensource>
# DeepSeek V3: the arguments stand in a fence of JSON, or bare.
_DEEPSEEK = re.compile(r"<｜tool▁call▁begin｜>(.*?)<｜tool▁sep｜>(.*?)(?:<｜tool▁call▁end｜>|\Z)", re.S)
_FENCED = re.compile(r"\A(.*?)\n```json\n(.*)\n```\s*\Z", re.S)
# Kimi K2, then K3.
_KIMI = re.compile(
    r"<\|tool_call_begin\|>\s*(.*?)\s*<\|tool_call_argument_begin\|>(.*?)(?:<\|tool_call_end\|>|\Z)", re.S
)
_KIMI3 = re.compile(r'<\|open\|>call tool="([^"]+)"[^<]*<\|sep\|>(.*?)(?:<\|close\|>call<\|sep\|>|\Z)', re.S)
_KIMI3_ONE = re.compile(
    r'<\|open\|>argument key="([^"]+)"(?: type="(\w+)")?[^<]*<\|sep\|>(.*?)<\|close\|>argument<\|sep\|>', re.S
)
_KIMI3_JSON = re.compile(r"<\|open\|>json<\|sep\|>(.*?)<\|close\|>json<\|sep\|>", re.S)
# Solar, older and newer.
_SOLAR = re.compile(
    r"<\|tool_call:begin\|>(.*?)<\|tool_call:name\|>(.*?)<\|tool_call:args\|>(.*?)(?:<\|tool_call:end\|>|\Z)", re.S
)
_SOLAR2 = re.compile(r"<\|tool_arg:start\|>(.*?)<\|tool_arg:value\|>(.*?)<\|tool_arg:end\|>", re.S)
_MISTRAL = re.compile(r"\A\s*(\S+?)(?:\[CALL_ID\]\w+)?\[ARGS\](.*)\Z", re.S)
# What a list of Python calls (LFM2, Llama 4) looks like as long as it is not whole.
_BEGUN = re.compile(r"\[\s*(?:[A-Za-z_][\w.]*\s*(?:\(.*)?)?", re.S)
_GEMMA = re.compile(r"call:([\w.-]+)(\{.*\})", re.S)

# What one of the patterns above begins with: each occurrence may make it search to the end.
_MARK = re.compile(r"<(?:｜|\||\w*(?:function|parameter|invoke|tool_call|arg_key))|call:|\[ARGS\]")
_COSTLY = 200_000_000  # marks that begin something times characters in which its end is looked for: 2 s at most


def parse(grammar: str, text: str) -> tuple[ToolCall, ...]:
    """The calls in `text`, what stood between the marks; () where it is not of that grammar."""
    marks = text.count("<") if grammar in ("elements", "any") else sum(1 for _ in _MARK.finditer(text))
    if marks * len(text) > _COSTLY:
        return ()
    try:
        return GRAMMARS[grammar](text)
    except (ValueError, KeyError, TypeError, SyntaxError, RecursionError, MemoryError):
        return ()


def _json(text: str) -> tuple[ToolCall, ...]:
    """One object, a list of them, or several one after the other: {"name": …, "arguments": {…}}."""
    decoder, at, found = json.JSONDecoder(), 0, []
    text = text.strip()
    while at < len(text):
        entry, at = decoder.raw_decode(text, at)
        found += entry if isinstance(entry, list) else [entry]
        while at < len(text) and text[at] in " \n\r\t,;":
            at += 1
    return tuple(_called(entry) for entry in found)


def _called(entry: Any) -> ToolCall:
    if not isinstance(entry, dict):
        raise ValueError("a call is an object")
    entry = entry.get("function", entry) if isinstance(entry.get("function"), dict) else entry
    name = entry.get("name") or entry["tool_name"]
    return ToolCall(str(name), _object(entry.get("arguments", entry.get("parameters", {}))))


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        value = json.loads(value) if value.strip() else {}
    if not isinstance(value, dict):
        raise ValueError("arguments are no object")
    return value


def _line(value: str) -> str:
    """Without one line end on each side."""
    return value.removeprefix("\n").removesuffix("\n")


def _function(text: str) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(name.strip(), {key.strip(): _line(value) for key, value in _PARAMETER.findall(body)})
        for name, body in _FUNCTION.findall(text)
    )


def _keys(text: str) -> tuple[ToolCall, ...]:
    """NAME, then pairs of <arg_key> and <arg_value>; where there are several calls, each in its <tool_call>."""
    text = _SUFFIX.sub(r"\1>", text)
    found: list[ToolCall] = []
    for block in _ONE.findall(text) or [text]:
        if block.lstrip().startswith("{"):
            found += _json(block)
            continue
        name = re.split(r"<(?:\w+_)?arg_key>|<tool_sep>", block, maxsplit=1)[0].strip()
        if not name or re.search(r"[\s<{]", name):
            return ()
        found.append(ToolCall(name, {key.strip(): value for key, value in _KEY.findall(block)}))
    return tuple(found)


def _invoke(text: str) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(name, {key: _told(value, kind) for key, kind, value in _NAMED.findall(body)})
        for name, body in _INVOKE.findall(text)
    )


def _told(value: str, text: str) -> Any:
    """text: whether it is one, 'true' or 'false'; '' where the format does not say."""
    return json.loads(value) if text == "false" else value


def _elements(text: str) -> tuple[ToolCall, ...]:
    """One element per argument, named like it; every tag carries a prefix."""
    text = text.replace("]<]minimax[>[", "")
    return tuple(ToolCall(name, _members(body)) for name, body in _INVOKE.findall(text))


def _members(text: str) -> dict[str, Any]:
    return {name: _inner(body) for name, body in _ELEMENT.findall(text)}


def _inner(text: str) -> Any:
    found = _ELEMENT.findall(text)
    if not found:
        return text
    return [_inner(body) for _, body in found] if {n for n, _ in found} == {"item"} else _members(text)


def _deepseek(text: str) -> tuple[ToolCall, ...]:
    """V3 and R1: function, the name, the arguments in a fence; V3.1: the name, the arguments."""
    found = []
    for name, rest in _DEEPSEEK.findall(text):
        fenced = _FENCED.match(rest)
        found.append(ToolCall(*(fenced[1].strip(), _object(fenced[2])) if fenced else (name.strip(), _object(rest))))
    return tuple(found)


def _kimi(text: str) -> tuple[ToolCall, ...]:
    """The name is inside the id: functions.NAME:NUMBER."""
    return tuple(
        ToolCall(re.sub(r":\d+$", "", ident).removeprefix("functions."), _object(rest), ident)
        for ident, rest in _KIMI.findall(text)
    )


def _kimi3(text: str) -> tuple[ToolCall, ...]:
    """call tool="NAME", and in it an argument each, which says its type; or all of them as one JSON."""
    found = []
    for name, body in _KIMI3.findall(text):
        whole = _KIMI3_JSON.search(body)
        named = {key: value if kind == "string" else json.loads(value) for key, kind, value in _KIMI3_ONE.findall(body)}
        found.append(ToolCall(name, _object(whole[1]) if whole else named))
    return tuple(found)


def _solar(text: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(name.strip(), _object(rest), ident) for ident, name, rest in _SOLAR.findall(text))


def _solar2(text: str) -> tuple[ToolCall, ...]:
    name = text.partition("<|tool_arg:start|>")[0].strip()
    return (ToolCall(name, dict(_SOLAR2.findall(text))),) if name else ()


def _mistral(text: str) -> tuple[ToolCall, ...]:
    """NAME[ARGS]{…}, once per mark; before that a list of objects."""
    if text.lstrip().startswith("["):
        return _json(text)
    found = [_MISTRAL.match(each) for each in text.split("[TOOL_CALLS]") if each.strip()]
    return tuple(ToolCall(m[1], _object(m[2])) for m in found if m)


def _python(text: str) -> tuple[ToolCall, ...]:
    """[f(a="x", n=1), g()]. Nothing is run."""
    tree = ast.parse(text.strip(), mode="eval").body
    calls = tree.elts if isinstance(tree, ast.List) else [tree]
    return tuple(
        ToolCall(ast.unparse(c.func), {str(k.arg): ast.literal_eval(k.value) for k in c.keywords})
        for c in calls
        if isinstance(c, ast.Call)
    )


def bare(text: str) -> tuple[ToolCall, ...] | None:
    """The calls of a list as `_python` reads them that has no marks; () where it is none, None while it may become one.

    Arguments have names there: what has none is somebody's example.
    """
    if not _BEGUN.fullmatch(text):
        return ()
    if not text.endswith("]") or text.count("[") > text.count("]"):
        return None
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return ()
    entries = tree.elts if isinstance(tree, ast.List) else []
    named = entries and all(isinstance(entry, ast.Call) and not entry.args for entry in entries)
    return parse("python", text) if named else ()


def _gemma(text: str) -> tuple[ToolCall, ...]:
    """call:NAME{key:<|"|>text<|"|>,n:1}: bare keys, texts between marks of their own."""
    parts = text.split('<|"|>')
    quoted = [json.dumps(part, ensure_ascii=False) if at % 2 else _bare(part) for at, part in enumerate(parts)]
    found = _GEMMA.search("".join(quoted))
    return (ToolCall(found[1], _object(found[2])),) if found else ()


def _bare(text: str) -> str:
    head, mark, rest = text.partition("{") if text.lstrip().startswith("call:") else ("", "", text)
    return head + mark + re.sub(r"(^|[{,])\s*([\w.-]+)\s*:", r'\1"\2":', rest)


def _any(text: str) -> tuple[ToolCall, ...]:
    """For a model of no known family: by what the text begins with."""
    if text.lstrip().startswith(("{", "[")):
        return _json(text)
    return _function(text) or _invoke(text) or _keys(text)


def spoken(name: str, text: str) -> tuple[ToolCall, ...]:
    """A call whose name stood in a message's header."""
    try:
        return (ToolCall(name, _object(text)),)
    except ValueError:
        return ()


GRAMMARS: dict[str, Callable[[str], tuple[ToolCall, ...]]] = {
    "any": _any, "json": _json, "function": _function, "keys": _keys, "invoke": _invoke, "elements": _elements,
    "deepseek": _deepseek, "kimi": _kimi, "kimi3": _kimi3, "solar": _solar, "solar2": _solar2, "mistral": _mistral,
    "python": _python, "gemma": _gemma,
}  # fmt: skip
