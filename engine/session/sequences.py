"""What is one sequence: the rule by which a session says that another one begins or the last one goes on."""

from __future__ import annotations

from collections.abc import Sequence

from engine.generation.messages import Message


class Sequences:
    """Remembers what was asked last, and how it was answered.

    A sequence goes on while the same chat does: its next question, the rest of an answer that was cut, another answer
    to the same question. Another chat begins one, and so does a branch of this one: a message (the system prompt
    included) that is not the one it was, or an answer other than the one that was given. How much of it the context
    still holds has no part in it: chats share a template's first tokens, and turns that no longer fit are left out.
    """

    def __init__(self) -> None:
        self._chat = ""
        self._asked: tuple[Message, ...] = ()
        self._answer: Message | None = None

    def begins(self, chat: str, messages: Sequence[Message]) -> bool:
        """Whether a sequence begins with these messages of a chat. They are what was asked last from now on."""
        goes_on = chat == self._chat and self._goes_on(messages)
        self._chat, self._asked, self._answer = chat, tuple(messages), None
        return not goes_on

    def _goes_on(self, messages: Sequence[Message]) -> bool:
        known = self._asked
        if not known or len(messages) < len(known) or not all(map(_same, known, messages)):
            return False
        coming = messages[len(known) :]
        return self._answer is None or not coming or coming[0].role != "assistant" or _same(self._answer, coming[0])

    def answered(self, text: str, token_ids: Sequence[int], *, continue_last: bool = False) -> None:
        """The answer to what was asked last, as far as it came. continue_last: it went on with the last message."""
        before = Message("assistant", "")
        if continue_last:
            before, self._asked = self._asked[-1], self._asked[:-1]
        self._answer = Message("assistant", before.content + text, (*before.token_ids, *token_ids))


def _same(one: Message, other: Message) -> bool:
    if one.role != other.role:
        return False
    if one.token_ids and one.token_ids == other.token_ids:
        return True
    return one.content.strip() == other.content.strip()
