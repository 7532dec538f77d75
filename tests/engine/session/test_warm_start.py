"""A model that was used before starts warm: what lay in memory is read again before anybody asks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.calibration.calibrator import open_calibrated
from engine.experts.keys import ExpertKey
from engine.experts.policies import ActivationAware
from engine.generation.sampling import Sampling
from engine.library import library
from engine.session import Session
from engine.session.routing_history import MATRICES, RESIDENTS, RoutingHistory
from tests.engine.calibration.idling import rest
from tests.engine.session.test_session import HELLO, Listener, ask

pytestmark = pytest.mark.long

SMALL = {"dial": "exact", "cache_fraction": 0.6, "threads": 1}
ALONE = {**SMALL, "prefetch": "off"}  # so that what is read does not depend on how quick speculation was


@pytest.fixture
def store(home: Path) -> Iterator[Path]:
    path = library.location("builtin")
    for file in (RESIDENTS, MATRICES):
        (path / file).unlink(missing_ok=True)
    yield path
    for file in (RESIDENTS, MATRICES):
        (path / file).unlink(missing_ok=True)


def used(store: Path, **changes: object) -> set[ExpertKey]:
    """The experts in memory after an answer, when the model was closed."""
    with open_calibrated("builtin", {**SMALL, **changes}) as session:
        ask(session, sampling=Sampling(temperature=0, max_tokens=12))
        return set(session.runtime.cache.residency())


def test_what_was_in_memory_is_read_again_and_then_not_missed(store: Path) -> None:
    before = used(store, prefetch="off")
    with open_calibrated("builtin", ALONE) as session:
        cold = session.runtime.cache.nbytes
        assert not rest(session, quiet=False)
        assert session.warm.complete
        assert session.runtime.cache.nbytes > cold
        resident = set(session.runtime.cache.residency())
        assert len(resident & before) > 0.9 * len(before)
        assert session.runtime.cache.nbytes <= session.runtime.cache.capacity
        warm = ask(session, sampling=Sampling(temperature=0, max_tokens=12))
    for file in (RESIDENTS, MATRICES):
        (store / file).unlink()
    with open_calibrated("builtin", ALONE) as session:  # asked at once
        stats = ask(session, sampling=Sampling(temperature=0, max_tokens=12))
    # Bytes, because an expert of the prompt that was read ahead of its layer is missed or not as the disk has time.
    assert warm.bytes_read < 0.85 * stats.bytes_read
    assert warm.token_ids == stats.token_ids


@pytest.mark.parametrize("remembered", [True, False])
def test_where_nothing_is_known_as_many_of_every_layer_are_read(store: Path, remembered: bool) -> None:
    with open_calibrated("builtin", {**ALONE, "remember_routing": remembered}) as session:
        rest(session, quiet=False)
        assert session.warm.complete
        counts = Counter(key.layer for key in session.runtime.cache.residency())
        assert set(counts) == set(session.store.layers)
        assert max(counts.values()) - min(counts.values()) <= 1
        cache = session.runtime.cache
        assert cache.capacity - cache.nbytes < cache.least


def test_whoever_asks_ends_it_and_nothing_is_left_under_way(store: Path) -> None:
    used(store)
    with open_calibrated("builtin", SMALL) as session:
        asked = iter([False, False])
        session.warm.read_until(lambda: next(asked, True))
        assert session.warm.complete
        assert session.runtime.pending.cancel_all() is False
        assert ask(session).token_ids


def test_where_all_fit_all_are_read_before_anybody_asks(store: Path) -> None:
    with open_calibrated("builtin", {**ALONE, "cache_fraction": 1.0}) as session:
        assert session.all_in_memory
        assert not session.runtime.cache.residency()
        rest(session, quiet=False)
        assert session.warm.complete
        assert set(session.runtime.cache.residency()) == set(session.runtime.cache.keys)
        assert ask(session, sampling=Sampling(temperature=0, max_tokens=4)).misses == 0


def test_where_all_fit_whoever_asks_first_is_read_ahead_of_and_the_rest_comes_behind(store: Path) -> None:
    with open_calibrated("builtin", {**ALONE, "cache_fraction": 1.0}) as session:
        session.warm.read_until(lambda: True)
        assert not session.warm.complete
        assert session.runtime.pending.cancel_all() is False
        first = ask(session, sampling=Sampling(temperature=0, max_tokens=2))
        assert session.warm.read  # while the prompt was read
        rest(session, quiet=False)
        assert set(session.runtime.cache.residency()) == set(session.runtime.cache.keys)
        session.context.clear()
        again = ask(session, sampling=Sampling(temperature=0, max_tokens=2))
        assert again.misses == 0
        assert again.token_ids == first.token_ids


def test_only_counts_are_kept_and_the_setting_removes_them(store: Path) -> None:
    used(store)
    assert json.loads((store / RESIDENTS).read_text(encoding="utf-8")).keys() == {"version", "layers"}
    used(store)
    with open_calibrated("builtin", SMALL) as session:
        assert len(session.history.collection) == 2
        session.update({"remember_routing": False})
        assert not (store / RESIDENTS).exists()
        assert not (store / MATRICES).exists()
        ask(session)
    assert not (store / RESIDENTS).exists()
    used(store, remember_routing=False)
    assert not (store / MATRICES).exists()


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"version": 9}', '{"version": 1, "layers": {"0": [99, -1], "77": [0]}}']
)
def test_damaged_memories_are_none(store: Path, content: str) -> None:
    (store / RESIDENTS).write_text(content, encoding="utf-8")
    (store / MATRICES).write_bytes(b"PK")
    with open_calibrated("builtin", SMALL) as session:
        assert session.history.residents() == []
        assert set(session.warm.left) == set(session.runtime.cache.keys)
        assert ask(session).token_ids


def test_a_chat_that_has_begun_expects_what_chats_like_it_use(session: Session, store: Path) -> None:
    memories = RoutingHistory(store, session.store)
    rows = len(session.store.layers)

    def uses(expert: int) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(5 if e in (expert, expert + 1) else 0 for e in range(28)) for _ in range(rows))

    for expert in (2, 2, 9):
        memories.answered(
            uses(expert + 10), tuple(tuple(map(sum, zip(*both))) for both in zip(uses(expert), uses(expert + 10)))
        )
    assert {key.expert for key in memories.likely()[: 2 * rows]} == {2, 3}
    begun = tuple(tuple(int(e == 19) for e in range(28)) for _ in range(rows))
    found = memories.likely_after(begun)
    assert {key.expert for key in found} == {2, 3, 9, 10}  # what answers used, and nothing of prompts
    assert [(session.store.layers.index(key.layer), key.expert) for key in found[:4]] == [
        (0, 2),
        (0, 3),
        (1, 2),
        (1, 3),
    ]


def test_a_prompt_that_is_through_fills_only_room_that_is_free(session: Session, store: Path) -> None:
    used(store)
    with open_calibrated("builtin", {**SMALL, "cache_fraction": 0.9}) as opened:
        warm = opened.warm
        held = set(opened.runtime.cache.residency())
        opened.context.read([5, 6, 7, 8])
        warm.prompt_read(opened.counters().activations)
        warm.answered(opened.counters().activations)
        assert held <= set(opened.runtime.cache.residency())


def test_behind_a_prompt_all_is_read_that_answers_like_it_use_while_the_answer_comes(store: Path) -> None:
    """Far more than may be under way at once, and without anybody leaving for it."""
    for _ in range(2):
        used(store, prefetch="off")
    (store / RESIDENTS).unlink()
    with open_calibrated("builtin", {**ALONE, "cache_fraction": 0.95, "readers": 1}) as opened:
        opened.warm.left.clear()  # as if it had been asked at once: nothing was read at opening
        listener, most = Listener(), 2
        before = opened.warm.read
        opened.generate(HELLO, Sampling(temperature=0, max_tokens=24), (), listener)
        while not opened.warm.complete:
            opened.warm.read_until(lambda: False)
        assert opened.warm.read - before > 4 * most
        likely = opened.history.likely_after(opened.warm._prompt)
        resident = set(opened.runtime.cache.residency())
        assert len(resident.intersection(likely)) > 0.9 * len(likely)


def test_policy_and_predictor_go_by_the_collection_that_was_kept(store: Path) -> None:
    used(store, prefetch="off")
    used(store, prefetch="off")
    with open_calibrated("builtin", {**SMALL, "policy": "activation", "predictor": "eam"}) as opened:
        collection = opened.history.collection
        assert len(collection) == 2
        policy = opened.runtime.cache.policy  # type: ignore[attr-defined]
        assert isinstance(policy, ActivationAware)
        assert policy.collection is collection
        ask(opened, sampling=Sampling(temperature=0, max_tokens=12))
        assert len(collection) == 3  # by one of those who see the answer, not by all
        counts, prompts = collection.counts[2], collection.prompts[2]
        assert (counts.sum(1) == counts.sum(1)[0]).all()
        assert 0 < counts.sum(1)[0] <= 12 * opened.card.experts_per_token < prompts.sum(1)[0]
        opened.update({"remember_routing": False})
        assert len(collection) == 0
        assert policy.collection is opened.history.collection
        assert any("only sees the open chat" in sentence for sentence in opened.card.plan)
