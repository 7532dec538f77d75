"""Traces made by hand or by chance."""

from __future__ import annotations

import numpy as np

from engine.tracing.trace import Trace


def trace_of(
    choices: list[list[int]],
    layers: int = 1,
    experts: int = 6,
    weights: list[list[float]] | None = None,
    starts: tuple[int, ...] = (0,),
) -> Trace:
    """One token a pass; choices[token] are its experts, the same in every layer."""
    ids = np.array([choices] * layers, np.uint16)
    gates = np.ones(ids.shape, np.float16) if weights is None else np.array([weights] * layers, np.float16)
    count = len(choices)
    positions = np.array([at - max(s for s in (0, *starts) if s <= at) for at in range(count)], np.int32)
    tokens = np.arange(count, dtype=np.int32)
    return Trace(
        layers=tuple(range(layers)),
        experts=experts,
        ids=ids,
        weights=gates,
        passes=np.ones(count, np.int32),
        token_ids=tokens,
        positions=positions,
        begins=positions == 0,
    )


def chance_trace(tokens: int, layers: int = 3, experts: int = 8, k: int = 2, seed: int = 0) -> Trace:
    """Skewed and unevenly weighted."""
    chance = np.random.default_rng(seed)
    share = 1 / np.arange(1, experts + 1)
    ids = np.array(
        [
            [chance.choice(experts, k, replace=False, p=share / share.sum()) for _ in range(tokens)]
            for _ in range(layers)
        ],
        np.uint16,
    )
    weights = np.sort(chance.random((layers, tokens, k)).astype(np.float16))[..., ::-1]
    positions = np.arange(tokens, dtype=np.int32) % 25
    ones = np.ones(tokens, np.int32)
    return Trace(
        layers=tuple(range(layers)),
        experts=experts,
        ids=ids,
        weights=weights,
        passes=ones,
        token_ids=ones,
        positions=positions,
        begins=positions == 0,
    )
