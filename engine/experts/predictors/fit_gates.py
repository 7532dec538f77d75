"""Gates that were taught what lies between: attention and experts of the rows in between move the hidden state.

The folded gate of a coming row answers as if nothing lay between. Ridge regression adds to it what, over a recorded
run, the true router's scores had beyond that: the same product on the same input, nothing more to do while decoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from engine.experts.predictors.gates import Gate, Linear, folded
from engine.experts.predictors.observed import Observed
from engine.experts.predictors.predictor import Floats

RIDGE = 100.0  # tokens' worth of the belief that nothing lies between; from 30 to 300 little changes


def fitted(
    run: Observed, gates: Sequence[Gate], depth: int, on: Literal["gating", "after"] = "gating"
) -> list[list[Linear]]:
    """By row, maps to the scores of up to `depth` rows after it. run: with gating inputs, and `after` where on is."""
    return [fitted_row(run, gates, row, depth, on) for row in range(len(gates))]


def fitted_row(
    run: Observed, gates: Sequence[Gate], row: int, depth: int, on: Literal["gating", "after"] = "gating"
) -> list[Linear]:
    """`fitted` for one row."""
    targets = range(row + 1, min(row + depth, len(gates) - 1) + 1)
    source = gates[row] if on == "gating" else None
    priors = [folded(source, gates[target]) for target in targets]
    wanted = [own_scores(run, gates[target], target) for target in targets]
    return _fitted(_inputs(run, gates, row, on), wanted, priors) if priors else []


def own_scores(run: Observed, gate: Gate, row: int) -> Floats:
    """[N, E]: what the router of a row said."""
    assert run.gating is not None, "only a run with gating inputs can be fitted to"
    own = folded(gate, gate)
    return run.gating[row].astype(np.float32) @ own.weight.T + own.bias


def _inputs(run: Observed, gates: Sequence[Gate], row: int, on: Literal["gating", "after"]) -> Floats:
    recorded = run.gating if on == "gating" else run.after
    assert recorded is not None, f"the run was recorded without {on}"
    x = recorded[row].astype(np.float32)
    if on == "after":
        x /= np.sqrt(np.square(x).mean(1, keepdims=True) + 1e-6)
    return x


def _fitted(x: Floats, wanted: Sequence[Floats], priors: Sequence[Linear]) -> list[Linear]:
    """Of each: argmin |x W + b - wanted|^2 + RIDGE |S (W - prior)|^2, S being the size of each channel of x."""
    size = np.sqrt(np.square(x).mean(0)) + np.float32(1e-6)
    size = np.maximum(size, size.max() * np.float32(1e-4))
    scaled = np.concatenate([x / size, np.ones((len(x), 1), np.float32)], 1)
    rest = np.concatenate([w - (x @ p.weight.T + p.bias) for w, p in zip(wanted, priors)], 1)
    if len(x) < scaled.shape[1]:  # the same solution from the smaller of the two matrices
        gram = (scaled @ scaled.T).astype(np.float64)
        gram[np.diag_indices_from(gram)] += RIDGE
        found = scaled.T @ np.linalg.solve(gram, rest).astype(np.float32)
    else:
        gram = (scaled.T @ scaled).astype(np.float64)
        gram[np.diag_indices_from(gram)] += RIDGE
        found = np.linalg.solve(gram, scaled.T @ rest).astype(np.float32)
    more = np.split(found, len(priors), 1)
    return [Linear(p.weight + (m[:-1] / size[:, None]).T, p.bias + m[-1]) for m, p in zip(more, priors)]
