"""Made-up runs whose routing follows a rule."""

from __future__ import annotations

import numpy as np

from engine.experts.predictors import Gate, TraceView

EXPERTS, HIDDEN, K = 12, 24, 3


def random_gates(rows: int, seed: int = 0) -> list[Gate]:
    """Routers behind norms that scale every channel differently."""
    random = np.random.default_rng(seed)

    def floats(*shape: int) -> np.ndarray:
        return random.standard_normal(shape).astype(np.float32)

    gates = []
    for _ in range(rows):
        scale = np.exp(floats(HIDDEN))
        gates.append(Gate(weight=floats(EXPERTS, HIDDEN), bias=floats(EXPERTS), scale=scale, given_scale=scale))
    return gates


def moving(gates: list[Gate], tokens: int, drift: float, seed: int = 1, carried: float = 0.0) -> TraceView:
    """A residual stream that every layer turns a little, always in the same way; the gates route by it.

    carried: how much of its own stream every layer brings over from one token to the next, as attention does.
    """
    random = np.random.default_rng(seed)
    turns = np.random.default_rng(2).standard_normal((len(gates), HIDDEN, HIDDEN)).astype(np.float32) * drift
    x = random.standard_normal((tokens, HIDDEN)).astype(np.float32)
    gating, ids = [], []
    for gate, turn in zip(gates, turns):
        x = x + x @ turn
        x[1:] += carried * x[:-1].copy()
        normed = x / np.sqrt(np.square(x).mean(1, keepdims=True))
        assert gate.scale is not None
        given = normed * gate.scale
        scores = gate.ranking(given @ gate.weight.T + (0 if gate.bias is None else gate.bias))
        gating.append(given)
        ids.append(np.argsort(-scores, 1, kind="stable")[:, :K])
    names = random.integers(0, 5, tokens)
    return TraceView(names, frozenset({0}), np.stack(ids), EXPERTS, np.stack(gating))


def by_rule(tokens: np.ndarray, rows: int, starts: frozenset[int] = frozenset({0})) -> TraceView:
    """Experts that follow from the token's id and the row alone."""
    ids = np.stack(
        [[[(3 * t + row * (t + 1) + rank) % EXPERTS for rank in range(K)] for t in tokens] for row in range(rows)]
    )
    return TraceView(tokens, starts, ids, EXPERTS)
