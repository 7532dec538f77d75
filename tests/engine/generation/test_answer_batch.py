"""Several answers at once are those of each alone, whoever joins, leaves or fails on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import resources
from engine.errors import Kind, UnderhillError
from engine.generation.answer import AnswerWriter
from engine.generation.answer_batch import AnswerBatch, BatchedAnswer
from engine.generation.chat import ChatFormat, Prompt
from engine.generation.context import Context
from engine.generation.sampling import Sampling
from engine.translatable import translated
from tests.engine.generation.answering import answer
from tests.engine.generation.fakes import FakeModel

CHAT = ChatFormat(resources.path("builtin", "model"))


@dataclass
class Asked:
    """A prompt, when it comes, and when it is cancelled: after how many rounds, and after how many tokens."""

    ids: list[int]
    tokens: int
    comes: int = 0
    cancelled_after: int | None = None
    background: bool = False
    shown: list[int] = field(default_factory=list)

    def turns_dropped(self, count: int) -> None: ...

    def prompt_read(self, done: int, total: int, reused: int) -> None: ...

    def text(self, text: str, token_ids: Sequence[int]) -> None:
        self.shown += token_ids

    def cancelled(self) -> bool:
        return self.cancelled_after is not None and len(self.shown) >= self.cancelled_after

    def writer(self) -> AnswerWriter:
        sampling = Sampling(temperature=0, max_tokens=self.tokens)
        return AnswerWriter(CHAT, Prompt(ids=tuple(self.ids), history=len(self.ids) // 2), sampling, (), self)

    def alone(self, recurrent: bool, limit: int = 1000) -> list[int]:
        """The tokens that it is answered alone."""
        model = FakeModel(recurrent, talks)
        by_itself = Asked(self.ids, self.tokens)
        sampling = Sampling(temperature=0, max_tokens=self.tokens)
        prompt = Prompt(ids=tuple(self.ids), history=len(self.ids) // 2)
        return answer(Context(model, limit, 4), CHAT, prompt, sampling, (), by_itself).token_ids


def talks(seen: list[int]) -> int:
    """Depends on all it has seen, and never stops: 0 to 2 are special."""
    return 3 + (sum(seen) * 7 + len(seen)) % 50


def made(batch: AnswerBatch, asked: Sequence[Asked], rounds: int = 1_000) -> dict[int, BatchedAnswer]:
    """All of them, each from the round on in which it comes, as soon as there is a place."""
    running: dict[int, BatchedAnswer] = {}
    for now in range(rounds):
        for at, one in enumerate(asked):
            if at not in running and one.comes <= now and batch.has_place(one.background):
                running[at] = batch.begin(one.writer(), one, background=one.background)
        batch.advance()
        if not batch.running and len(running) == len(asked):
            return running
    raise AssertionError("they do not end")


ASKED = st.builds(
    Asked,
    ids=st.lists(st.integers(3, 40), min_size=1, max_size=14),
    tokens=st.integers(1, 12),
    comes=st.integers(0, 12),
    cancelled_after=st.one_of(st.none(), st.integers(0, 6)),
    background=st.booleans(),
)


@given(
    asked=st.lists(ASKED, min_size=1, max_size=12),
    recurrent=st.booleans(),
    limit=st.sampled_from([30, 60, 1000]),
    chunk=st.sampled_from([4, 24]),
)
def test_every_answer_is_that_of_its_prompt_alone(asked: list[Asked], recurrent: bool, limit: int, chunk: int) -> None:
    """limit: with memory for one or two at a time, and for all."""
    asked = [Asked(one.ids, one.tokens, one.comes, one.cancelled_after, one.background) for one in asked]
    model = FakeModel(recurrent, talks)
    context = Context(model, limit, chunk)
    running = made(AnswerBatch(context), asked)
    assert all(sum(tokens) <= chunk for tokens in model.beside)
    for at, one in enumerate(asked):
        wanted, found = one.alone(recurrent, limit), running[at].answer
        assert running[at].error is None
        assert found.token_ids == wanted[: len(found.token_ids)]
        assert one.shown == found.token_ids
        if one.cancelled_after is None or one.cancelled_after >= len(wanted):
            assert found.token_ids == wanted
            assert found.finish == "length"
        else:
            assert found.finish == "cancelled"
    assert not any(sequence.busy for sequence in context.sequences())
    assert context.needed <= limit


def test_answers_share_their_passes() -> None:
    model = FakeModel(script=talks)
    asked = [Asked([10 + n, 11, 12], 9) for n in range(4)]
    made(AnswerBatch(Context(model, 1000, 8)), asked)
    assert max(model.steps) == 4
    # Two prompts fit in a chunk, and the other two are read beside tokens of theirs; the rest goes together.
    assert model.beside == [[3, 3], [3, 3]]
    assert sum(1 for rows in model.steps if rows == 4) >= 6


def test_prompts_are_read_in_one_pass_as_far_as_they_fit_in_a_chunk() -> None:
    """Each in the parts that it has alone: none is cut for another one, and a person's is not beside a program's."""
    model = FakeModel(script=talks)
    batch = AnswerBatch(Context(model, 1000, 8))
    asked = [Asked([5] * 11, 3), Asked([6] * 5, 3), Asked([7] * 4, 3), Asked([8] * 3, 3, background=True)]
    made(batch, asked)
    assert model.passes[0] == [5] * 8
    assert model.beside == [[3, 5]]
    assert [part for part in model.passes if part[0] in (7, 8) and len(part) > 1] == [[7] * 4, [8] * 3]


def test_who_is_cancelled_in_a_shared_chunk_ends_at_once_and_the_others_go_on() -> None:
    model, asks = FakeModel(script=talks), []  # type: ignore[var-annotated]
    ended: list[int] = []

    class Leaves(Asked):
        def cancelled(self) -> bool:
            return bool(asks)

    asked = [Asked([5, 6, 7], 4), Leaves([8, 9], 4), Asked([4, 4], 4)]
    wanted = [one.alone(False) for one in asked]

    @contextmanager
    def interruptible(cancelled: Callable[[], bool]) -> Iterator[None]:
        """Asked in the middle of the first chunk."""
        if not asks:
            asks.append(cancelled)
            assert not cancelled()
            assert ended == [1]
        yield

    batch = AnswerBatch(Context(model, 1000, 8), interruptible=interruptible)
    running = [batch.begin(one.writer(), one, ended=lambda _, at=at: ended.append(at)) for at, one in enumerate(asked)]
    while batch.running:
        batch.advance()
    assert model.beside == [[3, 2, 2]]
    assert running[1].answer.finish == "cancelled"
    assert [running[at].answer.token_ids for at in (0, 2)] == [wanted[0], wanted[2]]


def test_a_shared_chunk_ends_where_all_leave() -> None:
    model, left = FakeModel(script=talks), []  # type: ignore[var-annotated]
    forward = model.forward_parts

    def asks(parts: Sequence[Any]) -> list[Any]:
        left.append(True)
        if interrupted[0]():
            raise UnderhillError(Kind.CANCELLED, translated("Stopped."))
        return forward(parts)

    class Leaves(Asked):
        def cancelled(self) -> bool:
            return bool(left)

    @contextmanager
    def interruptible(cancelled: Callable[[], bool]) -> Iterator[None]:
        interrupted[:] = [cancelled]
        yield

    interrupted: list[Callable[[], bool]] = []
    model.forward_parts = asks  # type: ignore[method-assign]
    batch = AnswerBatch(Context(model, 1000, 8), interruptible=interruptible)
    running = [batch.begin(one.writer(), one) for one in (Leaves([5, 6, 7], 4), Leaves([8, 9], 4))]
    while batch.running:
        batch.advance()
    assert [(one.answer.finish, one.error) for one in running] == [("cancelled", None)] * 2
    assert not any(one.sequence.busy or one.sequence.needed for one in running)


def test_a_prompt_that_fails_in_a_shared_chunk_leaves_the_others() -> None:
    for recurrent in (False, True):
        asked = [Asked([5] * 6, 2), Asked([9] * 9, 5), Asked([4] * 4, 4)]
        wanted = [one.alone(recurrent) for one in asked]
        model = FakeModel(recurrent, talks)
        model.fail_at = 8  # only the second one gets so far
        running = made(AnswerBatch(Context(model, 1000, 16)), asked)
        assert model.beside
        assert isinstance(running[1].error, OSError)
        assert running[1].answer.token_ids == []
        for at in (0, 2):
            assert running[at].answer.token_ids == wanted[at]


def test_one_that_fails_leaves_the_others() -> None:
    for recurrent in (False, True):
        asked = [Asked([5, 6, 7], 9), Asked([8, 9, 10, 11, 12, 13], 9), Asked([4], 9)]
        wanted = [one.alone(recurrent) for one in asked]
        model = FakeModel(recurrent, talks)
        model.fail_at = 11  # only the second one gets so far
        running = made(AnswerBatch(Context(model, 1000, 4)), asked)
        assert isinstance(running[1].error, OSError)
        assert running[1].answer.token_ids == wanted[1][: len(running[1].answer.token_ids)]
        assert len(running[1].answer.token_ids) == 6
        for at in (0, 2):
            assert running[at].error is None
            assert running[at].answer.token_ids == wanted[at]


def test_the_switch_of_frequencies_comes_for_each_at_its_own_length() -> None:
    asked = [Asked([5, 6, 7], 9), Asked([8, 9, 10, 11, 12], 9)]
    wanted = [one.alone(False) for one in asked]
    model = FakeModel(script=talks)
    model.switch = 8
    running = made(AnswerBatch(Context(model, 1000, 4)), asked)
    assert [running[at].answer.token_ids for at in range(2)] == wanted


def test_a_place_is_kept_for_a_person() -> None:
    batch = AnswerBatch(Context(FakeModel(script=talks), 1000, 4))
    while batch.has_place(background=True):
        one = Asked([9, len(batch.running) + 3], 5)
        batch.begin(one.writer(), one, background=True)
    assert len(batch.running) > 1
    with pytest.raises(UnderhillError) as refused:
        batch.begin(one.writer(), one, background=True)
    assert refused.value.kind is Kind.BUSY
    person = Asked([7, 7], 5)
    batch.begin(person.writer(), person)
    assert not batch.has_place(background=False)


def test_who_came_last_gives_its_memory_back_and_goes_on_exactly() -> None:
    model = FakeModel(script=talks)
    person, program = Asked([5] * 10, 12), Asked([6] * 6, 12, background=True)
    wanted = [one.alone(False) for one in (person, program)]
    running = made(AnswerBatch(Context(model, 24, 4)), [program, person])
    assert [running[1].answer.token_ids, running[0].answer.token_ids] == wanted
    assert sum(part[:1] == [6] for part in model.passes) >= 2  # its prompt was read a second time


def test_answers_that_are_given_up_are_cancelled_or_fail() -> None:
    batch = AnswerBatch(Context(FakeModel(script=talks), 1000, 4))
    ended: list[int] = []
    asked = [Asked([5, 6], 50), Asked([7], 50)]
    running = [batch.begin(one.writer(), one, ended=lambda _, at=at: ended.append(at)) for at, one in enumerate(asked)]
    for _ in range(5):
        batch.advance()
    batch.abandon()
    assert ended == [0, 1]
    assert [one.answer.finish for one in running] == ["cancelled"] * 2
    assert all(
        one.answer.token_ids == alone.alone(False)[: len(one.answer.token_ids)] for one, alone in zip(running, asked)
    )
