"""Reads experts before they are asked for: walks the coming layers until something is missing, and fetches that."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from engine.experts.foresight import Foresight
from engine.experts.keys import ExpertKey, ExpertSource
from engine.experts.predictors.predictor import Floats, Predictor, Sight
from engine.experts.two_level import TieredCache
from engine.experts.under_way import UnderWay
from engine.experts.worth import Worth

QUIET = 4  # tokens that needed nothing from the disk, after which nothing is predicted any more, until the next one
ROOM = 8  # reads ahead under way may take this part of the cache

# (layer, scores, width, most): the `most` experts with the greatest scores, best first; and of the first `width` the
# tier at which each would have to be fetched, 0: it is there, or not worth it.
Foresee = Callable[[int, Floats, int, int], tuple[list[int], list[int]]]


class Prefetch:
    """For the thread that runs the model. awake: whether it wants to be told of layers; else they cost nothing.

    Under every dial the output is what it would be without: an expert that came early is the same expert.
    """

    def __init__(
        self,
        source: ExpertSource,
        predictor: Predictor,
        arrivals: UnderWay,
        cache: TieredCache,
        foresee: Foresee,
        rate: Callable[[], float],
        k: int,
        depth: int = 2,
        width: int | None = None,
    ) -> None:
        """foresee: what scores say of a layer. rate: bytes per second that the disk brings, 0 while that is not
        known. k: experts per token. depth: layers looked ahead at most. width: experts read ahead for a layer at most;
        None: k.
        """
        self.awake = False
        self.foresight = Foresight([0] * depth, [0] * depth)
        self._predictor, self._arrivals, self._cache = predictor, arrivals, cache
        self._foresee, self._rate = foresee, rate
        self._k, self._depth, self._width = k, depth, width or k
        self._row = {layer: row for row, layer in enumerate(source.layers)}
        self._keys = [[ExpertKey(layer, expert) for expert in range(source.experts(layer))] for layer in source.layers]
        self._sight = Sight()
        self._bets: list[dict[int, int]] = [{} for _ in source.layers]  # by row: experts read ahead and their bytes
        self._said: list[dict[int, list[int]]] = [{} for _ in range(depth)]  # by distance - 1: row to the k expected
        self._worth = Worth()
        self._needed = 0  # experts so far that had to be read, before they were asked for or then
        self._quiet = QUIET
        self._in_step = False  # whether every row of this token so far was told

    @property
    def resting(self) -> bool:
        """Whether it says nothing for a while, since it did not pay."""
        return self._worth.resting > 0

    def snapshot(self) -> Foresight:
        """What it did so far."""
        now = self.foresight
        return replace(now, said=[*now.said], right=[*now.right], failed=self._arrivals.failed)

    # ---- what it is told ----------------------------------------------------------------------------------------

    def begin(self, tokens: Sequence[int], position: int, misses: int) -> None:
        """These tokens are about to run. misses: of the runtime so far, from which it knows whether there is a need."""
        needed = misses + self.foresight.used
        self._quiet = 0 if needed > self._needed else self._quiet + 1
        self._needed = needed
        self._worth.rested(len(self._keys))
        awake = len(tokens) == 1 and self._quiet < QUIET and not self._worth.resting
        if not awake and not self.awake:
            return
        start = time.perf_counter()
        if self.awake:
            self._give_up(range(len(self._bets)))
        if awake and not self.awake:
            self._predictor.begin_sequence()
        self.awake = self._in_step = awake
        if awake:
            if position == 0:
                self._predictor.begin_sequence()
            self._sight.begin(int(tokens[0]))
            self._look()
        self._spent(start)

    def routed(self, layer: int, chosen: Sequence[int], gating: Floats | None) -> None:
        """A layer's router has spoken, for one token, and what is missing there has been asked for already.

        chosen: best first. gating: [H] float32, what the experts are given; not kept longer than until the next call.
        """
        row = self._row[layer]
        if not self._in_step or row != self._sight.row + 1:
            self._in_step = False
            return
        start = time.perf_counter()
        self._sight.routed(chosen, gating)
        self._predictor.learn(self._sight)
        self._settle(row, chosen)
        self._look()
        self._spent(start)
        self._worth.called(self._rate)
        if self._worth.resting:
            self.foresight.rests += 1
            self.sleep()

    def sleep(self) -> None:
        """Give up what is on its way and say no more until there is a need again."""
        self._give_up(range(len(self._bets)))
        self._cache.protect(())
        self.awake = self._in_step = False

    # ---- what it does -------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Walk the coming rows until one lacks an expert that is expected there; read those ahead."""
        sight, width = self._sight, max(1, round(self._width * self._worth.width))
        # What this token computes now must not make room for what it may need later.
        near = [self._keys[sight.row][expert] for expert in sight.chosen[-1]] if sight.row >= 0 else []
        missing: list[tuple[ExpertKey, int]] = []
        row, last = sight.row, min(sight.row + self._depth, len(self._keys) - 1)
        while row < last and not missing:
            row += 1
            scores = self._predictor.scores(sight, row)
            if scores is None:
                break
            own = self._keys[row]
            expected, tiers = self._foresee(own[0].layer, scores, width, 2 * max(self._k, width))
            if sight.row >= 0:
                self._said[row - sight.row - 1][row] = expected[: self._k]
            self._give_up_all_but(row, expected)
            for expert, tier in zip(expected, tiers):
                if tier:
                    missing.append((own[expert], tier))
                else:
                    near.append(own[expert])
        self._cache.protect(near)  # first, or they might make room for the others
        self._read(row, missing)

    def _read(self, row: int, missing: Sequence[tuple[ExpertKey, int]]) -> None:
        """Begin to read these, as far as there is room."""
        bets, arrivals = self._bets[row], self._arrivals
        if missing:
            room = self._cache.capacity // ROOM - self._under_way()
            for key, nbytes in arrivals.expect_all(missing, room):
                bets[key.expert] = nbytes
                self.foresight.started += 1

    def _under_way(self) -> int:
        """Bytes. Nothing is bet on rows that have been routed, nor on those farther ahead than it looks."""
        first = self._sight.row + 1
        return sum(
            nbytes
            for keys, bets in zip(self._keys[first : first + self._depth], self._bets[first:])
            for expert, nbytes in bets.items()
            if self._arrivals.coming(keys[expert])
        )

    def _settle(self, row: int, chosen: Sequence[int]) -> None:
        """What was expected of a row, now that its router has spoken."""
        for ahead, said in enumerate(self._said):
            expected = said.pop(row, None)
            if expected is not None:
                self.foresight.said[ahead] += len(chosen)
                self.foresight.right[ahead] += len(set(expected).intersection(chosen))
        bets = self._bets[row]
        for expert in [expert for expert in bets if expert in chosen]:
            nbytes, key = bets.pop(expert), self._keys[row][expert]
            coming = self._arrivals.coming(key)
            early = self._arrivals.brought(key) if coming else nbytes
            self.foresight.used += 1
            self.foresight.joined += bool(coming)
            self.foresight.useful += nbytes
            self.foresight.early += early
            self._worth.books.early += early
        self._give_up((row,))

    def _give_up(self, rows: Sequence[int] | range) -> None:
        for row in rows:
            for expert in list(self._bets[row]):
                self._lose(row, expert)

    def _give_up_all_but(self, row: int, expected: Sequence[int]) -> None:
        for expert in [expert for expert in self._bets[row] if expert not in expected]:
            if self._arrivals.coming(self._keys[row][expert]):
                self._lose(row, expert)

    def _lose(self, row: int, expert: int) -> None:
        """It was read in vain; what no reader has in hand yet is not read at all."""
        nbytes, key = self._bets[row].pop(expert), self._keys[row][expert]
        if self._arrivals.coming(key):
            wasted = self._arrivals.cancel(key)
            self.foresight.cancelled += wasted < nbytes
        else:
            wasted = nbytes
        self.foresight.wasted += wasted
        self._worth.books.wasted += wasted

    def _spent(self, start: float) -> None:
        seconds = time.perf_counter() - start
        self.foresight.seconds += seconds
        self._worth.books.spent += seconds
