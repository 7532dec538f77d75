"""Client of the sandboxed process that runs `typeset`, with a deadline and a memory limit."""

from __future__ import annotations

from typing import Any

from engine.sandbox import SandboxedFunction, SandboxFailure

MEMORY = 400_000_000  # bytes; a formula takes some MB, long code some ten
SECONDS = 10.0  # 5,000 lines of code take two; what takes longer stays as it is written
PROCESS = SandboxedFunction("app.markdown.typeset:serve", MEMORY)


def spans(code: str, language: str) -> list[tuple[int, int, str]]:
    """Call typeset.spans and wait; none where it fails."""
    found: Any = _asked("spans", code, language)
    return [(start, length, style) for start, length, style in found or ()]


def svg(latex: str, display: bool, size: float, colour: str) -> str:
    """Call typeset.svg and wait; '' where it fails."""
    return str(_asked("svg", latex, display, size, colour) or "")


def _asked(*arguments: Any) -> Any:
    try:
        return PROCESS.call(*arguments, seconds=SECONDS)
    except SandboxFailure:
        return None
