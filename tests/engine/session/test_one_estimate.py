"""One estimate in one place: the library, the plan, the open model and the terminal show the same figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.calibration.calibrator import open_calibrated
from engine.cli.main import main
from engine.generation.messages import Message
from engine.generation.sampling import Sampling
from engine.hardware.load import Load, LoadWatch
from engine.library import library, speed_record
from engine.library.fit_estimates import FitEstimates
from engine.planning.speed import figure, is_speed_sentence
from engine.session import Session
from tests.engine.session.sizes import Quiet

CHOSEN = {"threads": 1, "dial": "exact", "cache_fraction": 0.4}


def shown(session: Session, capsys: pytest.CaptureFixture[str]) -> list[tuple[float, float]]:
    """In all places where a speed is told of a model."""
    (card,) = [
        card for card in FitEstimates(session.settings).library(library.listing()) if card.path == session.card.path
    ]
    assert card.fit is not None
    assert session.card.fit is not None
    assert card.fit.speed is not None
    low, high = map(figure, session.plan.speed)
    (pace,) = filter(is_speed_sentence, session.sentences)
    assert pace in session.card.plan
    for sentence in (pace, card.fit.sentence, session.card.fit.sentence):
        assert high in sentence
        assert low in sentence
    capsys.readouterr()
    assert main(["plan", "builtin", "--json", "--threads", "1", "--dial", "exact", "--cache-fraction", "0.4"]) == 0
    told = json.loads(capsys.readouterr().out)["speed"]
    return [session.plan.speed, card.fit.speed, session.card.fit.speed or (0.0, 0.0), tuple(told)]


def answer(session: Session, most: int) -> None:
    """So many answers, or until its speed was judged."""
    for number in range(most):
        if (session.store.path / speed_record.FILE).exists():
            return
        story = (Message("user", f"Tell me long story number {number} about a fox and a hill."),)
        session.generate(story, Sampling(temperature=0, max_tokens=120), (), Quiet())


@pytest.mark.alone("judges the speed of this machine")
def test_the_same_before_and_after_the_model_was_seen_to_run(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    load = Load()
    monkeypatch.setattr(LoadWatch, "load", property(lambda watch: load))
    rates = iter([3e10, *[1e10] * 50])
    monkeypatch.setattr("engine.hardware.compute_speed.quickly", lambda threads: next(rates))
    with open_calibrated("builtin", CHOSEN) as session:
        before = shown(session, capsys)
        assert all(speed == pytest.approx(before[0], rel=0.01) for speed in before)
        load = Load(0.8)  # what others slow down says nothing of the next time
        answer(session, 4)
        assert not (session.store.path / speed_record.FILE).exists()
        load = Load()
        answer(session, 12)
        assert (session.store.path / speed_record.FILE).exists()
        after = shown(session, capsys)
        assert all(speed == pytest.approx(after[0], rel=0.01) for speed in after)
        assert after[0] != before[0]
