"""The prefetch tracker beside a plain model of it: the same reads begun and the same counts after every step."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from engine.experts.keys import ExpertKey
from engine.experts.policies import NAMES
from engine.experts.predictors.predictor import Floats
from engine.experts.prefetch.tracker import MAX_PREFETCH_SHARE, PrefetchTracker
from engine.experts.runtime import ExpertRuntime
from engine.experts.telemetry import PrefetchStats
from engine.record.layout import ExpertSpec
from tests.engine.experts.sources import MemorySource
from tests.waiting import LONGEST

SPEC = ExpertSpec(48, 40, 8, 16)
K, EXPERTS, LAYERS, DEPTH = 3, 8, (0, 2, 3, 5), 2
NEAR = 2  # rows ahead that are protected where all are planned


class Side:
    """A runtime over a source of its own."""

    def __init__(self, experts: float, policy: str) -> None:
        self.source = MemorySource(SPEC, LAYERS, EXPERTS)
        self.runtime: ExpertRuntime = self.source.open(experts, 1, policy=policy)

    def tracker(self, depth: int) -> PrefetchTracker:
        tables = [self.runtime.table.layers[layer] for layer in LAYERS]
        return PrefetchTracker(self.runtime.cache, self.runtime.pending, tables, K, depth)

    def pending(self) -> dict[ExpertKey, int]:
        keys = [ExpertKey(layer, expert) for layer in LAYERS for expert in range(EXPERTS)]
        return {key: tier for key in keys if (tier := self.runtime.pending.pending_tier(key))}

    def till_all_has_come(self) -> None:
        """Reads end without anybody's help."""
        while self.runtime.pending:
            self.runtime.pending.commit_completed()


class Model:
    """Under the Exact dial: every expert that is expected and not held in full is lacking."""

    def __init__(self, side: Side, depth: int) -> None:
        self._cache, self._pending, self._depth = side.runtime.cache, side.runtime.pending, depth
        self.stats = PrefetchStats(said=[0] * depth, right=[0] * depth)
        self._row = -1
        self._near: list[ExpertKey] = []
        self._first: list[int] = []
        self._bets: list[dict[int, int]] = [{} for _ in LAYERS]  # by row: experts read ahead and their bytes
        self._said: list[dict[int, list[int]]] = [{} for _ in range(depth)]

    def commit_routing(self, row: int, chosen: Sequence[int]) -> None:
        self._row = row
        self._near = [ExpertKey(LAYERS[row], expert) for expert in chosen]
        if row < 0:
            return
        if row == 0 and self._first:
            self.stats.first_said += len(chosen)
            self.stats.first_right += len(set(self._first) & set(chosen))
            self._first = []
        for ahead, said in enumerate(self._said):
            if (expected := said.pop(row, None)) is not None:
                self.stats.said[ahead] += len(chosen)
                self.stats.right[ahead] += len(set(expected) & set(chosen))
        for expert in list(self._bets[row]):
            if expert in chosen:
                self._mark_used(row, expert)
            else:
                self._mark_wasted(row, expert)

    def plan_row(self, row: int, scores: Floats, width: int) -> int:
        expected = self._expect(row, scores, width)
        keys = [ExpertKey(LAYERS[row], expert) for expert in expected[:width]]
        self._near += [key for key in keys if self._cache.tier(key) == 8]
        self._cache.protect(self._near)
        missing = [key for key in keys if self._cache.tier(key) < 8]
        return self._read(missing) if missing else -1

    def plan_all(self, plan: Floats, width: int) -> int:
        missing: list[tuple[float, int, ExpertKey]] = []
        for row in range(self._row + 1, len(LAYERS)):
            for expert in self._expect(row, plan[row], width)[:width]:
                key, score = ExpertKey(LAYERS[row], expert), float(plan[row, expert])
                if self._cache.tier(key) < 8 and score > 0:
                    missing.append((-score, row * EXPERTS + expert, key))
                elif self._cache.tier(key) == 8 and row <= self._row + NEAR:
                    self._near.append(key)
        self._cache.protect(self._near)
        return self._read([key for *_, key in sorted(missing)]) if missing else -1

    def cancel_all(self) -> None:
        for row, bets in enumerate(self._bets):
            for expert in list(bets):
                self._mark_wasted(row, expert)
        self._cache.protect(())

    def _expect(self, row: int, scores: Floats, width: int) -> list[int]:
        expected: list[int] = np.argsort(-scores, kind="stable")[: 2 * max(K, width)].tolist()
        if self._row >= 0:
            self._said[row - self._row - 1][row] = expected[:K]
        elif row == 0:
            self._first = expected[:K]
        for expert in [one for one in self._bets[row] if one not in expected]:
            if self._pending.pending_tier(ExpertKey(LAYERS[row], expert)):
                self._mark_wasted(row, expert)
        return expected

    def _read(self, missing: Sequence[ExpertKey]) -> int:
        rows = range(self._row + 1, min(self._row + 1 + self._depth, len(LAYERS)))
        in_flight = sum(
            nbytes
            for row in rows
            for expert, nbytes in self._bets[row].items()
            if self._pending.pending_tier(ExpertKey(LAYERS[row], expert))
        )
        for key in missing:
            if self._pending.pending_tier(key):
                continue
            nbytes = self._cache.missing_bytes(key, 8)
            if in_flight >= int(self._cache.capacity * MAX_PREFETCH_SHARE) or not self._pending.prefetch(key, 8):
                break
            self._bets[LAYERS.index(key.layer)][key.expert] = nbytes
            self.stats.started += 1
            in_flight += nbytes
        return in_flight

    def _read_so_far(self, key: ExpertKey) -> int:
        table, at = self._cache.table, self._cache.number(key)
        size: int = table.library.uh_cache_pending_bytes(table.address, at)
        return size - table.library.uh_cache_unread_bytes(table.address, at)

    def _mark_used(self, row: int, expert: int) -> None:
        nbytes, key = self._bets[row].pop(expert), ExpertKey(LAYERS[row], expert)
        pending = bool(self._pending.pending_tier(key))
        self.stats.used += 1
        self.stats.joined += pending
        self.stats.useful += nbytes
        self.stats.early += self._read_so_far(key) if pending else nbytes

    def _mark_wasted(self, row: int, expert: int) -> None:
        nbytes, key = self._bets[row].pop(expert), ExpertKey(LAYERS[row], expert)
        wasted = nbytes
        if self._pending.pending_tier(key):
            wasted = self._read_so_far(key)
            self._cache.table.library.uh_cache_cancel(self._cache.table.address, self._cache.number(key))
            self.stats.cancelled += wasted < nbytes
        self.stats.wasted += wasted


Open = Callable[..., Side]


@pytest.fixture
def opened() -> Iterator[Open]:
    made: list[Side] = []

    def make(experts: float, policy: str = "hobbit") -> Side:
        made.append(Side(experts, policy))
        return made[-1]

    yield make
    for side in made:
        side.source.gate.set()
        side.runtime.close()


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("policy", NAMES)
@pytest.mark.parametrize("experts", [9, pytest.param(20, marks=pytest.mark.long)])
def test_both_read_and_count_the_same(opened: Open, experts: int, policy: str, everywhere: bool) -> None:
    """One read is in hand, which waits; all others are queued, or come when the gate opens for a while."""
    sides, dice = (opened(experts, policy), opened(experts, policy)), random.Random(experts)
    depth = len(LAYERS) if everywhere else DEPTH
    model, tracker = Model(sides[0], depth), sides[1].tracker(depth)
    both = model, tracker
    held = False  # whether a reader has one in hand

    def close() -> None:
        for side in sides:
            side.till_all_has_come()
            while side.source.started.acquire(blocking=False):
                pass
            side.source.gate.clear()

    def same() -> None:
        assert sides[0].pending() == sides[1].pending()
        assert sides[0].runtime.cache.residency() == sides[1].runtime.cache.residency()
        assert model.stats == tracker.stats()
        assert (tracker.used, tracker.balance) == (model.stats.used, (model.stats.early, model.stats.wasted))

    close()
    for _ in range(60):
        row = -1
        for one in both:
            one.cancel_all()
            one.commit_routing(-1, ())
        while row < len(LAYERS) - 1:
            for ahead in range(row + 1, min(row + 1 + DEPTH, len(LAYERS))):
                width = dice.choice([1, K])
                if everywhere:
                    plan = np.array([[dice.randrange(9) for _ in range(EXPERTS)] for _ in LAYERS], np.float32)
                    found = [one.plan_all(plan, width) for one in both]
                else:
                    scores = np.array([dice.random() for _ in range(EXPERTS)], np.float32)
                    found = [one.plan_row(ahead, scores, width) for one in both]
                assert found[0] == found[1]
                if found[0] > 0 and not held:
                    held = True
                    for side in sides:
                        assert side.source.started.acquire(timeout=LONGEST)
                same()
                if everywhere or dice.random() < 0.7:
                    break
            if dice.random() < 0.3:
                for side in sides:
                    side.source.gate.set()
                close()
                held = False
                same()
            row += 1
            chosen = dice.sample(range(EXPERTS), K)
            for one in both:
                one.commit_routing(row, chosen)
            same()
    for side in sides:
        side.source.gate.set()
    for one in both:
        one.cancel_all()
    same()
    seen = tracker.stats()
    assert min(seen.started, seen.used, seen.joined, seen.wasted, seen.early) > 0


def test_all_rows_are_read_the_likeliest_first_and_cancelled_when_they_are_not_expected(opened: Open) -> None:
    side = opened(20)
    tracker = side.tracker(len(LAYERS))
    plan = np.zeros((len(LAYERS), EXPERTS), np.float32)
    wanted = [(3, 5), (1, 2), (2, 0), (1, 7)]
    for rank, (row, expert) in enumerate(wanted):
        plan[row, expert] = 1 - 0.1 * rank
    side.source.gate.clear()
    tracker.commit_routing(-1, ())
    assert tracker.plan_all(plan, K) > 0
    keys = [ExpertKey(LAYERS[row], expert) for row, expert in wanted]
    pending = [key for key in keys if side.runtime.pending.pending_tier(key)]
    assert pending == keys[: len(pending)]  # as many as there is room for
    assert pending
    tracker.cancel_all()
    side.source.gate.set()
    side.till_all_has_come()
    assert tracker.stats().started == len(pending)


def test_a_plan_of_another_shape_is_refused(opened: Open) -> None:
    tracker = opened(20).tracker(len(LAYERS))
    with pytest.raises(ValueError, match="expected contiguous float32"):
        tracker.plan_all(np.zeros((len(LAYERS), EXPERTS + 1), np.float32), K)


def test_more_experts_than_a_native_look_has_room_for_are_cut_down(opened: Open) -> None:
    side = opened(20)
    tables = [side.runtime.table.layers[layer] for layer in LAYERS]
    tracker = PrefetchTracker(side.runtime.cache, side.runtime.pending, tables, 200, DEPTH)
    tracker.commit_routing(-1, ())
    assert tracker.plan_row(0, np.arange(EXPERTS, dtype=np.float32), 100) > 0
    tracker.commit_routing(0, range(EXPERTS))
    assert tracker.stats().first_right == EXPERTS
