"""A listener of answers that nobody reads."""

from __future__ import annotations

from collections.abc import Sequence


class Unheard:
    """Takes what an answer tells, and never stops it."""

    def turns_dropped(self, count: int) -> None:
        """Turns that the context had no room for."""

    def prompt_read(self, done: int, total: int, reused: int) -> None:
        """How far the prompt is read."""

    def text(self, text: str, token_ids: Sequence[int]) -> None:
        """More of the answer."""

    def cancelled(self) -> bool:
        """Never."""
        return False
