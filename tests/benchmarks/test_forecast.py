"""The forecast's own arithmetic: what it holds against each other is the same thing at both ends."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from engine.hardware.machine import DiskPoint
from engine.hardware.rates import Rates
from engine.session.speed_check import is_full
from tests.benchmarks import forecast
from tests.benchmarks.forecast import Subject, Trial, known, middle
from tests.benchmarks.ours import OursAlone
from tests.random_models.checkpoint import write_checkpoint
from tests.random_models.quantized import write_store
from tests.random_models.shapes import small

pytestmark = pytest.mark.long

FOUND = Rates(4e10, 1, (DiskPoint(1 << 20, 4, True, 3e9),), {4: 0.9}, {64: 1e12})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forecast")
    write_checkpoint(small("qwen3"), folder / "seed", first_only=True)
    return write_store(small("qwen3"), folder / "seed", folder / "store", 8, lambda what: None)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_a_trial_holds_the_plans_own_figures_against_turns_of_a_full_cache(store: Path) -> None:
    chosen = {"dial": "exact", "cache_fraction": 0.5, "dense": "f32", "threads": 1}
    with OursAlone(store, None, chosen) as ours:
        about = ours.about
        again = ours.expected(about["memory_rate"], about["disk_rate"])
        assert again["decode"] == pytest.approx(about["speed"])
        assert again["first_token"] == pytest.approx(about["first_token"])
        slower = ours.expected(about["memory_rate"] / 8, about["disk_rate"] / 8)
        assert slower["decode"][0] < again["decode"][0]
        args = Namespace(patience=0.0, seconds=0.01)
        trial = Trial(args, Subject(store, small("qwen3").vocabulary, 8, None), ours)
        try:
            trial.fill()
            trial.decode()
            trial.prompt()
        finally:
            trial.roofs.close()
        assert is_full(ours.held(), about["cache_bytes"], trial._record)
    (turn,) = trial.turns
    assert turn.misses > 0
    assert trial.speeds == [1 / turn.per_token]
    assert len(trial.off) == len(trial.prompts) == len(trial.prompts_off) == 1
    assert trial.prompts[0] > 0
    assert len(trial.roofs.taken) == 4


def test_rates_that_are_kept_are_measured_again_only_where_asked(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def probe_fully(*arguments: Any) -> Rates:
        asked.append(arguments)
        return FOUND

    monkeypatch.setattr(forecast, "probe_fully", probe_fully)
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path))
    for again, count in ((False, 1), (False, 1), (True, 2)):
        assert known(store, again=again) == FOUND
        assert len(asked) == count


def test_the_middle_of_a_range_is_as_many_times_its_lower_end_as_its_upper_end_is_it() -> None:
    assert middle((1.0, 4.0)) == pytest.approx(2.0)
