"""How much idle models keep: the window ends where no more is gained, and what is found fits how models are used."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from engine.service import memory_split
from engine.service.memory_split import WINDOW, MemorySplit, ModelRun, SplitSearch, rehearse, sample_runs
from engine.service.model_manager import ModelManager
from engine.service.model_profile import MemoryCosts, ModelProfile
from engine.service.model_records import ModelRecords
from engine.service.model_usage import ModelUsage
from engine.service.pool import IDLE_SHARE

GB = 10**9
DISK = 1.5 * GB  # bytes a second


def usage(*models: str, times: int = 50) -> ModelUsage:
    """All of them in turn."""
    made = ModelUsage()
    for _ in range(times):
        for model in models:
            made.note(model)
    return made


def profile(
    experts: int, *, load: float, run: int, seconds: float, missed: float, dense: int = GB, context: int = 0
) -> ModelProfile:
    """seconds: of an answer. missed: seconds of a token that has no expert in memory, where one with all takes 0.05."""
    pace = tuple(0.05 + (missed - 0.05) * (1 - step / 8) for step in range(9))
    costs = MemoryCosts(dense=dense, least=experts // 50, refill=1 / DISK, pace=pace)
    made = ModelProfile().opened(load, experts + dense).needing(costs).computed(context, {})
    for _ in range(5):
        made = made.answered(run, run * seconds)
    return made


def found(usage: ModelUsage, profiles: dict[str, ModelProfile], budget: int) -> MemorySplit:
    search = SplitSearch(usage, profiles, budget)
    while not search.over:
        search.step()
    assert search.found is not None
    return search.found


SHORT = {name: profile(8 * GB, load=20.0, run=1, seconds=2.0, missed=0.06) for name in ("a", "b", "c")}
LONG = {name: profile(8 * GB, load=2.0, run=50, seconds=20.0, missed=1.0) for name in ("a", "b", "c")}


def test_models_that_take_turns_stay_open_together() -> None:
    """Opening is dear, runs are short, and fewer experts slow the one in use a little: as in a team."""
    best = found(usage("a", "b", "c"), SHORT, 16 * GB)
    assert best.share > IDLE_SHARE
    assert best.throughput > 1.5 * best.usual


def test_a_model_that_is_used_for_long_has_the_memory_for_itself() -> None:
    best = found(usage("a", "b"), LONG, 10 * GB)
    assert best.share < IDLE_SHARE
    assert best.throughput > 1.2 * best.usual


def test_where_all_fit_the_usual_share_stays() -> None:
    best = found(usage("a", "b", "c"), SHORT, 40 * GB)
    assert (best.share, best.throughput) == (IDLE_SHARE, best.usual)


def test_the_search_is_the_same_for_the_same_counts_and_needs_two_models() -> None:
    counts = usage("a", "b", "c")
    assert found(counts, SHORT, 16 * GB) == found(counts, SHORT, 16 * GB)
    assert SplitSearch(usage("a"), SHORT, 16 * GB).over
    assert SplitSearch(counts, {"a": SHORT["a"], "b": ModelProfile()}, 16 * GB).over  # nothing is known of b
    assert SplitSearch(counts, SHORT, GB).over  # no room for any


def test_windows_shrink_until_a_throughput_falls_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """coserve, section 4.4: each window is the one before it times the decay factor."""
    tried: list[float] = []

    def throughput(*given: object) -> float:
        share = float(str(given[-1]))
        tried.append(share)
        return 10 * share if share < 0.5 else 5 - share

    monkeypatch.setattr(memory_split, "rehearse", throughput)
    best = found(usage("a", "b", "c"), SHORT, 16 * GB)
    *bounds, usual = tried
    steps = [after - before for before, after in pairwise(bounds)]
    assert bounds[:2] == [0.0, WINDOW / 100]
    assert all(after == pytest.approx(before * (1 - WINDOW / 100)) for before, after in pairwise(steps))
    assert bounds[-2] < 0.55 < bounds[-1] < 0.7  # 0.478 is on the line, 0.556 is not: it ends there
    assert usual == IDLE_SHARE
    assert best.share == pytest.approx(bounds[-2])


def test_contexts_of_the_greatest_batch_count_as_memory() -> None:
    """Half of 10 GB is kept for two models; one that has four contexts of its own no longer fits into its part."""
    runs, counts = [ModelRun("a", 8), ModelRun("b", 8)] * 4, usage("a", "b")

    def answers(passes: tuple[float, ...], context: int) -> float:
        known = {name: replace(LONG[name], passes=passes, context=context) for name in "ab"}
        return rehearse(runs, counts, known, 10 * GB, 0.5)

    alone, batched = (1.0, 2.0, 3.0, 4.0), (1.0, 1.1, 1.2, 1.3)
    assert (replace(LONG["a"], passes=alone).greatest_batch, replace(LONG["a"], passes=batched).greatest_batch) == (
        1,
        4,
    )
    assert answers(alone, 0) == answers(batched, 0)
    assert answers(alone, GB // 2) < 0.8 * answers(batched, GB // 2)  # kept open, it slows the other one


def test_runs_follow_the_chains_of_the_user() -> None:
    counts = ModelUsage()
    for _ in range(40):
        counts.note("a")
        counts.note("then", "a")
    profiles = {name: profile(GB, load=1.0, run=3, seconds=1.0, missed=0.1) for name in ("a", "then")}
    runs = sample_runs(counts, profiles, 100)
    assert {run.answers for run in runs} == {3}
    assert sum(run.model == "a" for run in runs) == pytest.approx(50, abs=5)
    assert all(run.model == "a" for run, after in pairwise(runs) if after.model == "then")


def test_what_was_found_is_in_force_and_kept_for_these_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path))
    records = ModelRecords()
    for name in SHORT:
        records.note_use(name)
    assert records.idle_share is None
    split = MemorySplit(0.28, 16 * GB, 2.0, 1.0)
    records.keep_split(split)
    records.save()
    again = ModelRecords()
    assert again.split == split
    assert again.idle_share == 0.28
    again.note_use("another")  # other models share otherwise
    assert again.split is None


def test_it_is_searched_once_after_requests_and_when_the_budget_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path))
    manager, searched = ModelManager(), list[int]()
    manager.split_memory()  # before any model was opened
    budget = 16 * GB

    class Searching(SplitSearch):
        def __init__(self, *given: object) -> None:
            super().__init__(*given)  # type: ignore[arg-type]
            searched.append(budget)

    monkeypatch.setattr(memory_split, "SplitSearch", Searching)
    monkeypatch.setattr(manager.pool, "budget", lambda chosen: budget)
    manager._chosen = {}
    for name, known in SHORT.items():
        manager.records.keep_profile(name, known)
        for _ in range(20):
            manager.records.note_use(name)
    with caplog.at_level("INFO"):
        for _ in range(60):
            manager.split_memory()
    assert searched == [16 * GB]
    assert manager.records.idle_share is not None
    assert manager.records.idle_share > IDLE_SHARE
    assert "Idle models keep" in caplog.text
    budget = 40 * GB
    for _ in range(60):
        manager.split_memory()
    assert searched == [16 * GB, 40 * GB]
    assert manager.records.idle_share == IDLE_SHARE
    manager.records.note_use("a")
    manager.split_memory()
    assert len(searched) == 3
