"""The precision dials are measured in steps that can be stopped, kept, and gone on with."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.calibration import calibrator as module
from engine.calibration import policy_fit
from engine.calibration.calibrator import FILE, Calibrator, calibrate, open_calibrated
from engine.errors import Kind, UnderhillError
from engine.experts.telemetry import ExpertSnapshot
from engine.library import dials
from engine.session import Session
from engine.session.routing_history import MATRICES, RESIDENTS
from engine.session.thresholds import substitute_for
from tests.engine.calibration.idling import idle, rest

pytestmark = pytest.mark.long

SMALL = {"dial": "balanced", "cache_fraction": 0.2, "threads": 1}


@pytest.fixture
def opened(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    for name, few in (("SCORED", 100), ("SCORED_HERE", 40), ("LOGITS", 1)):
        monkeypatch.setattr(module, name, few)
    monkeypatch.setattr(policy_fit, "SHARES", (0.5,))  # a search for each takes half a minute
    for file in (dials.FILE, FILE, RESIDENTS, MATRICES):
        (home / "models" / "builtin" / file).unlink(missing_ok=True)
    with open_calibrated("builtin", SMALL) as session:
        yield session


def test_interrupted_at_every_step_it_ends_in_the_same_figures(opened: Session) -> None:
    whole = calibrate(opened, tokens=module.QUICK)
    (opened.store.path / dials.FILE).unlink()
    stops = 0
    for _ in range(100):
        calibrator = Calibrator(opened, opened.calibrated, module.QUICK)  # as after a start of the program
        if calibrator.complete:
            break
        stops += 1
        with pytest.raises(UnderhillError) as e:
            calibrator.step(lambda: True)
        assert e.value.kind is Kind.CANCELLED
        before = calibrator.done
        calibrator.step()
        assert calibrator.done == before + 1
    found = dials.read(opened.store.path)
    assert found is not None
    assert stops > 4
    assert not (opened.store.path / FILE).exists()
    for dial in dials.DIALS:
        mine, theirs = found.dials[dial], whole.dials[dial]
        assert (mine.t1, mine.t2, mine.worst) == (theirs.t1, theirs.t2, theirs.worst)
        assert mine.here is not None
        assert mine.worst is not None
        # As much cache-aware routing as costs no more than the preset may, and it is in force.
        assert not mine.substitute or mine.here.kl <= mine.worst.kl
        assert substitute_for(opened.store.path, {**opened.settings, "dial": dial}) == mine.substitute
    assert opened.card.calibration == found


def test_a_damaged_state_begins_its_stage_again(opened: Session) -> None:
    first = Calibrator(opened, opened.calibrated, module.QUICK)
    assert first.stage == 1  # T1 and T2 were found when it was opened
    first.step()
    (opened.store.path / FILE).write_bytes(b"PK damaged")
    assert Calibrator(opened, opened.calibrated, module.QUICK).done == first.done - 1


def test_the_chat_is_not_forgotten_meanwhile(opened: Session) -> None:
    opened.context.read([5, 6, 7])
    Calibrator(opened, opened.calibrated, module.QUICK).step()
    assert opened.context.tokens == [5, 6, 7]


def test_what_people_asked_for_is_all_that_counts(opened: Session) -> None:
    def counted() -> ExpertSnapshot:
        return dataclasses.replace(opened.counters(), residency=(), prefetch=None)

    meanwhile = []

    def stopped() -> bool:
        meanwhile.append(counted())
        return False

    opened.context.read([5, 6, 7])
    before, calibrator = counted(), Calibrator(opened, opened.calibrated, module.QUICK)
    while not calibrator.complete:
        calibrator.step(stopped)
    assert len(meanwhile) > 10
    assert all(seen == before for seen in (*meanwhile, counted()))
    opened.context.step(8)
    assert sum(map(sum, counted().uses)) == sum(map(sum, before.uses)) + len(before.layers) * 4


@pytest.mark.timeout(900)
def test_a_model_in_memory_is_whole_again_behind_it(opened: Session) -> None:
    opened.update({"cache_fraction": 1.0})
    opened.context.read([5, 6, 7])
    rest(opened)

    def whole() -> bool:
        tiers = {tier for row in opened.counters().residency for tier in row if tier}
        done = Calibrator(opened, opened.calibrated, module.QUICK).complete and opened.warm.complete
        return done and tiers == {opened.plan.tier}

    for _ in range(200):
        if whole():
            break
        rest(opened)
    assert whole()


def test_spare_time_measures_and_the_card_says_so(opened: Session) -> None:
    said = []
    while opened.card.calibration is None or opened.card.calibration.dials["fast"].here is None:
        rest(opened)
        said.append(opened.card.doing)
    assert any("Measuring quality" in sentence for sentence in said)
    assert opened.card.doing == ""
    assert not rest(opened)


def test_spare_time_steps_aside_and_loses_nothing(opened: Session) -> None:
    opened.warm.read_until(lambda: False)  # which comes first
    assert idle(opened).use(lambda: True)  # says that it has begun
    assert not idle(opened).use(lambda: True)
    assert Calibrator(opened, opened.calibrated, module.QUICK).done > 0


def test_what_the_window_says_of_a_dial() -> None:
    costs = {d: dials.DialCost(0.5, 0.9, dials.Cost(0.0123, 0.0045), dials.Cost(0.001, 0.0002)) for d in dials.DIALS}
    found = dials.Calibration(tokens=1, scored=1, scored_here=1, share=0.25, exact_perplexity=2.0, dials=costs)
    assert dials.in_words(found, "balanced") == (
        "Balanced: KL 0.0002 vs. Exact with 25% of experts in memory, KL 0.0045 vs. Exact "
        "if all experts are read from disk."
    )
    assert "not measured yet" in dials.in_words(None, "fast")
