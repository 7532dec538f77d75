"""What reading ahead bets on: experts expected of coming rows and read in advance, and what becomes of that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from engine.experts.foresight import Foresight
from engine.experts.keys import ExpertKey
from engine.experts.predictors.predictor import Floats
from engine.experts.two_level import TieredCache
from engine.experts.under_way import UnderWay

NEAR = 2  # rows ahead of which what is expected leaves last, where all rows are looked at
AT_ONCE = 64  # reads begun in one look at most: what native code has room for
ROOM = 8  # reads ahead under way may take this part of the cache

# (layer, scores, width, most): the `most` experts with the greatest scores, best first; and of the first `width` the
# tier at which each would have to be fetched, 0: it is there, or not worth it.
Foresee = Callable[[int, Floats, int, int], tuple[list[int], list[int]]]


class Bets(Protocol):
    """Rows are MoE layers as they run. Two kinds: KeptBets and NativeBets."""

    @property
    def used(self) -> int:
        """Experts read ahead and asked for."""

    @property
    def balance(self) -> tuple[int, int]:
        """Bytes: that were there or in hand when they were asked for, and that were read in vain."""

    def foresight(self) -> Foresight:
        """All that is counted; what only Prefetch knows is left at 0."""

    def routed(self, row: int, chosen: Sequence[int]) -> None:
        """The router of a row has spoken, and what was bet on it is settled; -1: a token begins, nothing chosen."""

    def look(self, row: int, scores: Floats, width: int) -> int:
        """What scores say of a row behind the one routed last: of the first `width`, those that lack something are
        read, as far as there is room; reads for it that are expected no more are given up.

        The choice of the row routed last, and what is expected and there in the rows looked at since, leave last.
        Returns the bytes under way; -1: nothing lacks there.
        """

    def spread(self, plan: Floats, width: int) -> int:
        """As `look`, at all rows behind the one routed last at once. plan: [rows, experts], by which the first `width`
        of each row are read, the greatest of all rows first, those of 0 not at all. Only what is expected in the NEAR
        next rows leaves last: of those farther away the policy knows better.
        """

    def give_up(self) -> None:
        """All that is on its way; and nobody is expected any more."""


class KeptBets:
    """See Bets; in Python, over any cache."""

    def __init__(
        self,
        keys: Sequence[Sequence[ExpertKey]],
        arrivals: UnderWay,
        cache: TieredCache,
        foresee: Foresee,
        k: int,
        depth: int,
    ) -> None:
        """keys: by row. foresee: what scores say of a layer. k: experts of a row that count as expected, by which it
        is measured. depth: rows looked ahead at most."""
        self._keys, self._arrivals, self._cache, self._foresee = keys, arrivals, cache, foresee
        self._k, self._depth = k, depth
        self._rows = {own[0].layer: row for row, own in enumerate(keys)}
        self._counts = Foresight([0] * depth, [0] * depth)
        self._row = -1  # routed last
        self._near: list[ExpertKey] = []
        self._first: list[int] = []  # the k expected of the first row, before it has run
        self._bets: list[dict[int, int]] = [{} for _ in keys]  # by row: experts read ahead and their bytes
        self._said: list[dict[int, list[int]]] = [{} for _ in range(depth)]  # by distance - 1: row to the k expected

    @property
    def used(self) -> int:
        """See Bets."""
        return self._counts.used

    @property
    def balance(self) -> tuple[int, int]:
        """See Bets."""
        return self._counts.early, self._counts.wasted

    def foresight(self) -> Foresight:
        """See Bets."""
        return replace(self._counts, said=[*self._counts.said], right=[*self._counts.right])

    def routed(self, row: int, chosen: Sequence[int]) -> None:
        """See Bets."""
        self._row = row
        # What this token computes now must not make room for what it may need later.
        self._near = [self._keys[row][expert] for expert in chosen]
        if row < 0:
            return
        counts = self._counts
        if row == 0 and self._first:
            counts.first_said += len(chosen)
            counts.first_right += len(set(self._first).intersection(chosen))
            self._first = []
        for ahead, said in enumerate(self._said):
            expected = said.pop(row, None)
            if expected is not None:
                counts.said[ahead] += len(chosen)
                counts.right[ahead] += len(set(expected).intersection(chosen))
        bets = self._bets[row]
        for expert in list(bets):
            if expert in chosen:
                self._win(row, expert)
            else:
                self._lose(row, expert)

    def look(self, row: int, scores: Floats, width: int) -> int:
        """See Bets."""
        own, missing = self._keys[row], list[tuple[ExpertKey, int]]()
        expected, tiers = self._foresee(own[0].layer, scores, width, 2 * max(self._k, width))
        self._expect(row, expected)
        for expert, tier in zip(expected, tiers):
            if tier:
                missing.append((own[expert], tier))
            else:
                self._near.append(own[expert])
        self._cache.protect(self._near)  # first, or they might make room for the others
        return self._read(missing) if missing else -1

    def spread(self, plan: Floats, width: int) -> int:
        """See Bets."""
        wanted: list[tuple[float, int, ExpertKey, int]] = []
        most, first = 2 * max(self._k, width), self._row + 1
        for row in range(first, len(self._keys)):
            own = self._keys[row]
            scores = plan[row, : len(own)]
            expected, tiers = self._foresee(own[0].layer, scores, width, most)
            self._expect(row, expected)
            for expert, tier in zip(expected, tiers):
                if tier and scores[expert] > 0:
                    wanted.append((-float(scores[expert]), row * plan.shape[1] + expert, own[expert], tier))
                elif not tier and row < first + NEAR:
                    self._near.append(own[expert])
        self._cache.protect(self._near)  # first, or they might make room for the others
        wanted.sort(key=lambda one: one[:2])
        return self._read([(key, tier) for _, _, key, tier in wanted[:AT_ONCE]]) if wanted else -1

    def give_up(self) -> None:
        """See Bets."""
        for row, bets in enumerate(self._bets):
            for expert in list(bets):
                self._lose(row, expert)
        self._cache.protect(())

    def _expect(self, row: int, expected: list[int]) -> None:
        """Note what is expected of a row, best first; of the reads for it the others are given up."""
        if self._row >= 0:
            self._said[row - self._row - 1][row] = expected[: self._k]
        elif row == 0:
            self._first = expected[: self._k]
        self._give_up_all_but(row, expected)

    def _read(self, missing: Sequence[tuple[ExpertKey, int]]) -> int:
        """Begin to read these, as far as there is room; returns the bytes under way."""
        under_way = self._under_way()
        for key, nbytes in self._arrivals.expect_all(missing, self._cache.capacity // ROOM - under_way):
            self._bets[self._rows[key.layer]][key.expert] = nbytes
            self._counts.started += 1
            under_way += nbytes
        return under_way

    def _under_way(self) -> int:
        """Bytes. Nothing is bet on rows that have been routed, nor on those farther ahead than it looks."""
        first = self._row + 1
        return sum(
            nbytes
            for keys, bets in zip(self._keys[first : first + self._depth], self._bets[first:])
            for expert, nbytes in bets.items()
            if self._arrivals.coming(keys[expert])
        )

    def _give_up_all_but(self, row: int, expected: Sequence[int]) -> None:
        for expert in [expert for expert in self._bets[row] if expert not in expected]:
            if self._arrivals.coming(self._keys[row][expert]):
                self._lose(row, expert)

    def _win(self, row: int, expert: int) -> None:
        """It is asked for."""
        nbytes, key, counts = self._bets[row].pop(expert), self._keys[row][expert], self._counts
        coming = self._arrivals.coming(key)
        counts.used += 1
        counts.joined += bool(coming)
        counts.useful += nbytes
        counts.early += self._arrivals.brought(key) if coming else nbytes

    def _lose(self, row: int, expert: int) -> None:
        """It was read in vain; what no reader has in hand yet is not read at all."""
        nbytes, key = self._bets[row].pop(expert), self._keys[row][expert]
        wasted = nbytes
        if self._arrivals.coming(key):
            wasted = self._arrivals.cancel(key)
            self._counts.cancelled += wasted < nbytes
        self._counts.wasted += wasted
