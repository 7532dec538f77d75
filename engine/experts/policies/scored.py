"""What all policies share: one score for every expert of the model; the resident one of the least is evicted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from engine.experts.keys import ExpertKey
from engine.experts.policies.policy import Evictable, ExpertGrid, LayerVisit
from engine.native.eviction import LeastRanked

Array = NDArray[np.float64]
PENDING = 256  # visits noted before they are gone through; only a model that is all in memory comes so far
PROTECTED = 1e15  # added to scores: above every score, and below infinity, which is for what is not there (also in C)
ASKED = 8  # refusals after which sorting everything costs less than looking for one more


def values(array: Array) -> memoryview[float]:
    """The same memory, of which single values are read and written several times as fast."""
    return cast("memoryview[float]", array.reshape(-1).data)


class EvictionState(NamedTuple):
    """Addresses of a policy's arrays, for native code that evicts by them itself; none of them ever moves.

    penalty, priority, pinned, next: what `ScoredPolicy` says of them, pinned being bytes. state: two int32, whether
    the order is up to date, and how many are in next. hobbit: of the numbers by which native code brings it up to date
    itself (uh_hobbit); 0: `victim` is asked for that. asks: whether the policy goes by more than these, and has to be
    told of every expert that comes or goes, and asked for every victim.
    """

    penalty: int
    priority: int
    pinned: int
    state: int
    next: int
    hobbit: int = 0
    asks: bool = False


class Records(NamedTuple):
    """Of a sequence that was put aside: copies of `ScoredPolicy._noted`, and what `ScoredPolicy.round` says."""

    noted: list[Array]
    round: tuple[float, ...]


class ScoredPolicy(ABC):
    """A policy by scores. Experts are numbered row by row: row * experts + expert, rows being MoE layers as they run.

    Visits are only noted when they are told, and gone through when a victim is wanted: a decode step in which nothing
    is missing pays for one append a layer. Scores are worked out once for all victims until something else happens.
    """

    def __init__(self, shape: ExpertGrid) -> None:
        self._shape = shape
        self._rows = {layer: row for row, layer in enumerate(shape.layers)}
        self._keys = [ExpertKey(layer, expert) for layer in shape.layers for expert in range(shape.experts)]
        self._penalty: Array = np.full(len(self._keys), np.inf)  # added to scores; 0 for those that may be evicted
        self._penalties = values(self._penalty)
        self._priority: Array = np.empty(len(self._keys))  # scores and bars, as long as nothing happens: `weighed`
        self._priorities = values(self._priority)
        self._state = array("i", [0, 0])  # weighed, and how many of the next victims are known natively
        self._first_out = LeastRanked(self._priority)
        self._next: Sequence[int] = ()  # the next victims, as long as nothing happens but that they are evicted
        self._pinned = np.zeros(len(self._keys), np.uint8)
        self._pins = self._pinned.data
        self._protected: set[int] = set()
        self._pending: list[LayerVisit] = []
        self._row = len(shape.layers)  # that runs now; before the first visit, as if one round were over
        self._token = 0  # in this sequence, 1 for the first

    @property
    def _weighed(self) -> bool:
        return bool(self._state[0])

    @_weighed.setter
    def _weighed(self, value: bool) -> None:
        self._state[0] = value

    def eviction_state(self) -> EvictionState:
        """For the native table, which then keeps penalty and pinned in the policy's place."""
        own, found = type(self), self._found()
        asks = (own.inserted, own.removed, own.victim) != (
            ScoredPolicy.inserted,
            ScoredPolicy.removed,
            ScoredPolicy.victim,
        )
        # The native table keeps these addresses: the arrays are changed in place, and none is ever replaced.
        bars, order, protect = (own.ctypes.data for own in (self._penalty, self._priority, self._pinned))
        return EvictionState(bars, order, protect, self._state.buffer_info()[0], found.buffer_info()[0], asks=asks)

    @property
    def table(self) -> tuple[int, int]:
        """(rows, experts), for arrays over all experts."""
        return len(self._shape.layers), self._shape.experts

    # ---- events ----------------------------------------------------------------------------------------------------

    def begin_sequence(self) -> None:
        """See Policy.begin_sequence."""
        self._digest()
        self._end()
        self._start()

    def put_aside(self) -> Records:
        """See Policy.put_aside."""
        self._digest()
        kept = Records([noted.copy() for noted in self._noted()], self.round)
        self._start()
        return kept

    def bring_back(self, records: object) -> None:
        """See Policy.bring_back. Raises TypeError for what `put_aside` did not give."""
        if not isinstance(records, Records):
            raise TypeError(f"not the records of a sequence: {records!r}")
        self._pending.clear()
        self._start()
        for noted, kept in zip(self._noted(), records.noted, strict=True):
            noted[:] = kept  # in place: native code knows the addresses
        self.round = records.round

    def _start(self) -> None:
        self.round = (0, len(self._shape.layers))
        self._weighed = False
        self._forget()

    @property
    def round(self) -> tuple[float, ...]:
        """Where in the sequence it is: tokens so far, the row that runs."""
        return self._token, self._row

    @round.setter
    def round(self, value: tuple[float, ...]) -> None:
        self._token, self._row = int(value[0]), int(value[1])

    def routed(self, visit: LayerVisit) -> None:
        """See Policy.routed."""
        self._weighed = False
        self._pending.append(visit)
        if len(self._pending) >= PENDING:
            self._digest()

    def inserted(self, key: ExpertKey) -> None:
        """See Policy.inserted."""
        at = self._at(key)
        self._weighed = False
        self._penalties[at] = PROTECTED if self._pins[at] else 0.0

    def removed(self, key: ExpertKey) -> None:
        """See Policy.removed."""
        at = self._at(key)
        # The order of the others stays as it is, so `_weighed` does: a layer's several victims cost one ranking.
        self._penalties[at] = self._priorities[at] = np.inf

    def protect(self, keys: Iterable[ExpertKey]) -> None:
        """See Policy.protect."""
        rows, experts = self._rows, self._shape.experts
        bars, protects, before = self._penalties, self._pins, self._protected
        self._protected = {rows[layer] * experts + expert for layer, expert in keys}
        self._weighed = False
        for at in before - self._protected:
            protects[at] = 0
            if bars[at] == PROTECTED:
                bars[at] = 0.0
        for at in self._protected - before:
            protects[at] = 1
            if bars[at] == 0.0:
                bars[at] = PROTECTED

    def victim(self, incoming: ExpertKey, evictable: Evictable) -> ExpertKey | None:
        """See Policy.victim."""
        self._bring_up()
        orders, keys = self._priorities, self._keys
        # May name what has left since priorities were taken (its own is infinite then), or what is pinned only for the
        # moment.
        for at in self._next[: self._state[1]]:
            if orders[at] < np.inf and evictable(key := keys[at]):
                return key
        return self._least(evictable, 0, len(self._keys))

    # ---- what a policy fills in ------------------------------------------------------------------------------------

    def _note(self, base: int, visit: LayerVisit) -> None:
        """Take one visit in. base: the number of the layer's first expert. _row and _token are up to date."""
        raise NotImplementedError("native code takes visits in")

    def _weigh(self, order: Array) -> None:
        """Write the scores of all experts, [rows * experts], finite and far below PROTECTED: the least is evicted."""
        raise NotImplementedError("native code works scores out")

    @abstractmethod
    def _forget(self) -> None:
        """A new sequence begins: what belonged to the last one is gone."""

    @abstractmethod
    def _noted(self) -> Sequence[Array]:
        """Arrays that hold what was noted of visits, which `put_aside` copies and `bring_back` writes to."""

    def _end(self) -> None:
        """A sequence has ended, whose records are still there."""
        return

    # ---- inside ----------------------------------------------------------------------------------------------------

    def _at(self, key: ExpertKey) -> int:
        return self._rows[key.layer] * self._shape.experts + key.expert

    def _digest(self) -> None:
        for visit in self._pending:
            row = self._rows[visit.layer]
            if row <= self._row:  # the round begins anew
                self._token += visit.tokens
            self._row = row
            self._note(row * self._shape.experts, visit)
        # Each visit once; what `routed` notes from here on belongs to the next victim.
        self._pending.clear()

    def _bring_up(self) -> None:
        """Bring scores and next victims up to date."""
        if self._weighed:
            return
        self._digest()
        self._prioritize()
        self._state[0] = 1

    def _prioritize(self) -> None:
        """Work out scores and penalties; the next victims, in _next, and in _state how many."""
        self._weigh(self._priority)
        self._priority += self._penalty
        self._next, self._state[1] = self._first_out.found, self._first_out()

    def _found(self) -> array[int]:
        """Where native code writes `_next`."""
        return self._first_out.found

    def _least(self, evictable: Evictable, first: int, end: int, below: float = float("inf")) -> ExpertKey | None:
        """The evictable expert of the least score, if that is `below`, from number `first` to before `end`."""
        order, orders, refused = self._priority[first:end], self._priorities, list[tuple[int, float]]()
        found = None
        while found is None and len(refused) < ASKED:
            at = first + int(order.argmin())
            score = orders[at]
            if score >= below:
                break
            if evictable(self._keys[at]):
                found = self._keys[at]
            else:
                refused.append((at, score))
                orders[at] = np.inf
        else:
            if found is None:
                leaving = (self._keys[first + at] for at in order.argsort(kind="stable").tolist() if order[at] < below)
                found = next(filter(evictable, leaving), None)
        for at, score in refused:  # it may be otherwise the next time
            orders[at] = score
        return found
