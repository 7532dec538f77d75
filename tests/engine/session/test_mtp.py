"""Answers that the model itself drafts are the same to the last token, over chats, settings and openings."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import UnderhillError
from engine.generation.drafts import DraftCosts, PromptLookup
from engine.generation.messages import Message, Stats
from engine.generation.sampling import Sampling
from engine.library.lowering import write_lowered
from engine.models.mtp import MtpDrafter
from engine.models.spec import DecoderSpec
from engine.session.session import Session
from engine.store.manifest import Lowering, dumps, loads
from engine.store.reader import Store, load_manifest
from engine.store.verify import verify
from tests.engine.models.mtp_checkpoint import FAMILIES, mtp_store
from tests.engine.session.test_session import Listener

pytestmark = pytest.mark.long

CHOSEN: dict[str, Any] = {"dial": "exact", "threads": 1, "memory_gb": 3.0}
DRAWS = [Sampling(temperature=0.0, max_tokens=40), Sampling(temperature=0.9, seed=7, max_tokens=40)]
TEXTS = [" ".join(f"w{n}" for n in random.Random(seed).choices(range(3, 97), k=40)) for seed in range(3)]


# Qwen3.5 gets a tokenizer of its own from transformers, whatever its files say: no words. Its layers are Qwen3-Next's.
@pytest.fixture(scope="module", params=[family for family in FAMILIES if family != "qwen3_5_moe_text"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mtp_store(request.param, tmp_path_factory.mktemp(request.param), top=8, hidden_size=64)[0]


@pytest.fixture
def alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes all take as long, and text gives nothing, so that all that is proposed is drafted."""
    monkeypatch.setattr(DraftCosts, "of", lambda costs, tokens: 1.0)
    monkeypatch.setattr(DraftCosts, "single", 1.0)
    monkeypatch.setattr(PromptLookup, "draft", lambda lookup, room, than=0.0: [])


@contextmanager
def opened(store: Path, **chosen: Any) -> Iterator[Session]:
    session = Session.open(str(store), {**CHOSEN, **chosen})
    try:
        yield session
    finally:
        session.close()


def chat(session: Session, sampling: Sampling, texts: list[str] = TEXTS) -> list[Stats]:
    """A chat of these turns."""
    messages: list[Message] = []
    made = []
    for text in texts:
        messages.append(Message("user", text))
        stats = session.generate(tuple(messages), sampling, (), Listener())
        messages.append(Message("assistant", stats.text, stats.token_ids))
        made.append(stats)
    return made


def tokens(made: list[Stats]) -> list[tuple[int, ...]]:
    return [tuple(stats.token_ids) for stats in made]


@pytest.mark.parametrize("sampling", DRAWS, ids=["greedy", "drawn"])
def test_the_same_answers_with_what_it_proposes_as_without(store: Path, sampling: Sampling, alike: None) -> None:
    with opened(store, speculation="off") as session:
        assert session.mtp is None
        assert not session.plan.mtp
        wanted = [chat(session, sampling), chat(session, sampling, TEXTS[::-1])]
        assert not any(stats.drafted for made in wanted for stats in made)
    for _ in range(2):
        with opened(store) as session:
            assert session.mtp is not None
            found = [chat(session, sampling), chat(session, sampling, TEXTS[::-1])]
            assert sum(stats.drafted for made in found for stats in made) > 0
            assert [tokens(made) for made in found] == [tokens(made) for made in wanted]


@pytest.mark.parametrize("sampling", DRAWS, ids=["greedy", "drawn"])
def test_what_it_proposes_well_takes_fewer_passes(
    store: Path, sampling: Sampling, alike: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(store, speculation="off") as session:
        (stats,) = chat(session, sampling, TEXTS[:1])
        coming = stats.token_ids

    def knows(drafter: MtpDrafter, state: Any, token: int, count: int) -> tuple[list[int], float]:
        at = state.length - stats.prompt_tokens + 1
        return list(coming[at : at + count]), 1e-6

    monkeypatch.setattr(MtpDrafter, "propose", knows)
    with opened(store) as session:
        passes: list[int] = []
        feed = session.context.feed_several
        monkeypatch.setattr(
            session.context, "feed_several", lambda one, ids: (passes.append(len(ids)), feed(one, ids))[1]
        )
        (found,) = chat(session, sampling, TEXTS[:1])
        assert found.token_ids == coming
        assert found.accepted == found.drafted > 20
        assert len(passes) < 15


def test_by_itself_what_is_mostly_wrong_rests(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the costs that this machine has: random weights know nothing."""
    asked: list[int] = []
    propose = MtpDrafter.propose
    monkeypatch.setattr(MtpDrafter, "propose", lambda *given: (asked.append(given[3]), propose(*given))[1])
    with opened(store) as session:
        made = chat(session, Sampling(temperature=0.9, seed=3, max_tokens=150))
        assert 0 < len(asked) < sum(len(stats.token_ids) for stats in made) // 4


def test_its_memory_is_planned_and_shown(store: Path) -> None:
    with opened(store) as session:
        assert any("multi-token prediction" in sentence for sentence in session.plan.sentences)
        chat(session, DRAWS[0], TEXTS[:1])
        held = session.mtp_bytes
        assert session.facts.mtp_bytes[session.plan.dense] < held <= session.plan.mtp
        session.update({"memory_gb": 2.9})
        assert session.plan.mtp >= held
        session.update({"speculation": "off"})
        assert not any("multi-token prediction" in sentence for sentence in session.plan.sentences)
        assert not chat(session, DRAWS[0], TEXTS[:1])[0].drafted
    with opened(store, cache_fraction=0.5) as session:
        assert session.mtp is None


def test_a_store_from_before_opens_and_is_drafted_from_text_alone(store: Path, tmp_path: Path) -> None:
    manifest = load_manifest(store)
    assert [layer.index for layer in manifest.mtp] == [3]
    assert loads(dumps(manifest)) == manifest
    for file in store.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "manifest.json").write_bytes(dumps(replace(manifest, mtp=())))
    (tmp_path / manifest.mtp[0].file).unlink()
    with opened(tmp_path) as session:
        assert session.mtp is None
        assert not session.facts.mtp_expert_bytes
        assert chat(session, DRAWS[0], TEXTS[:1])[0].token_ids


def test_a_copy_with_fewer_bits_keeps_it(store: Path, tmp_path: Path) -> None:
    with Store.open(store) as source:
        made = write_lowered(source, tmp_path / "low", {(1, 0): 2}, Lowering(0.02, 0.01, 0.01, 100))
    assert not verify(made)
    assert load_manifest(made).mtp
    with opened(made) as session:
        assert session.mtp is not None
        assert chat(session, DRAWS[0], TEXTS[:1])[0].token_ids


def test_a_damaged_expert_of_it_is_named(store: Path, tmp_path: Path, alike: None) -> None:
    manifest = load_manifest(store)
    for file in store.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    damaged = tmp_path / manifest.mtp[0].file
    data = bytearray(damaged.read_bytes())
    data[8192:-65536] = bytes(len(data) - 8192 - 65536)
    damaged.write_bytes(data)
    with opened(tmp_path) as session, pytest.raises(UnderhillError, match="layer 3"):
        chat(session, DRAWS[0], TEXTS[:1])


def test_the_spec_says_which_layer(store: Path) -> None:
    with opened(store) as session:
        spec = session.decoder.spec  # type: ignore[union-attr]
        assert isinstance(spec, DecoderSpec)
        assert spec.mtp is not None
        assert spec.mtp.layer.index == len(spec.layers) == 3
        assert set(spec.moe_layers) == set(session.store.layers)
