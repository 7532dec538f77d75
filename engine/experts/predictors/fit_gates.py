"""Gates that were taught what lies between: attention and experts of the rows in between move the hidden state.

The folded gate of a coming row answers as if nothing lay between. Ridge regression adds to it what, over a recorded
run, the true router's scores had beyond that, from the same input and from what the coming row's experts were given for
the token before: that is known long since, and attention brings much of it over.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.experts.predictors.gates import Gate, LinearMap, folded
from engine.experts.predictors.predictor import Floats
from engine.experts.predictors.trace_view import TraceView

RIDGE = 100.0  # tokens' worth of the belief that nothing lies between; from 30 to 300 little changes


def fitted(run: TraceView, gates: Sequence[Gate], depth: int) -> list[list[LinearMap]]:
    """By row, maps to the scores of up to `depth` rows after it. run: with gating inputs."""
    return [fitted_row(run, gates, row, depth) for row in range(len(gates))]


def fitted_row(run: TraceView, gates: Sequence[Gate], row: int, depth: int) -> list[LinearMap]:
    """`fitted` for one row."""
    assert run.gating is not None, "only a run with gating inputs can be fitted to"
    found = []
    for target in range(row + 1, min(row + depth, len(gates) - 1) + 1):
        x = np.concatenate([run.gating[row].astype(np.float32), _before(run, target)], 1)
        found.append(_fitted(x, own_scores(run, gates[target], target), folded(gates[row], gates[target])))
    return found


def own_scores(run: TraceView, gate: Gate, row: int) -> Floats:
    """[N, E]: what the router of a row said."""
    assert run.gating is not None, "only a run with gating inputs can be fitted to"
    own = folded(gate, gate)
    return run.gating[row].astype(np.float32) @ own.weight.T + own.bias


def _before(run: TraceView, row: int) -> Floats:
    """[N, H]: what the experts of a row were given for the token before; 0 where a sequence begins."""
    assert run.gating is not None, "only a run with gating inputs can be fitted to"
    found = np.roll(run.gating[row].astype(np.float32), 1, axis=0)
    found[sorted(run.starts)] = 0
    return found


def _fitted(x: Floats, wanted: Floats, prior: LinearMap) -> LinearMap:
    """argmin |x W + b - wanted|^2 + RIDGE |S (W - prior)|^2, S being the size of each channel of x.

    prior: for the first channels of x; of the others nothing is believed.
    """
    size = np.sqrt(np.square(x).mean(0)) + np.float32(1e-6)
    size = np.maximum(size, size.max() * np.float32(1e-4))
    scaled = np.concatenate([x / size, np.ones((len(x), 1), np.float32)], 1)
    believed = prior.weight.shape[1]
    rest = wanted - (x[:, :believed] @ prior.weight.T + prior.bias)
    if len(x) < scaled.shape[1]:  # the same solution from the smaller of the two matrices
        gram = (scaled @ scaled.T).astype(np.float64)
        gram[np.diag_indices_from(gram)] += RIDGE
        found = scaled.T @ np.linalg.solve(gram, rest).astype(np.float32)
    else:
        gram = (scaled.T @ scaled).astype(np.float64)
        gram[np.diag_indices_from(gram)] += RIDGE
        found = np.linalg.solve(gram, scaled.T @ rest).astype(np.float32)
    weight = np.ascontiguousarray((found[:-1] / size[:, None]).T)
    weight[:, :believed] += prior.weight
    return LinearMap(weight, prior.bias + found[-1])
