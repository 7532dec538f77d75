"""Turns what happens while an answer is made into events."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine import protocol


class AnswerFollower:
    """Listener of an answer: turns what happens into events, and lets live settings in between tokens."""

    def __init__(
        self,
        command: str,
        emit: Callable[[protocol.Event], None],
        cancelled: Callable[[], bool],
        between: Callable[[], None],
    ) -> None:
        self._id, self._emit, self._cancelled, self._between = command, emit, cancelled, between
        self.dropped = 0
        self.logprobs: list[protocol.TokenLogprob] = []  # of tokens whose text is still to come

    def turns_dropped(self, count: int) -> None:
        self.dropped = count

    def prompt_read(self, done: int, total: int, reused: int) -> None:
        self._emit(protocol.PromptRead(self._id, done, total, reused, self.dropped))

    def text(self, text: str, token_ids: Sequence[int]) -> None:
        logprobs = tuple(self.logprobs)
        self.logprobs.clear()
        self._emit(protocol.TextDelta(self._id, text, tuple(token_ids), logprobs))

    def cancelled(self) -> bool:
        self._between()
        return self._cancelled()
