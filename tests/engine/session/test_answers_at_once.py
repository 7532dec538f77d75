"""Several answers of one session at once: the tokens of each alone, experts read once for all, one that fails apart."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from torch import Tensor

from engine.calibration.calibrator import open_calibrated
from engine.errors import Kind, UnderhillError
from engine.experts.backend import GraphLayers, Step
from engine.generation.context import PromptPart
from engine.generation.messages import AnswerOptions, Message, Stats
from engine.generation.sampling import Sampling
from engine.session import Session
from engine.session.session_answers import SessionAnswer
from engine.translatable import translated
from tests.engine.formats.chattable import write_chattable
from tests.engine.service.test_families import GAIN, config_of
from tests.engine.session.shaped import shaped_store
from tests.engine.session.test_session import Listener

pytestmark = pytest.mark.long

TEXTS = (
    "Hello! What can you do?",
    "Tell me a story about a cat.",
    "Write three short sentences about the sea.",
    "Why?",
)
EXACT = {"dial": "exact", "threads": 2}
# Full attention, a sliding window with sinks, latent attention, DeltaNet, a short convolution, per-layer inputs; and
# one whose layers torch computes, so that answers only take turns.
FAMILIES = ("qwen3_moe", "gpt_oss", "deepseek_v3", "qwen3_next", "lfm2_moe", "gemma4_text", "llama4")


def begin(
    session: Session, text: str, tokens: int = 20, stop_after: int | None = None, **more: object
) -> SessionAnswer:
    sampling = Sampling(temperature=0.8, seed=len(text), max_tokens=tokens)
    return session.begin((Message("user", text),), sampling, (), Listener(stop_after), chat=text, **more)  # type: ignore[arg-type]


def finish(session: Session) -> None:
    while session.answers.running:
        session.answers.advance()


def alone(session: Session, text: str, tokens: int = 20) -> Stats:
    session.context.clear()
    made = begin(session, text, tokens)
    finish(session)
    return made.result()


@pytest.mark.parametrize("family", FAMILIES)
def test_four_answers_at_once_are_those_of_each_alone(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_chattable(config_of(family), tmp_path / "checkpoint", GAIN.get(family, 4.0))
    with open_calibrated(str(tmp_path / "checkpoint"), EXACT) as session:
        texts = [" ".join([text] * 6) for text in TEXTS]  # too many tokens for the ops of single ones
        wanted = [alone(session, text).token_ids for text in texts]
        assert all(wanted)
        session.context.clear()
        parts = parts_of_passes(session, monkeypatch)
        made = [begin(session, text) for text in texts]
        finish(session)
        assert [one.result().token_ids for one in made] == wanted
        assert max(map(len, parts)) > 1


def test_they_join_and_leave_at_any_step(session: Session) -> None:
    wanted = {text: alone(session, text, 30).token_ids for text in TEXTS}
    dice = random.Random(7)
    for _ in range(6):
        session.context.clear()
        waiting, made = list(TEXTS), []
        while waiting or session.answers.running:
            if waiting and dice.random() < 0.3:
                text = waiting.pop(dice.randrange(len(waiting)))
                stop = dice.choice((None, None, dice.randrange(30)))
                made.append((text, stop, begin(session, text, 30, stop, background=dice.random() < 0.5)))
            session.answers.advance()
        for text, stop, one in made:
            tokens = one.result().token_ids
            assert tokens == wanted[text][: len(tokens)]
            assert stop is not None or tokens == wanted[text]


def test_a_schema_holds_one_of_them_and_not_the_others(session: Session) -> None:
    plain = alone(session, TEXTS[1], 30).token_ids
    session.context.clear()
    schema = {
        "type": "object",
        "properties": {"x": {"type": "boolean"}},
        "required": ["x"],
        "additionalProperties": False,
    }
    held = begin(session, TEXTS[0], 30, options=AnswerOptions(json=schema))
    free = begin(session, TEXTS[1], 30)
    finish(session)
    assert held.result().text.strip().replace(" ", "") in ('{"x":true}', '{"x":false}')
    assert free.result().token_ids == plain


def test_answers_share_what_the_session_used(session: Session) -> None:
    finish(session)
    before = session.counters()
    made = [begin(session, text, 12) for text in TEXTS[:3]]
    finish(session)
    after, stats = session.counters(), [one.result() for one in made]
    assert (
        abs(sum(one.hits + one.misses for one in stats) - (after.hits + after.misses - before.hits - before.misses))
        <= 6
    )
    pairs = {key: n - before.precision.get(key, 0) for key, n in after.precision.items()}
    for key, count in pairs.items():
        assert abs(sum(one.precision.get(key, 0) for one in stats) - count) <= 3
    assert all(one.hits > 0 for one in stats)


def test_with_an_answer_goes_the_memory_of_its_sequence(session: Session) -> None:
    made = begin(session, TEXTS[0], 4)
    finish(session)
    state = weakref.ref(made.running.sequence.state)
    gc.disable()  # what refers to itself would be kept, for minutes perhaps
    try:
        del made
        assert state() is not None
        session.context.clear()
        assert state() is None
    finally:
        gc.enable()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shaped_store(tmp_path_factory.mktemp("shaped"))


@pytest.fixture
def tight(store: Path, home: Path) -> Iterator[Session]:
    """With memory for a third of its experts, which are read when they are asked for."""
    with open_calibrated(str(store), {**EXACT, "cache_fraction": 0.34, "prefetch": "off"}) as opened:
        yield opened


def test_an_expert_is_asked_for_and_read_once_for_all_that_chose_it(tight: Session) -> None:
    calls: list[tuple[int, int, int]] = []  # rows, different experts, (row, expert) pairs of each layer

    def heard(layer: int, ids: Tensor, weights: Tensor) -> None:
        calls.append((len(ids), len(ids.unique()), ids.numel()))

    made = [begin(tight, text, 40) for text in ("w5 w6 w7", "w800 w801", "w1900 w3 w77 w78", "w250")]
    while not all(one.running.wants_token for one in made):
        tight.answers.advance()
    tight.answers.advance()  # what the prompts' pass has read ahead ends by then
    before = tight.counters()
    with tight.listening(heard):
        for _ in range(20):
            tight.answers.advance()
    after = tight.counters()
    assert {rows for rows, _, _ in calls} == {4}
    asked = after.hits + after.misses - before.hits - before.misses
    assert asked == sum(different for _, different, _ in calls) < sum(pairs for _, _, pairs in calls)
    assert after.reads - before.reads == after.misses - before.misses > 0
    finish(tight)


def test_different_answers_read_less_together_than_one_after_the_other(tight: Session) -> None:
    texts = ["w5 w6 w7", "w800 w801", "w1900 w3 w77 w78", "w250"]
    apart = [alone(tight, text, 40) for text in texts]
    tight.context.clear()
    made = [begin(tight, text, 40) for text in texts]
    finish(tight)
    together = [one.result() for one in made]
    assert [one.token_ids for one in together] == [one.token_ids for one in apart]
    assert sum(one.bytes_read for one in together) < sum(one.bytes_read for one in apart)


LONG = tuple(" ".join(f"w{(at * at + 7 * own) % 1999}" for at in range(20 + 9 * own)) for own in range(4))


def parts_of_passes(session: Session, monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """Of every pass from now on, how many tokens it fed to each sequence."""
    found: list[list[int]] = []
    feed = session.context.feed

    def heard(parts: Sequence[PromptPart]) -> list[Tensor | None]:
        found.append([len(part.ids) for part in parts])
        return feed(parts)

    monkeypatch.setattr(session.context, "feed", heard)
    return found


def test_prompts_that_wait_read_an_expert_once_for_all_of_them(tight: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [alone(tight, text, 12) for text in LONG]
    tight.context.clear()
    parts, calls = parts_of_passes(tight, monkeypatch), []  # type: ignore[var-annotated]
    made = [begin(tight, text, 12) for text in LONG]
    before = tight.counters()
    with tight.listening(lambda layer, ids, weights: calls.append((len(ids), len(ids.unique())))):
        tight.answers.advance()
    after = tight.counters()
    assert len(parts) == 1
    assert len(parts[0]) == len(LONG)
    assert {rows for rows, _ in calls} == {sum(parts[0])}
    assert len(calls) == len(tight.store.layers)
    assert after.hits + after.misses - before.hits - before.misses == sum(different for _, different in calls)
    finish(tight)
    assert [one.result().token_ids for one in made] == [one.token_ids for one in wanted]


def test_prompts_that_come_while_another_answer_is_made_share_its_pauses(
    tight: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more tokens than a chunk go between two of its own; a longer prompt is read in its own chunks."""
    context = tight.context
    context.bound(context.limit, 80)
    wanted = [alone(tight, text, 20).token_ids for text in (*LONG, " ".join(LONG))]
    context.clear()
    parts = parts_of_passes(tight, monkeypatch)
    streaming = begin(tight, LONG[0], 20)
    while len(streaming.running.answer.token_ids) < 3:
        tight.answers.advance()
    made = [streaming, *(begin(tight, text, 20) for text in (*LONG[1:], " ".join(LONG)))]
    parts.clear()
    finish(tight)
    assert [one.result().token_ids for one in made] == wanted
    assert max(map(sum, parts)) <= 80
    assert any(len(sizes) > 1 for sizes in parts)
    assert [80] in parts


def test_one_of_them_is_stopped_in_the_chunk_that_they_share(tight: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [alone(tight, text, 12).token_ids for text in LONG]
    tight.context.clear()
    parts, calls, ended = parts_of_passes(tight, monkeypatch), [], []  # type: ignore[var-annotated]
    made = [begin(tight, text, 12, ended=lambda one: ended.append(len(calls))) for text in LONG]
    leaves = made[1].running.listener
    monkeypatch.setattr(leaves, "cancelled", lambda: len(calls) > 2)
    with tight.listening(lambda layer, ids, weights: calls.append(layer)):
        tight.answers.advance()
    assert ended == [3]  # before the fourth layer of six
    assert made[1].result().finish == "cancelled"
    assert [len(sizes) for sizes in parts] == [4]
    finish(tight)
    assert [made[at].result().token_ids for at in (0, 2, 3)] == [wanted[at] for at in (0, 2, 3)]
    assert alone(tight, LONG[1], 12).token_ids == wanted[1]


def test_a_disk_that_fails_ends_those_that_needed_it(tight: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other answer goes on to its end, with its own tokens."""
    texts = ["w5 w6 w7", "w800 w801"]
    wanted = [alone(tight, text, 30).token_ids for text in texts]
    tight.context.clear()
    made = [begin(tight, text, 30) for text in texts]
    while len(made[0].running.answer.token_ids) < 9:
        tight.answers.advance()
    last, works, passes = tight.store.layers[-1], tight.runtime.moe_step, []

    def broken(layer: int, step: Step) -> None:
        """The last layer cannot read what the first answer wants: neither in the pass that both share, nor alone."""
        passes.append(step.tokens)
        if layer == last and passes.count(1) <= len(tight.store.layers):
            raise UnderhillError(Kind.DISK_ERROR, translated("gone"))
        works(layer, step)

    monkeypatch.setattr(tight.runtime, "moe_step", broken)
    monkeypatch.setattr(tight.runtime, "run_layers", GraphLayers.run_one)  # so that each layer asks
    finish(tight)
    with pytest.raises(UnderhillError) as failed:
        made[0].result()
    assert failed.value.kind is Kind.DISK_ERROR
    assert made[1].result().token_ids == wanted[1]


def test_more_than_the_context_holds_take_turns_and_say_the_same(home: Path) -> None:
    with open_calibrated("builtin", {**EXACT, "context_length": 160}) as session:
        wanted = [alone(session, text, 60).token_ids for text in TEXTS]
        session.context.clear()
        made = [begin(session, text, 60, background=at > 0) for at, text in enumerate(TEXTS)]
        while session.answers.running:
            session.answers.advance()
            assert session.context.needed <= session.context.limit
        assert [one.result().token_ids for one in made] == wanted
