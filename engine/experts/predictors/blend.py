"""The best of several predictors: their scores added with weights that were fitted on a recorded run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.experts.predictors.gates import Gate, own_scores
from engine.experts.predictors.predictor import Floats, Predictor, RoutingContext
from engine.experts.predictors.trace_view import NONE, TraceView, walk

LEAST = 0.001  # of the spread of what is to be found: a predictor that adds less is left out


class Blend(Predictor):
    """sum of weights[ahead - 1, predictor] * scores, or a multiple; before the first row, weights[-1].

    Predictors whose weight is 0 are not asked. Learns through its parts.
    """

    def __init__(self, parts: Sequence[Predictor], weights: Floats) -> None:
        """weights: [depth + 1, parts] float32."""
        self.name = "blend"
        self.parts = tuple(parts)
        self.weights = weights
        self._lists = weights.tolist()

    def begin_sequence(self) -> None:
        """See Predictor.begin_sequence."""
        for part in self.parts:
            part.begin_sequence()

    def interrupted(self) -> None:
        """See Predictor.interrupted."""
        for part in self.parts:
            part.interrupted()

    def prompted(self, counts: Floats) -> None:
        """See Predictor.prompted."""
        for part in self.parts:
            part.prompted(counts)

    def put_aside(self) -> tuple[object, ...]:
        """See Predictor.put_aside."""
        return tuple(part.put_aside() for part in self.parts)

    def bring_back(self, records: object) -> None:
        """See Predictor.bring_back."""
        assert isinstance(records, tuple)
        for part, own in zip(self.parts, records, strict=True):
            part.bring_back(own)

    def scores(self, context: RoutingContext, row: int) -> Floats | None:
        """See Predictor.scores."""
        ahead = row - context.row
        if context.row < 0:
            weights = self._lists[-1]
        elif ahead < len(self._lists):
            weights = self._lists[ahead - 1]
        else:
            return None
        said: list[tuple[Floats, float]] = []
        for part, weight in zip(self.parts, weights):
            found = part.scores(context, row) if weight else None
            if found is not None:
                said.append((found, weight))
        if len(said) == 1 and said[0][1] > 0:  # then its weight changes no order
            return said[0][0]
        total: Floats | None = None
        for found, weight in said:
            found = found * np.float32(weight)
            total = found if total is None else np.add(total, found, out=total)
        return total

    def learn(self, context: RoutingContext) -> None:
        """See Predictor.learn."""
        for part in self.parts:
            part.learn(context)


@dataclass(frozen=True, eq=False)
class Evidence:
    """How parts and what is to be found go together, by layers ahead less one, the last of before the first row.

    gram: [depth + 1, parts, parts]; right: [depth + 1, parts]; spread: [depth + 1].
    """

    gram: NDArray[np.float64]
    right: NDArray[np.float64]
    spread: NDArray[np.float64]

    def weights(self, parts: Sequence[int] | None = None) -> Floats:
        """[depth + 1, parts] by least squares, of some of the parts or of all."""
        kept = list(range(self.right.shape[1])) if parts is None else list(parts)
        grams = self.gram[:, kept][:, :, kept]
        return np.stack([_solved(*one) for one in zip(grams, self.right[:, kept], self.spread)])


def fit_weights(run: TraceView, parts: Sequence[Predictor], depth: int, gates: Sequence[Gate] | None) -> Floats:
    """Weights [depth + 1, parts] by least squares: see `evidence`."""
    return evidence(run, parts, depth, gates).weights()


def evidence(run: TraceView, parts: Sequence[Predictor], depth: int, gates: Sequence[Gate] | None) -> Evidence:
    """What least squares finds weights from; the parts go on learning as they are walked over the run.

    What they shall add up to is what the routers ranked by (as far as it differs between experts); where no gates are
    known, 1 for what was chosen and 0 else. Ranks near the cut count most, since only there is anything decided.
    run: not what the parts were fitted on, or those that know it by heart win.
    """
    rows, experts = run.shape.rows, run.shape.experts
    wanted = [_wanted(run, gates, row) for row in range(rows)]
    counts = [_importance(one, int((run.ids[row, 0] != NONE).sum())) for row, one in enumerate(wanted)]
    gram = np.zeros((depth + 1, len(parts), len(parts)))
    right = np.zeros((depth + 1, len(parts)))
    spread = np.zeros(depth + 1)
    found = np.zeros((len(parts), experts), np.float32)
    token = -1
    for context in walk(run, parts):
        token += context.row < 0
        first = context.row < 0
        for row in range(context.row + 1, min(context.row + depth, rows - 1) + 1):
            for index, part in enumerate(parts):
                scores = part.scores(context, row)
                found[index] = 0 if scores is None else scores
            found -= found.mean(1, keepdims=True)
            target, weight = wanted[row][token], counts[row][token]
            at = depth if first else row - context.row - 1
            weighed = found * weight
            gram[at] += weighed @ found.T
            right[at] += weighed @ target
            spread[at] += weight @ np.square(target)
    return Evidence(gram, right, spread)


def _wanted(run: TraceView, gates: Sequence[Gate] | None, row: int) -> Floats:
    if gates is None or run.gating is None:
        scores = np.zeros((run.ids.shape[1], run.experts), np.float32)
        token, rank = np.nonzero(run.ids[row] != NONE)
        scores[token, run.ids[row][token, rank]] = 1
    else:
        scores = gates[row].ranking(own_scores(run, gates[row], row))
    return scores - scores.mean(1, keepdims=True)


def _importance(wanted: Floats, k: int) -> Floats:
    """[N, E]: falls with the distance from what parts the chosen from the others, in spreads of the scores."""
    if wanted.shape[1] <= k:
        return np.ones_like(wanted)
    near = np.partition(wanted, [-k - 1, -k], axis=1)
    cut = (near[:, -k - 1] + near[:, -k])[:, None] / 2
    # 1e-6: a router that gives all experts the same score has a spread of 0.
    return np.asarray(np.exp(-np.abs(wanted - cut) / (wanted.std(1, keepdims=True) + 1e-6)), np.float32)


def _solved(gram: np.ndarray, right: np.ndarray, spread: float) -> Floats:
    """Least squares without negative weights, the least useful left out one after the other."""
    kept = [index for index in range(len(right)) if gram[index, index] > 0]
    weights = np.zeros(len(right), np.float32)
    while kept:
        own = gram[np.ix_(kept, kept)]
        # The ridge is for parts that say the same, whose matrix is singular: a millionth of the trace changes no weight
        # that is worth keeping.
        solved = np.linalg.solve(own + 1e-6 * np.trace(own) * np.eye(len(kept)), right[kept])
        # what the others cannot make good of what this one explains: its weight squared over its own of the inverse
        # Backward elimination by the textbook: what leaving part i out adds to the squared error is w_i^2 / (G^-1)_ii.
        loss = np.square(solved) / np.diag(np.linalg.inv(own + 1e-9 * np.trace(own) * np.eye(len(kept))))
        worst = int(np.where(solved <= 0, -1, loss).argmin())
        if solved[worst] > 0 and loss[worst] >= LEAST * spread:
            weights[kept] = solved
            return weights
        if len(kept) == 1:
            return weights
        del kept[worst]
    return weights
