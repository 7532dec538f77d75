"""A prompt is read once: what is common with the last one is kept, and nothing wrong is ever built upon."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import Kind, UnderhillError
from engine.generation.context import Context, PromptReader
from tests.engine.generation.fakes import FakeModel


def says(logits: torch.Tensor | None) -> int:
    assert logits is not None
    return int(logits.argmax())


def expected(ids: list[int]) -> int:
    return (sum(ids) + 1) % 64


@given(
    prompts=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=30), min_size=1, max_size=6),
    recurrent=st.booleans(),
    chunk=st.integers(1, 7),
    mark=st.integers(0, 30),
)
def test_any_sequence_of_prompts_gives_what_each_alone_would_give(
    prompts: list[list[int]], recurrent: bool, chunk: int, mark: int
) -> None:
    context = Context(FakeModel(recurrent), 1000, chunk)
    for ids in prompts:
        assert says(context.read(ids, (mark,))) == expected(ids)
        assert context.tokens == ids


@pytest.mark.parametrize("recurrent", [False, True])
def test_no_prompt_at_all_is_refused_and_changes_nothing(recurrent: bool) -> None:
    context = Context(FakeModel(recurrent), 100, 16)
    context.read([1, 2, 3])
    with pytest.raises(ValueError, match="one token"):
        context.read([])
    assert context.tokens == [1, 2, 3]
    assert says(context.read([1, 2, 3, 4])) == expected([1, 2, 3, 4])


def test_a_longer_prompt_reads_only_what_is_new() -> None:
    model = FakeModel()
    context = Context(model, 100, 16)
    context.read([1, 2, 3])
    context.step(4)
    model.passes.clear()
    assert context.reuse([1, 2, 3, 4, 5, 6]) == 4
    context.read([1, 2, 3, 4, 5, 6])
    assert [t for p in model.passes for t in p] == [5, 6]


def test_the_same_prompt_again_reads_only_its_last_token_even_when_recurrent() -> None:
    model = FakeModel(recurrent=True)
    context = Context(model, 100, 16)
    context.read([1, 2, 3, 4])
    context.step(9)
    model.passes.clear()
    assert says(context.read([1, 2, 3, 4])) == expected([1, 2, 3, 4])
    assert model.passes == [[4]]


def test_a_recurrent_model_goes_back_to_the_mark_at_the_end_of_the_history() -> None:
    model = FakeModel(recurrent=True)
    context = Context(model, 100, 16)
    context.read([1, 2, 3, 7, 7], marks=(3,))
    context.step(5)
    model.passes.clear()
    context.read([1, 2, 3, 8, 8, 8])
    assert [t for p in model.passes for t in p] == [8, 8, 8]


@pytest.mark.parametrize(("recurrent", "passes"), [(False, [5]), (True, [3, 1, 1])])
def test_only_a_recurrent_model_pauses_where_a_later_chat_may_part(recurrent: bool, passes: list[int]) -> None:
    model = FakeModel(recurrent)
    Context(model, 100, 16).read([1, 2, 3, 7, 7], marks=(3,))
    assert list(map(len, model.passes)) == passes


def test_chunks_are_no_longer_than_asked_and_logits_only_come_from_the_last() -> None:
    model = FakeModel()
    seen = []
    Context(model, 100, 4).read(list(range(10)), progress=lambda done, total: seen.append((done, total)))
    assert max(len(p) for p in model.passes) <= 4
    assert seen[-1] == (10, 10)
    assert [d for d, _ in seen] == sorted(d for d, _ in seen)


def test_a_cancelled_read_keeps_its_whole_chunks() -> None:
    model = FakeModel()
    context = Context(model, 100, 4)
    answers = iter([False, False, True])
    assert context.read(list(range(20)), cancelled=lambda: next(answers)) is None
    assert context.tokens == list(range(8))
    assert context.reuse(list(range(20))) == 8


@pytest.mark.parametrize("recurrent", [False, True])
def test_a_failed_read_leaves_a_context_that_answers_rightly(recurrent: bool) -> None:
    model = FakeModel(recurrent)
    context = Context(model, 100, 4)
    context.read([1, 2, 3])
    model.fail_at = 6
    with pytest.raises(OSError, match="disk"):
        context.read([1, 2, 3, 4, 5, 6, 7, 8])
    model.fail_at = None
    assert says(context.read([1, 2, 3, 4, 5, 6, 7, 8])) == expected([1, 2, 3, 4, 5, 6, 7, 8])


def test_past_a_switch_of_frequencies_everything_is_read_again_and_only_there() -> None:
    model = FakeModel()
    model.switch = 6
    context = Context(model, 100, 4)
    context.read([1, 2, 3, 4, 5])
    model.passes.clear()
    context.step(6)
    assert model.passes == [[6]]
    assert says(context.step(7)) == expected([1, 2, 3, 4, 5, 6, 7])
    assert [t for p in model.passes for t in p] == [6, 1, 2, 3, 4, 5, 6, 7]
    model.passes.clear()
    context.step(8)
    assert model.passes == [[8]]
    assert context.reuse([1, 2, 3, 9]) == 0


def test_scoring_leaves_the_chat_as_it_is() -> None:
    context = Context(FakeModel(), 100, 4)
    context.read([1, 2, 3])
    for one_by_one in (True, False):
        rows = context.score([5, 6, 7], one_by_one=one_by_one)
        assert [int(r.argmax()) for r in rows] == [expected([5]), expected([5, 6]), expected([5, 6, 7])]
        assert context.tokens == [1, 2, 3]
    context.run_through([7, 8])
    assert says(context.step(4)) == expected([1, 2, 3, 4])


def test_scoring_ends_when_it_is_told_to() -> None:
    model = FakeModel()
    asked = iter((False, True))
    with pytest.raises(UnderhillError) as e:
        Context(model, 100, 4).score([1, 2, 3], one_by_one=True, cancelled=lambda: next(asked))
    assert e.value.kind is Kind.CANCELLED
    assert model.passes == [[1]]


def test_a_failed_scoring_leaves_nothing_behind_either() -> None:
    model = FakeModel()
    context = Context(model, 100, 4)
    model.fail_at = 6
    with pytest.raises(OSError, match="disk"):
        context.score([1, 2, 3, 4, 5, 6, 7, 8], one_by_one=False)
    model.fail_at = None
    assert says(context.read([9, 9])) == expected([9, 9])


def test_every_pass_is_told_before_it_runs() -> None:
    model, told = FakeModel(), []

    def begin(ids: Sequence[int], position: int) -> None:
        told.append((list(ids), position, len(model.passes)))

    context = Context(model, 100, 4, begin)
    context.read([1, 2, 3, 4, 5, 6])
    context.step(7)
    context.read([1, 2, 9])
    assert told == [([1, 2, 3, 4], 0, 0), ([5, 6], 4, 1), ([7], 6, 2), ([9], 2, 3)]
    told.clear()
    context.score([1, 2, 3, 4, 5], one_by_one=False)
    assert [(ids, position) for ids, position, _ in told] == [([1, 2, 3, 4], 0), ([5], 4)]


def test_a_conversation_beside_the_chat_leaves_the_chat_as_it_is() -> None:
    model = FakeModel()
    context = Context(model, 100, 16)
    context.read([1, 2, 3, 4])
    context.choose([9, 8, 7], background=True)
    assert says(context.read([9, 8, 7])) == expected([9, 8, 7])
    context.choose([1, 2, 3, 4, 5], background=False)
    model.passes.clear()
    assert says(context.read([1, 2, 3, 4, 5])) == expected([1, 2, 3, 4, 5])
    assert model.passes == [[5]]


def test_each_conversation_in_the_background_goes_on_where_it_was() -> None:
    model = FakeModel()
    context = Context(model, 1000, 16)
    talks = [[n, *range(10, 20)] for n in range(4)]
    for talk in talks:
        context.choose(talk, background=True)
        context.read(talk)
    model.passes.clear()
    for talk in talks:
        context.choose([*talk, 5], background=True)
        assert says(context.read([*talk, 5])) == expected([*talk, 5])
    assert model.passes == [[5]] * 4


def test_all_sequences_together_take_no_more_than_the_limit() -> None:
    context = Context(FakeModel(), 40, 8)
    context.read(list(range(1, 21)))
    for first in range(30, 40):
        talk = [first] * 12
        context.choose(talk, background=True)
        assert says(context.read(talk)) == expected(talk)
        assert context.nbytes <= 8 * 40
    context.choose([50] * 39, background=True)  # only without the chat's there is room for it
    context.read([50] * 39)
    context.choose(list(range(1, 22)), background=False)
    assert says(context.read(list(range(1, 22)))) == expected(list(range(1, 22)))
    assert context.nbytes <= 8 * 40


@pytest.mark.parametrize("recurrent", [False, True])
def test_an_answer_whose_memory_was_taken_is_caught_up_with_in_the_same_steps(recurrent: bool) -> None:
    """Its prompt by the same chunks; what was answered in as many rows as have the bits of single tokens."""
    model = FakeModel(recurrent)
    context, prompt, answered = Context(model, 100, 4), [5, 6, 7, 8, 9, 10], [11, 12, 13, 14, 15]
    context.read(prompt, (3,))
    first = list(model.passes)
    sequence = context.choose(prompt, background=False)
    context.forget(sequence)
    model.passes.clear()
    reader = PromptReader(context, sequence, prompt, (3,), answered)
    while sequence.tokens != prompt + answered:
        (logits,) = context.feed([reader.part()])
        reader.passed()
    assert says(logits) == expected(prompt + answered)
    assert model.passes == [*first, [11, 12, 13, 14], [15]]


def test_a_chat_of_a_person_goes_on_beside_another_one_and_comes_back() -> None:
    model = FakeModel()
    context = Context(model, 1000, 16)
    one = context.choose([1, 2, 3, 4], background=False)
    context.read([1, 2, 3, 4])
    one.busy = True
    other = context.choose([7, 8, 9], background=False)
    context.read([7, 8, 9])
    assert other is not one
    one.busy = False
    model.passes.clear()
    context.choose([7, 8, 9, 10], background=False)
    assert says(context.read([7, 8, 9, 10])) == expected([7, 8, 9, 10])
    context.choose([1, 2, 3, 4, 5], background=False)
    assert says(context.read([1, 2, 3, 4, 5])) == expected([1, 2, 3, 4, 5])
    assert model.passes == [[10], [5]]


def test_sequences_of_answers_that_are_being_made_are_never_forgotten() -> None:
    context = Context(FakeModel(), 40, 8)
    busy = context.choose([5] * 20, background=True)
    context.read([5] * 20)
    busy.busy = True
    for first in range(30, 40):
        context.choose([first] * 12, background=True)
        context.read([first] * 12)
    assert busy.tokens == [5] * 20
    assert context.nbytes <= 8 * 40
