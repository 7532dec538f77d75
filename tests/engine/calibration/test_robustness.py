"""Robust experts keep 2 bits: chosen by what they cost, written without quantizing anew, and run like any others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from engine.calibration import robustness as module
from engine.calibration.calibrator import open_calibrated
from engine.errors import Kind, UnderhillError
from engine.experts.keys import ExpertKey, keys_of
from engine.library.lowering import lowered_share, write_lowered
from engine.session import Session
from engine.store.manifest import Lowering
from engine.store.reader import Store
from engine.store.verify import verify
from engine.translatable import translated

pytestmark = pytest.mark.long

NOTE = Lowering(0.02, -0.001, 0.003, 100)
EXACT = {"dial": "exact", "threads": 1}
IDS = list(range(40, 76))


def ranked(session: Session, windows: Sequence[Sequence[int]], report: module.Report) -> dict[ExpertKey, float]:
    """Not by cost: the experts of even number first."""
    return {key: key.expert % 2 + key.expert / 100 for key in keys_of(session.store)}


@pytest.fixture
def few_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TOKENS", "JUDGED"):
        monkeypatch.setattr(module, name, 150)


@pytest.fixture
def half(session: Session, tmp_path: Path) -> Path:
    chosen = [key for key in keys_of(session.store) if key.expert % 3 == 0]
    return write_lowered(session.store, tmp_path / "half", dict.fromkeys(chosen, 2), NOTE)


def test_the_lowered_run_at_2_bits_and_the_others_as_before(session: Session, half: Path) -> None:
    assert verify(half) == ()
    with Store.open(half) as store:
        assert store.manifest.lowering == NOTE
        assert lowered_share(store) == pytest.approx(10 / 28)
        assert store.expert_bytes() < 0.8 * session.store.expert_bytes()
        assert {store.spec(0, e).tiers for e in range(0, 28, 3)} == {(2,)}
        assert store.spec(0, 1).tiers == (2, 4, 8)
    session.runtime.pretend_lowered({key: 2 for key in keys_of(session.store) if key.expert % 3 == 0})
    expected = session.logits(IDS, one_by_one=False)
    session.runtime.pretend_lowered({})
    with open_calibrated(str(half), {**EXACT, "cache_fraction": 0.3}) as opened:
        for one_by_one in (False, True):
            found = opened.logits(IDS, one_by_one=one_by_one)
            likeness = torch.nn.functional.cosine_similarity(found, expected)  # a router may choose otherwise once
            assert likeness.median() > 0.9998
            assert likeness.min() > 0.98
        assert set(opened.counters().precision) == {"8", "2"}


def test_one_token_takes_the_short_way_and_counts_what_ran(half: Path) -> None:
    with open_calibrated(str(half), EXACT) as opened:
        opened.logits(IDS, one_by_one=True)
        before = opened.counters()
        opened.logits(IDS, one_by_one=True)
        after = opened.counters()
        assert after.misses == before.misses  # all that was needed is there, lowered ones included
        assert after.precision["2"] > before.precision["2"]


def test_pretending_ends_when_it_is_told_to(session: Session) -> None:
    before = session.logits(IDS, one_by_one=False)
    session.runtime.pretend_lowered(dict.fromkeys(keys_of(session.store), 2))
    assert not torch.equal(session.logits(IDS, one_by_one=False), before)
    session.runtime.pretend_lowered({})
    assert torch.equal(session.logits(IDS, one_by_one=False), before)


@pytest.mark.usefixtures("few_tokens")
def test_as_many_are_lowered_as_the_tolerance_allows(session: Session) -> None:
    totals, bounds = [], []
    for tolerance in (0.0, 0.004, 1.0):
        found = module.choose(session, tolerance, rank=ranked)
        fewest = [key for key in found.ranked if found.bits.get(key, 8) == found.bounds[0]]
        assert found.bounds[0] == found.bounds[1] or tuple(fewest) == found.ranked[: len(fewest)]
        assert set(found.bits.values()) <= set(found.bounds)
        totals.append(sum(found.bits.get(key, 8) for key in found.ranked))
        bounds.append(found.bounds)
    assert bounds[0] == (4, 8)
    assert bounds[1][0] <= 4
    assert bounds[2] == (2, 2)
    assert totals == sorted(totals, reverse=True)
    assert totals[2] == 2 * len(found.ranked)
    assert found.ranked[0].expert == 0


@pytest.mark.usefixtures("few_tokens")
def test_the_bounds_are_the_fewest_bits_for_all_and_the_next_fewer(session: Session) -> None:
    """Just above what all at some bits cost, all have these; just below, none has fewer than the next."""
    keys, against = keys_of(session.store), module.reference(session)
    costs = {bits: module.cost(session, against, dict.fromkeys(keys, bits)) for bits in (2, 4)}
    assert costs[2] > 2 * costs[4] > 0
    for tolerance, bounds in (
        (1.01 * costs[2], (2, 2)),
        (0.99 * costs[2], (2, 4)),
        (1.01 * costs[4], (2, 4)),
        (0.99 * costs[4], (4, 8)),
    ):
        found = module.choose(session, tolerance, rank=ranked, against=against)
        assert found.bounds == bounds
        assert module.cost(session, against, found.bits) <= tolerance
        assert {found.bits.get(key, 8) for key in keys} <= set(bounds)


def test_experts_of_8_4_and_2_bits_live_in_one_model(session: Session, tmp_path: Path) -> None:
    bits = {key: 2 if key.expert % 3 else 4 for key in keys_of(session.store) if key.expert % 2}
    path = write_lowered(session.store, tmp_path / "mixed", bits, NOTE)
    assert verify(path) == ()
    with Store.open(path) as store:
        assert lowered_share(store) == pytest.approx(0.5)
        assert {store.spec(*key).top for key in keys_of(store)} == {2, 4, 8}
    session.runtime.pretend_lowered(bits)
    expected = session.logits(IDS, one_by_one=False)
    session.runtime.pretend_lowered({})
    with open_calibrated(str(path), {**EXACT, "cache_fraction": 0.3}) as opened:
        found = opened.logits(IDS, one_by_one=True)
        assert torch.nn.functional.cosine_similarity(found, expected).median() > 0.9998
        assert set(opened.counters().precision) == {"8", "4", "2"}


@pytest.mark.usefixtures("few_tokens")
def test_the_estimate_sees_who_is_used_and_how_it_suffers(session: Session) -> None:
    uses = torch.zeros(28)

    def count(layer: int, ids: torch.Tensor, weights: torch.Tensor) -> None:
        if layer == 0:
            uses.index_add_(0, ids.flatten(), weights.flatten().square())

    windows = [IDS]
    with session.listening(count):
        session.context.run_through(IDS)
    costs = module.estimated(session, windows, lambda *_: None)
    first = torch.tensor([costs[ExpertKey(0, e)] for e in range(28)])
    assert all((cost > 0) == (use > 0) for cost, use in zip(first, uses))
    both = torch.stack((first.argsort().argsort().float(), uses.argsort().argsort().float()))
    assert torch.corrcoef(both)[0, 1] > 0.7
    measured = module.measured(session, [IDS[:8]], lambda *_: None)
    assert {measured[ExpertKey(0, e)] for e in range(28)} != {0.0}


def test_an_interrupted_copy_goes_on(session: Session, tmp_path: Path, half: Path) -> None:
    chosen = [key for key in keys_of(session.store) if key.expert % 3 == 0]
    calls = 0

    def stop(phrase: str, done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 40:
            raise UnderhillError(Kind.CANCELLED, translated("Stopped."))

    with pytest.raises(UnderhillError):
        write_lowered(session.store, tmp_path / "again", dict.fromkeys(chosen, 2), NOTE, stop)
    assert not (tmp_path / "again").exists()
    path = write_lowered(session.store, tmp_path / "again", dict.fromkeys(chosen, 2), NOTE)
    for file in ("experts-00000.safetensors", "dense.safetensors"):
        assert (path / file).read_bytes() == (half / file).read_bytes()


def test_what_was_lowered_is_not_lowered_again(half: Path, tmp_path: Path) -> None:
    with Store.open(half) as store, pytest.raises(UnderhillError, match="4 or 8 bits"):
        write_lowered(store, tmp_path / "twice", {}, NOTE)
