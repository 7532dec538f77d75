"""How passages stand in a prompt: numbered, above the question, each in a fence that nothing in it can close."""

from __future__ import annotations

from collections.abc import Sequence

from engine.documents.passages import Passage
from engine.documents.terms import spaceless

SHARE, LARGEST = 0.25, 3000  # of the context that passages take, and tokens at most
UNKNOWN = 800  # tokens, where no model is loaded
_ENGLISH = (
    "These passages from the user's documents may help to answer. Use only what fits the question, and cite a passage "
    "by its number, like [1]. If they don't have the answer, say so."
)
_CHINESE = (
    "以下是用户文档中可能有帮助的段落。只使用与问题相关的内容，并用编号注明出处，例如 [1]。"
    "如果其中没有答案，就直接说明。"
)


def room_for_passages(context: int) -> int:
    """Tokens of passages that go with a question. context: tokens that the model sees at a time; 0: not known."""
    return min(LARGEST, round(SHARE * context)) if context else UNKNOWN


def with_passages(content: str, passages: Sequence[Passage]) -> str:
    """A question with the passages that were found for it; the question alone where none were."""
    if not passages:
        return content
    frame = _CHINESE if spaceless(content) > len(content) // 4 else _ENGLISH
    parts = [f"[{number}] {place(passage)}\n{fence(passage.text)}" for number, passage in enumerate(passages, 1)]
    return "\n\n".join((frame, *parts, content))


def place(passage: Passage) -> str:
    """Where a passage stands, in the prompt: 'guide.pdf, page 3' or 'guide.md, Settings › Memory, lines 10-20'."""
    first, last = passage.line, passage.last_line
    lines = f"line {first}" if first == last else f"lines {first}-{last}"
    where = f"page {passage.page}" if passage.page else lines
    return ", ".join(part for part in (passage.name, passage.heading, where) if part)


def fence(text: str, language: str = "") -> str:
    """A text in a fence that nothing in it can close."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}{language}\n{text}\n{ticks}"
