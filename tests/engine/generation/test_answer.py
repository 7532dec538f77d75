"""The decode loop: why it ends, what it shows, and what it keeps."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine import resources
from engine.generation.answer import Answer
from engine.generation.chat import ChatFormat, Prompt
from engine.generation.context import Context
from engine.generation.sampling import Sampling
from tests.engine.generation.answering import answer
from tests.engine.generation.fakes import VOCABULARY, FakeModel

PROMPT = Prompt(ids=(5, 6, 7), history=3)
GREEDY = Sampling(temperature=0, max_tokens=50)


class Follower:
    """Notes everything; `stop_after` tokens of text it cancels."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.shown, self.tokens, self.reads, self.asked = "", [], [], 0
        self.stop_after = stop_after

    def turns_dropped(self, count: int) -> None: ...

    def prompt_read(self, done: int, total: int, reused: int) -> None:
        self.reads.append((done, total, reused))

    def text(self, text: str, token_ids: Sequence[int]) -> None:
        self.shown += text
        self.tokens += token_ids

    def cancelled(self) -> bool:
        self.asked += 1
        return self.stop_after is not None and len(self.tokens) >= self.stop_after


@pytest.fixture(scope="module")
def chat() -> ChatFormat:
    return ChatFormat(resources.path("builtin", "model"))


def run(
    chat: ChatFormat, says: list[int], follower: Follower, *, limit: int = 100, **kw: object
) -> tuple[Answer, Context]:
    """A model that says these tokens and then stops."""
    model = FakeModel(script=lambda seen: says[len(seen) - 3] if 0 <= len(seen) - 3 < len(says) else 2)
    context = Context(model, limit, 8)
    sampling = kw.pop("sampling", GREEDY)
    stops = kw.pop("stops", ())
    return answer(context, chat, PROMPT, sampling, stops, follower), context  # type: ignore[arg-type]


def printable(chat: ChatFormat, count: int) -> list[int]:
    return [i for i in range(3, VOCABULARY) if chat.decode([i]).isprintable() and chat.decode([i])][:count]


def test_the_stop_token_ends_it_and_is_not_kept(chat: ChatFormat) -> None:
    says = printable(chat, 5)
    follower = Follower()
    result, context = run(chat, says, follower)
    assert result.finish == "stop"
    assert result.token_ids == follower.tokens == says
    assert result.text == follower.shown == chat.decode(says)
    assert context.tokens == [*PROMPT.ids, *says]


def test_the_limit_ends_it_exactly_there(chat: ChatFormat) -> None:
    result, _ = run(chat, printable(chat, 20), Follower(), sampling=Sampling(temperature=0, max_tokens=7))
    assert (result.finish, len(result.token_ids)) == ("length", 7)


def test_stop_works_within_one_token(chat: ChatFormat) -> None:
    follower = Follower(stop_after=3)
    result, _ = run(chat, printable(chat, 20), follower)
    assert result.finish == "cancelled"
    assert len(result.token_ids) == 3


def test_a_full_context_ends_it_with_all_that_fitted(chat: ChatFormat) -> None:
    result, context = run(chat, printable(chat, 20), Follower(), limit=8)
    assert result.finish == "context"
    assert len(PROMPT.ids) + len(result.token_ids) == 9  # the last one is said but not fed
    assert len(context.tokens) == 8


def test_a_stop_text_is_cut_off(chat: ChatFormat) -> None:
    says = printable(chat, 10)
    whole = chat.decode(says)
    stop = whole[4:6]
    follower = Follower()
    result, _ = run(chat, says, follower, stops=(stop,))
    assert result.finish == "stop_text"
    assert result.text == follower.shown == whole[: whole.index(stop)]


def test_cancelling_while_the_prompt_is_read_gives_an_empty_answer(chat: ChatFormat) -> None:
    result, _ = run(chat, printable(chat, 3), Follower(stop_after=0))
    assert (result.finish, result.text, result.token_ids) == ("cancelled", "", [])


def test_an_answer_cut_inside_a_character_shows_what_is_there(chat: ChatFormat) -> None:
    first = chat.encode("😀")[0]
    assert first < 4096
    model = FakeModel(script=lambda seen: 2)
    context = Context(model, 100, 8)

    class Says(FakeModel):
        def forward(self, ids, state, want="last", horizon=0):  # type: ignore[no-untyped-def]
            import torch

            state.seen += map(int, ids)
            token = first if len(state.seen) == 3 else 2
            return None if want == "none" else torch.nn.functional.one_hot(torch.tensor([token]), 4096).float()

    context = Context(Says(), 100, 8)
    follower = Follower()
    result = answer(context, chat, PROMPT, GREEDY, (), follower)
    assert result.text == follower.shown == "\ufffd"
    assert follower.tokens == [first]
