"""Syntax highlighting and formula rendering by other people's libraries, in a sandboxed process, and its client.

Both know input on which they never end, and while Python's expressions search, no other thread of a process runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from engine.sandbox import SandboxedFunction, SandboxFailure

_RAISED = re.compile(r"(\\begin\{(\w+)\}[\s\S]*?\\end\{\2\})(?=\s*[\^_])")  # refused unless in braces
MEMORY = 400_000_000  # bytes; a formula takes some MB, long code some ten
SECONDS = 10.0  # 5,000 lines of code take two; what takes longer stays as it is written
PROCESS = SandboxedFunction("app.markdown.typeset:serve", MEMORY)


def spans(code: str, language: str) -> list[tuple[int, int, str]]:
    """(start, length, style) of each coloured run, in UTF-16 units; none where the language is not known."""
    from pygments import lexers, token, util  # 100 ms with its first lexer, and most chats hold no code

    styles = (
        (token.Comment, "comment"), (token.String, "string"), (token.Number, "number"), (token.Keyword, "keyword"),
        (token.Name.Builtin, "builtin"), (token.Name.Function, "name"), (token.Name.Class, "name"),
        (token.Name.Decorator, "builtin"), (token.Name.Tag, "keyword"), (token.Name.Attribute, "name"),
        (token.Operator.Word, "keyword"), (token.Operator, "operator"), (token.Error, "error"),
    )  # fmt: skip
    try:
        lexer = lexers.get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except util.ClassNotFound:
        return []
    found = []
    at = 0
    for kind, text in lexer.get_tokens(code):
        style = next((name for family, name in styles if kind in family), "")  # type: ignore[comparison-overlap]
        width = len(text.encode("utf-16-le", "surrogatepass")) // 2  # Qt counts so
        if style and text.strip():
            found.append((at, width, style))
        at += width
    return found


def svg(latex: str, display: bool, size: float, colour: str) -> str:
    """Render a formula as SVG whose baseline is at 0. Any exception: it cannot be rendered."""
    import ziafont  # half a second with its typeface, and most chats hold no formula
    import ziamath

    latex = _RAISED.sub(r"{\1}", latex)
    ziafont.config.svg2 = False  # no <symbol>: Qt draws SVG 1.2 Tiny
    set_ = ziamath.Latex(latex, size=size, color=colour, inline=not display)
    return str(set_.svg())


def serve(what: str, *arguments: Any) -> Iterator[Any]:
    """Call one of the above, by name."""
    known: dict[str, Callable[..., Any]] = {"spans": spans, "svg": svg}
    yield known[what](*arguments)


def sandboxed_spans(code: str, language: str) -> list[tuple[int, int, str]]:
    """Call `spans` in the process and wait; none where it fails."""
    found: Any = _asked("spans", code, language)
    return [(start, length, style) for start, length, style in found or ()]


def sandboxed_svg(latex: str, display: bool, size: float, colour: str) -> str:
    """Call `svg` in the process and wait; empty where it fails."""
    return str(_asked("svg", latex, display, size, colour) or "")


def end(worker: ThreadPoolExecutor) -> None:
    """End a thread that asks the process, and the process."""
    worker.shutdown(wait=False, cancel_futures=True)
    PROCESS.cancel()
    worker.shutdown(wait=True)
    PROCESS.close()


def _asked(*arguments: Any) -> Any:
    try:
        return PROCESS.call(*arguments, seconds=SECONDS)
    except SandboxFailure:
        return None
