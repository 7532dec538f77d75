"""Tables that learn as the model runs: experts by token, by pair of rows, and by path through the rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.experts.predictors.predictor import (
    FLOOR,
    UNKNOWN,
    Arrays,
    Floats,
    Predictor,
    RoutingContext,
    RoutingShape,
    log_shares,
)
from engine.experts.predictors.trace_view import NONE, same_width

WIDTH = 16  # experts remembered per (token, row)
MOST_TOKENS = 8192  # remembered at once: 12 MB for 48 rows
PRIOR = 2.0  # a token's first sights count as much as this many of nothing in particular
FULL = 255  # of a uint8: then the counts of the token, or of the path, are halved, so that what is late weighs more
MAX_COUNT = 65_535  # of a pair, where it is kept as a uint16
MOST_PATHS = 65_536  # 8 MB of counts at 128 experts

Counts = np.ndarray[tuple[int], np.dtype[np.uint8]]


class TokenTable(Predictor):
    """Sparse counts: of every token seen, the experts most often chosen in each row and how often.

    What does not fit in the width of a row takes the place of the least seen there, whose count it inherits less one
    (so that a newcomer can rise, as in Space-Saving, Metwally 2005).
    """

    def __init__(self, shape: RoutingShape, most: int = MOST_TOKENS) -> None:
        """most: tokens remembered."""
        self.name = "tokens"
        self.changes = 0
        self._shape, self._most = shape, most
        self.rows_of: dict[int, int] = {}
        self.ids: list[int] = []
        kind = np.uint8 if shape.experts <= 256 else np.uint16
        width = max(min(WIDTH, shape.experts), shape.k)
        # Places of count 0 hold an expert each, too, so that none is ever named twice in a row.
        self._unused = np.broadcast_to(np.arange(width, dtype=kind), (shape.rows, width))
        self.experts: NDArray[np.unsignedinteger] = np.tile(self._unused, (64, 1, 1))
        self.counts = np.zeros((64, shape.rows, width), np.uint8)
        self.seen = np.zeros(64, np.uint16)
        self._out = np.zeros(shape.experts, np.float32)
        self._rows = np.arange(shape.rows)[:, None]
        self._hand = 0

    @classmethod
    def within(cls, shape: RoutingShape, nbytes: int) -> TokenTable:
        """One that never takes more bytes."""
        kind = 1 if shape.experts <= 256 else 2
        # Per token: its experts and their counts; 200 bytes are the entry in `rows_of`, with the id as an object in it
        # and in `ids`.
        each = shape.rows * max(min(WIDTH, shape.experts), shape.k) * (kind + 1) + 200
        return cls(shape, max(1, min(MOST_TOKENS, nbytes // each)))

    def scores(self, context: RoutingContext, row: int) -> Floats | None:
        """See Predictor.scores."""
        at = self.rows_of.get(context.token)
        if at is None:
            return None
        seen = float(self.seen[at]) + PRIOR
        share = FLOOR + PRIOR * self._shape.k / self._shape.experts / seen  # of an expert that the token never chose
        out = self._out
        out.fill(math.log(share))
        out[self.experts[at, row]] = np.log(self.counts[at, row] * np.float32(1 / seen) + np.float32(share))
        return out

    def learn(self, context: RoutingContext) -> None:
        """See Predictor.learn; whole tokens only."""
        if context.row == self._shape.rows - 1 and context.token != UNKNOWN:
            self.add(context.token, same_width([np.asarray(chosen) for chosen in context.chosen]))

    def add(self, token: int, chosen: NDArray[np.integer]) -> None:
        """One context of a token. chosen: [rows, K], NONE where a row chooses fewer."""
        self.changes += 1
        at = self.rows_of.get(token)
        if at is None:
            at = self._place_for(token)
        if self.seen[at] == FULL:
            self.counts[at] >>= 1
            self.seen[at] >>= 1
        self.seen[at] += 1
        experts, counts, rows = self.experts[at], self.counts[at], self._rows
        row_of = np.broadcast_to(rows, chosen.shape)
        same = experts[:, None] == chosen[..., None]  # [rows, K, width]
        there = chosen != NONE
        known = same.any(2)
        column = same.argmax(2)
        if not known[there].all():
            # int16, so that FULL + 1 fits above every count: what this token has just chosen must not be thrown out for
            # a newcomer.
            weight = counts.astype(np.int16)
            weight[(same & known[..., None]).any(1)] = FULL + 1  # not for newcomers
            lowest = weight.argsort(1, kind="stable")
            newcomer = (~known & there).cumsum(1) - 1  # its number among those of its row
            column = np.where(known, column, np.take_along_axis(lowest, np.maximum(newcomer, 0), 1))
            new = ~known & there
            experts[row_of[new], column[new]] = chosen[new]
        seen = counts[rows, column]
        counts[row_of[there], column[there]] = np.where(known, seen + 1, np.maximum(seen, 1))[there]

    def state(self) -> dict[str, NDArray[Any]]:
        """See Table.state. ids: [n]; seen: [n]; experts, counts: [n, rows, width]."""
        n = len(self.ids)
        ids = np.array(self.ids, np.int32)
        return {"ids": ids, "seen": self.seen[:n], "experts": self.experts[:n], "counts": self.counts[:n]}

    def restore(self, state: Arrays) -> None:
        """See Table.restore."""
        self._check(state)
        self._take(state, np.arange(len(state["ids"])))

    def merge(self, state: Arrays) -> None:
        """See Table.merge. Where there are too many, those stay that were seen most."""
        self._check(state)
        ours = self.state()
        both = {name: np.concatenate([ours[name], state[name]]) for name in ours}
        best: dict[int, int] = {}
        for at, (token, seen) in enumerate(zip(both["ids"].tolist(), both["seen"].tolist())):
            if token not in best or seen > both["seen"][best[token]]:
                best[token] = at
        kept = np.array(list(best.values()), np.int64)
        order = np.argsort(-both["seen"][kept].astype(np.int64), kind="stable")[: self._most]
        self._take(both, np.sort(kept[order]))
        self.changes += 1

    def _take(self, state: Arrays, kept: NDArray[np.int64]) -> None:
        n = len(kept)
        size = max(64, n)
        self.ids = state["ids"][kept].tolist()
        self.rows_of = {token: at for at, token in enumerate(self.ids)}
        self.experts = np.tile(self._unused, (size, 1, 1))
        self.counts = np.zeros((size, *self._unused.shape), np.uint8)
        self.seen = np.zeros(size, np.uint16)
        for name in ("experts", "counts", "seen"):
            getattr(self, name)[:n] = state[name][kept]
        self._hand = 0

    def _check(self, state: Arrays) -> None:
        ids, seen, experts, counts = (state[name] for name in ("ids", "seen", "experts", "counts"))
        shape = (len(ids), *self._unused.shape)
        kinds = [array.dtype.name for array in (ids, seen, experts, counts)]
        same = ids.ndim == 1 and seen.shape == ids.shape and experts.shape == counts.shape == shape
        if kinds != ["int32", "uint16", self._unused.dtype.name, "uint8"] or not same:
            raise ValueError("tokens of another model")
        if len(ids) > self._most or len(set(ids.tolist())) != len(ids) or (seen > FULL).any():
            raise ValueError("impossible tokens")
        # The file may be damaged or another model's: an expert that does not exist would be an index beyond `_out`, and
        # one that is named twice would lose one of its counts.
        named = np.sort(experts, -1)
        if (named >= self._shape.experts).any() or (named[..., 1:] == named[..., :-1]).any():
            raise ValueError("impossible experts")

    def _place_for(self, token: int) -> int:
        if len(self.ids) < self._most:
            at = len(self.ids)
            self.ids.append(token)
            if at == len(self.seen):
                self._grow()
        else:
            at = self._least_seen()
            del self.rows_of[self.ids[at]]
            self.ids[at] = token
            self.experts[at], self.counts[at], self.seen[at] = self._unused, 0, 0
        self.rows_of[token] = at
        return at

    def _least_seen(self) -> int:
        """A token that was seldom seen: the least of the next few, going round, so that it costs little."""
        # The clock algorithm with a look at 32: a search of all 8,192 would be paid for at every new token, in the
        # middle of an answer.
        near = np.arange(self._hand, self._hand + 32) % self._most
        self._hand = int(near[-1]) + 1
        return int(near[self.seen[near].argmin()])

    def _grow(self) -> None:
        more = min(2 * len(self.seen), self._most)
        added = more - len(self.seen)
        self.experts = np.concatenate([self.experts, np.tile(self._unused, (added, 1, 1))])
        self.counts = np.concatenate([self.counts, np.zeros((added, *self.counts.shape[1:]), np.uint8)])
        self.seen = np.concatenate([self.seen, np.zeros(added, np.uint16)])


class Coactivation(Predictor):
    """P(expert of the coming row | experts of this row), averaged over this row's."""

    def __init__(self, shape: RoutingShape, depth: int) -> None:
        """depth: how many rows ahead it speaks for."""
        self.name = "coactivation"
        self.changes = 0
        self._depth = depth
        # by distance - 1, row, expert there: how often each expert followed
        self.counts = np.zeros((depth, shape.rows, shape.experts, shape.experts), np.float32)

    def scores(self, context: RoutingContext, row: int) -> Floats | None:
        """See Predictor.scores."""
        ahead = row - context.row
        if context.row < 0 or ahead > self._depth:
            return None
        seen = self.counts[ahead - 1, context.row].take(context.chosen[-1], 0)
        of_each = seen.sum(1)
        if not of_each.any():
            return None
        return log_shares((1 / np.maximum(of_each, 1)) @ seen)

    def learn(self, context: RoutingContext) -> None:
        """See Predictor.learn."""
        now = np.asarray(context.chosen[-1])
        self.changes += 1
        for ahead in range(1, min(self._depth, context.row) + 1):
            before = np.asarray(context.chosen[context.row - ahead])
            self.counts[ahead - 1, context.row - ahead, before[:, None], now] += 1

    def state(self) -> dict[str, NDArray[Any]]:
        """See Table.state."""
        return {"counts": np.minimum(self.counts, MAX_COUNT).astype(np.uint16)}

    def restore(self, state: Arrays) -> None:
        """See Table.restore."""
        self.counts = self._checked(state)

    def merge(self, state: Arrays) -> None:
        """See Table.merge."""
        np.maximum(self.counts, self._checked(state), out=self.counts)
        self.changes += 1

    def _checked(self, state: Arrays) -> Floats:
        counts = state["counts"]
        if counts.dtype != np.uint16 or counts.shape != self.counts.shape:
            raise ValueError("counts of another model")
        return counts.astype(np.float32)


class Paths(Predictor):
    """A dictionary (row, best expert two rows back, best of the row before) -> counts of the next row's experts.

    The paper's models choose one expert per token; where a token has several, its best stands for them, since whole
    sets hardly ever come again. Beyond the next row it goes on with the experts that it expects there itself.
    """

    def __init__(self, shape: RoutingShape, most: int = MOST_PATHS) -> None:
        """most: paths remembered."""
        self.name = "paths"
        self.changes = 0
        self._shape, self._experts, self._most = shape, shape.experts, most
        self.counts: dict[tuple[int, int, int], Counts] = {}

    def scores(self, context: RoutingContext, row: int) -> Floats | None:
        """See Predictor.scores."""
        if context.row < 1:
            return None
        two, one = context.chosen[-2][0], context.chosen[-1][0]
        for coming in range(context.row + 1, row):
            passed = self.counts.get((coming, two, one))
            if passed is None:
                return None
            two, one = one, int(passed.argmax())
        found = self.counts.get((row, two, one))
        return None if found is None else log_shares(found.astype(np.float32))

    def learn(self, context: RoutingContext) -> None:
        """See Predictor.learn."""
        if context.row < 2:
            return
        self.changes += 1
        key = (context.row, context.chosen[-3][0], context.chosen[-2][0])
        found = self.counts.get(key)
        if found is None:
            # Full: only known paths are counted on, since nothing here tells which of them has not come for long.
            if len(self.counts) >= self._most:
                return
            found = self.counts[key] = np.zeros(self._experts, np.uint8)
        now = list(context.chosen[-1])
        if found[now].max() == FULL:
            found >>= 1  # what is old counts half
        # `now` names each expert once, as a router's choice does; numpy would count a repeated index once.
        found[now] += 1

    def state(self) -> dict[str, NDArray[Any]]:
        """See Table.state. keys: [n, 3]; counts: [n, experts]."""
        keys = np.array(list(self.counts), np.int32).reshape(-1, 3)
        counts = np.array(list(self.counts.values()), np.uint8).reshape(-1, self._experts)
        return {"keys": keys, "counts": counts}

    def restore(self, state: Arrays) -> None:
        """See Table.restore."""
        self.counts = self._checked(state)

    def merge(self, state: Arrays) -> None:
        """See Table.merge."""
        for key, theirs in self._checked(state).items():
            ours = self.counts.get(key)
            if (ours is None and len(self.counts) < self._most) or (ours is not None and theirs.sum() > ours.sum()):
                self.counts[key] = theirs
        self.changes += 1

    def _checked(self, state: Arrays) -> dict[tuple[int, int, int], Counts]:
        keys, counts = state["keys"], state["counts"]
        shapes = keys.shape == (len(counts), 3) and counts.shape == (len(keys), self._experts)
        if keys.dtype != np.int32 or counts.dtype != np.uint8 or not shapes or len(keys) > self._most:
            raise ValueError("paths of another model")
        if len(keys) and (keys.min() < 0 or (keys.max(0) >= (self._shape.rows, self._experts, self._experts)).any()):
            raise ValueError("impossible paths")
        whole = map(tuple, keys.tolist())
        return {key: np.array(own) for key, own in zip(whole, counts)}
