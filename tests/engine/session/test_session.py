"""A loaded model end to end: the same words whatever is cached, turns reused, settings live, failures survived."""

from __future__ import annotations

import dataclasses
import shutil
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from engine.calibration.calibrator import open_calibrated
from engine.errors import Kind, UnderhillError
from engine.generation.messages import Look, Message, Snapshot, Stats
from engine.generation.sampling import Sampling
from engine.hardware import probe
from engine.hardware.machine import Memory
from engine.native import op_graph
from engine.native.library import kernels_in_use
from engine.planning.budget import held_by
from engine.planning.speed import dial_shares
from engine.session import Session
from engine.session import snapshot as snapshots
from engine.store.manifest import dumps
from engine.store.reader import load_manifest
from tests.waiting import LONGEST

pytestmark = pytest.mark.long

GREEDY = Sampling(temperature=0, max_tokens=24)
HELLO = (Message("user", "Hello! What can you do?"),)


class Listener:
    def __init__(self, stop_after: int | None = None) -> None:
        self.shown, self.tokens, self.dropped, self.stop_after = "", 0, 0, stop_after

    def turns_dropped(self, count: int) -> None:
        self.dropped = count

    def prompt_read(self, done: int, total: int, reused: int) -> None: ...

    def text(self, text: str, token_ids: Sequence[int]) -> None:
        self.shown += text
        self.tokens += len(token_ids)

    def cancelled(self) -> bool:
        return self.stop_after is not None and self.tokens >= self.stop_after


def ask(session: Session, *messages: Message, sampling: Sampling = GREEDY) -> Stats:
    return session.generate(messages or HELLO, sampling, (), Listener())


def test_an_answer_says_what_limited_its_speed(session: Session) -> None:
    stats = ask(session)
    assert stats.why.startswith("All experts in memory") or "per token" in stats.why
    assert ask(session, sampling=Sampling(temperature=0, max_tokens=1)).why == ""


def test_the_answer_is_the_one_of_plain_transformers(session: Session) -> None:
    """8-bit experts against bf16 transformers: the same greedy beginning, nearly the same distribution."""
    from transformers import AutoModelForCausalLM

    from engine import resources

    model = AutoModelForCausalLM.from_pretrained(resources.path("builtin", "model"), dtype=torch.float32).eval()
    ids = list(session.chat.prompt(HELLO).ids)
    with torch.no_grad():
        theirs = torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), -1)
    ours = torch.log_softmax(session.logits(ids, one_by_one=False).double(), -1)
    divergence = (theirs.exp() * (theirs - ours)).sum(-1)
    assert float(divergence.mean()) < 2e-3
    assert torch.equal(theirs[-1].argmax(), ours[-1].argmax())


def test_a_quarter_of_the_cache_says_exactly_the_same_and_shows_its_misses(home: Path) -> None:
    answers = {}
    for fraction in (1.0, 0.25, 0.0):
        # Drafts would be counted where all experts are in memory, and are not made where they are not.
        chosen = {"dial": "exact", "cache_fraction": fraction, "threads": 1, "speculation": "off"}
        with open_calibrated("builtin", chosen) as opened:
            answers[fraction] = ask(opened)
    whole, quarter, least = answers[1.0], answers[0.25], answers[0.0]
    assert whole.token_ids == quarter.token_ids == least.token_ids
    assert len(whole.token_ids) > 5
    assert whole.misses < quarter.misses < least.misses
    assert whole.hits + whole.misses == quarter.hits + quarter.misses == least.hits + least.misses
    assert whole.bytes_read < quarter.bytes_read < least.bytes_read
    assert set(whole.precision) - {"8", "skipped"} == set()
    assert whole.precision["8"] == quarter.precision["8"] == least.precision["8"] > 0


def test_the_plan_says_when_native_kernels_leave_the_layers_to_torch(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_calibrated("builtin") as opened:
        assert not any("Torch computes the layers" in sentence for sentence in opened.card.plan)
        native = ask(opened)
    monkeypatch.setattr(op_graph, "MOST_HEAD_DIM", 1)
    with open_calibrated("builtin") as opened:
        assert any("Torch computes the layers, more slowly" in sentence for sentence in opened.card.plan)
        assert ask(opened).token_ids[:4] == native.token_ids[:4]


def test_the_next_turn_reads_only_what_is_new(session: Session) -> None:
    first = ask(session)
    answer = Message("assistant", first.text, first.token_ids)
    second = ask(session, *HELLO, answer, Message("user", "Thanks."))
    assert second.reused_tokens >= first.prompt_tokens + len(first.token_ids) - 1
    with open_calibrated("builtin", {"dial": "exact", "threads": 1}) as fresh:
        again = ask(fresh, *HELLO, answer, Message("user", "Thanks."))
    assert again.token_ids == second.token_ids
    assert again.reused_tokens == 0


def test_the_same_question_again_reads_one_token_and_says_the_same(session: Session) -> None:
    first, again = ask(session), ask(session)
    assert again.token_ids == first.token_ids
    assert again.reused_tokens == again.prompt_tokens - 1


def test_stopping_keeps_what_was_said_and_the_session_goes_on(session: Session) -> None:
    stopped = session.generate(HELLO, GREEDY, (), Listener(stop_after=4))
    assert stopped.finish == "cancelled"
    assert 4 <= len(stopped.token_ids) <= 4 + stopped.accepted  # a draft that was right comes at once
    assert ask(session).token_ids[: len(stopped.token_ids)] == stopped.token_ids


def test_stopping_does_not_wait_for_a_chunk_of_the_prompt(session: Session) -> None:
    """A chunk of a large model on a slow disk takes many seconds; a layer does not."""
    long = (Message("user", "Tell me more. " * 60),)
    expected = session.generate(long, GREEDY, (), Listener())
    session.context.clear()
    layers: list[int] = []

    class Impatient(Listener):
        def cancelled(self) -> bool:
            return len(layers) >= 3

    with session.listening(lambda layer, ids, weights: layers.append(layer)):
        stopped = session.generate(long, GREEDY, (), Impatient())
    assert (stopped.finish, len(layers), session.context.tokens) == ("cancelled", 3, [])
    assert session.generate(long, GREEDY, (), Listener()).token_ids == expected.token_ids


def test_a_cut_answer_is_continued(session: Session) -> None:
    whole = ask(session)
    cut = session.generate(HELLO, Sampling(temperature=0, max_tokens=5), (), Listener())
    assert cut.finish == "length"
    rest = session.generate(
        (*HELLO, Message("assistant", cut.text, cut.token_ids)), GREEDY, (), Listener(), continue_last=True
    )
    assert (cut.token_ids + rest.token_ids)[: len(whole.token_ids)] == whole.token_ids


def test_a_long_chat_leaves_out_its_oldest_turns_and_says_so(home: Path) -> None:
    with open_calibrated("builtin", {"dial": "exact", "context_length": 128, "threads": 1}) as small:
        listener = Listener()
        turns = [Message(("user", "assistant")[i % 2], f"This is turn number {i}.") for i in range(21)]
        stats = small.generate(turns, GREEDY, (), listener)
        assert stats.dropped_turns == listener.dropped > 0
        assert stats.prompt_tokens < 128
        with pytest.raises(UnderhillError) as error:
            small.generate((Message("user", "word " * 400),), GREEDY, (), Listener())
        assert error.value.kind is Kind.CONTEXT_FULL
        assert ask(small).token_ids


def test_the_dial_and_the_cache_change_between_two_answers(session: Session) -> None:
    exact = ask(session)
    session.update({"dial": "balanced", "cache_fraction": 0.0})
    assert not session.exact
    lossy = ask(session)
    assert lossy.precision.get("2", 0) > 0
    session.update({"dial": "exact", "cache_fraction": None})
    assert session.exact
    session.context.clear()
    assert ask(session).token_ids == exact.token_ids


def test_which_kernels_compute_is_said_where_the_plan_is(home: Path) -> None:
    with open_calibrated("builtin", {"threads": 1}) as opened:
        assert sum("kernels" in sentence for sentence in opened.card.plan) == 1
        assert kernels_in_use(1).split(" on ")[0] in " ".join(opened.card.plan)


def test_a_dial_saves_nothing_where_everything_fits_so_it_costs_nothing(home: Path) -> None:
    with open_calibrated("builtin", {"dial": "fast", "threads": 1}) as opened:
        assert opened.exact
        assert any("whatever the quality setting" in sentence for sentence in opened.card.plan)
        assert set(ask(opened).precision) <= {"8", "skipped"}
        opened.update({"cache_fraction": 0.25})
        assert not opened.exact
        opened.update({"cache_fraction": None, "t1": 0.2, "t2": 0.3})
        assert (opened.thresholds.t1, opened.thresholds.t2) == (0.2, 0.3)  # chosen by hand: as asked


def test_the_tier_changes_live(session: Session) -> None:
    session.update({"tier": "2"})
    stats = ask(session)
    assert stats.precision["2"] > 0
    assert stats.precision.get("8", 0) == 0


def test_exact_is_exact_whatever_the_thresholds_and_thresholds_may_be_set_one_at_a_time(session: Session) -> None:
    session.update({"t1": 0.3})
    assert session.exact
    session.update({"dial": "balanced"})
    assert (session.thresholds.t1, session.exact) == (0.3, False)
    session.update({"t1": None, "t2": 0.2})
    assert (session.thresholds.t1, session.thresholds.t2) == (0.2, 0.2)


def test_new_settings_leave_the_cache_its_size_when_memory_is_just_enough(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine with little more than the plan needs: what the model itself holds is not counted as gone."""
    before = session.plan.cache_bytes
    facts = session.facts
    need = held_by(before, min(facts.record_bytes.values()), facts.experts * facts.moe_layers)
    need += session.plan.context * facts.per_token(session.plan.dense)
    held = session.runtime.cache.nbytes + session.facts.dense_bytes[session.plan.dense]
    base = 400_000_000
    ceiling = base + session.plan.workspace + session.facts.dense_bytes[session.plan.dense] + need
    free = (ceiling + 4) * 4 // 3 - base  # of which a quarter is the margin
    monkeypatch.setattr(session, "_base", base)
    for _ in range(2):
        monkeypatch.setattr(probe, "rss", lambda held=held: base + held)
        monkeypatch.setattr(probe, "memory", lambda held=held: Memory(10**12, free - held))
        session.update({"dial": "balanced"})
        assert session.plan.cache_bytes == before
        ask(session)  # fills the cache and the context
        held = session._held()
        assert held > session.facts.dense_bytes[session.plan.dense]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cache_fraction": 3.0}, "Experts kept in memory can't be"),
        ({"no_such": 1}, "no setting"),
        ({"readers": 2}, "Reload the model to apply"),
        ({"dial": "turbo"}, "Quality can't be"),
        ({"dial": "balanced", "t1": 0.9, "t2": 0.5, "cache_fraction": 0.0}, "are not possible"),
        ({"t1": 0.9, "dial": "exact", "tier": "5"}, "Expert precision can't be"),
    ],
)
def test_impossible_settings_are_refused_and_change_nothing(
    session: Session, changes: dict[str, object], message: str
) -> None:
    before, capacity = dict(session.settings), session.runtime.cache.capacity
    with pytest.raises(UnderhillError, match=message):
        session.update(changes)
    assert (session.settings, session.runtime.cache.capacity) == (before, capacity)
    assert ask(session).token_ids


@pytest.mark.skipif(sys.platform == "win32", reason="an open data file is locked against writing there")
def test_an_expert_that_cannot_be_read_fails_one_answer_and_no_more(home: Path, tmp_path: Path) -> None:
    store = tmp_path / "model"
    shutil.copytree(home / "models" / "builtin", store)
    data = sorted(store.glob("experts-*.safetensors"))[2]
    whole = data.read_bytes()
    with open_calibrated(str(store), {"dial": "exact", "cache_fraction": 0.0, "threads": 1}) as opened:
        expected = ask(opened).token_ids
        opened.context.clear()
        with data.open("r+b") as file:
            file.seek(8192)
            file.write(b"\xff" * (len(whole) - 8192))
        with pytest.raises(UnderhillError, match="checksum") as error:
            ask(opened)
        assert error.value.kind is Kind.BROKEN_FILE
        with data.open("r+b") as file:
            file.write(whole)
        assert ask(opened).token_ids == expected


def test_snapshots_come_from_another_thread_while_generating(session: Session) -> None:
    seen: list[Snapshot] = []
    working, done = threading.Event(), threading.Event()

    def watch() -> None:
        while not done.is_set():
            if (snapshot := session.snapshot(Look())) is not None:
                seen.append(snapshot)
                if snapshot.generating:
                    working.set()

    class Seen(Listener):
        def text(self, text: str, token_ids: Sequence[int]) -> None:
            super().text(text, token_ids)
            assert working.wait(LONGEST)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        stats = session.generate(HELLO, GREEDY, (), Seen())
    finally:
        done.set()
        watcher.join()
    last = session.snapshot(Look(maps=True))
    assert last is not None
    assert last.hits == stats.hits
    assert last.misses == stats.misses
    assert not last.generating
    assert last.answer_tokens_per_second == pytest.approx((len(stats.token_ids) - 1) / stats.decode_seconds)
    assert {s.answer_tokens_per_second for s in seen if s.generating} == {0.0}
    assert sum(map(sum, last.activations)) == sum(stats.precision.values())
    assert {tier for row in last.residency for tier in row} <= {0, 2, 4, 8}
    assert last.cache_bytes <= last.cache_capacity
    assert session.snapshot(Look(maps=True)) is None
    assert all(not s.activations for s in seen)  # nobody looked


def test_while_an_answer_is_made_matrices_are_told_every_other_time(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(snapshots.time, "monotonic", lambda: now[0])
    look = Look(maps=True)
    watcher = snapshots.Watcher(session, ahead=session.ahead.sentence, memory=session.memory_use)
    told = []
    watcher.answer_begins(first=True)
    for _ in range(5):
        watcher.tokens(1)
        seen = watcher.snapshot(look)
        assert seen is not None
        told.append(bool(seen.activations))
        now[0] += 0.2
    assert told == [True, False, True, False, True]
    other = watcher.snapshot(Look(maps=True, expert=(session.runtime.telemetry.layers[0], 0)))
    assert other is not None
    assert other.activations
    assert other.expert is not None
    watcher.answer_ended(left=0)
    last = watcher.snapshot(look)  # nothing more will come
    assert last is not None
    assert last.activations


def test_a_small_model_is_calibrated_when_first_opened_and_a_damaged_calibration_is_made_again(home: Path) -> None:
    file = home / "models" / "builtin" / "calibration.json"
    impossible = '{"t1": 0.9, "t2": 0.1, "worst": null, "here": null}'
    wrong = '{"version": 3, "tokens": 1, "scored": 0, "scored_here": 0, "share": 0, "exact_perplexity": 0, "dials": %s}'
    for content in (None, "{", "[]", wrong % f'{{"balanced": {impossible}, "fast": {impossible}}}'):
        file.unlink(missing_ok=True) if content is None else file.write_text(content, encoding="utf-8")
        with open_calibrated("builtin", {"dial": "balanced", "cache_fraction": 0.0, "threads": 1}) as opened:
            cuts = opened.thresholds
            precision = ask(opened, sampling=Sampling(temperature=0, max_tokens=60)).precision
        assert 0.3 < cuts.t1 < cuts.t2 < 1
        measured = opened.card.calibration
        assert measured is not None
        full, coarse = dial_shares("balanced", opened.card.experts_per_token)
        assert measured.shares(cuts.t1, cuts.t2) == pytest.approx((full, coarse, 1 - full - coarse), abs=0.03)
        assert 0.3 < precision["8"] / sum(precision.values()) < 0.85
        assert precision["2"] > 0


@pytest.mark.parametrize("file", ["dense.safetensors", "tokenizer.json"])
def test_a_damaged_builtin_model_is_made_anew_once_and_says_so(home: Path, file: str) -> None:
    store = home / "models" / "builtin"
    whole = (store / file).read_bytes()
    damaged = bytearray(whole)
    damaged[len(whole) // 2 if file.startswith("dense") else 0] ^= 1
    (store / file).write_bytes(damaged)
    for expected in (True, False):
        with open_calibrated("builtin", {"dial": "exact", "threads": 1}) as opened:
            assert any("has been rebuilt" in sentence for sentence in opened.card.plan) is expected
            assert ask(opened).token_ids
    assert (store / file).read_bytes() == whole


def test_a_damaged_model_of_the_user_is_left_as_it_is(home: Path, tmp_path: Path) -> None:
    store = tmp_path / "model"
    shutil.copytree(home / "models" / "builtin", store)
    damaged = bytearray((store / "dense.safetensors").read_bytes())
    damaged[-1] ^= 1
    (store / "dense.safetensors").write_bytes(damaged)
    with pytest.raises(UnderhillError) as error:
        open_calibrated(str(store), {"threads": 1})
    assert error.value.kind is Kind.BROKEN_FILE
    assert (store / "dense.safetensors").read_bytes() == bytes(damaged)


@pytest.mark.parametrize("name", ["hidden_size", "num_attention_heads", "vocab_size", "num_experts"])
def test_a_config_that_contradicts_the_weights_is_told_when_opening(home: Path, tmp_path: Path, name: str) -> None:
    store = tmp_path / "model"
    shutil.copytree(home / "models" / "builtin", store)
    manifest = load_manifest(store)
    config = {**manifest.config, name: 2 * manifest.config[name]}
    (store / "manifest.json").write_bytes(dumps(dataclasses.replace(manifest, config=config)))
    with pytest.raises(UnderhillError, match="weights disagree") as error:
        open_calibrated(str(store), {"threads": 1})
    assert error.value.kind is Kind.BROKEN_FILE


def test_opening_what_is_not_a_model_says_so(home: Path, tmp_path: Path) -> None:
    for name in ("no-such-model", str(tmp_path)):
        with pytest.raises(UnderhillError) as error:
            open_calibrated(name)
        assert error.value.kind is Kind.NOT_A_MODEL


def test_a_ceiling_that_cannot_hold_the_model_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "memory", lambda: Memory(10**9, 10**7))
    monkeypatch.setattr(probe, "rss", lambda: 0)
    with pytest.raises(UnderhillError, match="of memory; ") as error:
        open_calibrated("builtin")
    assert error.value.kind is Kind.OUT_OF_MEMORY
