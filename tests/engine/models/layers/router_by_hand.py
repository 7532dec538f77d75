"""Routers by their definitions, a token at a time, in float64: the reference of native code."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.models.spec import RouterSpec


def best(values: Sequence[float], count: int) -> list[int]:
    return sorted(range(len(values)), key=lambda i: -values[i])[:count]


def softmax(values: Sequence[float]) -> list[float]:
    top = max(values)
    exps = [math.exp(value - top) for value in values]
    return [e / sum(exps) for e in exps]


def _scores(spec: RouterSpec, logits: list[float]) -> list[float]:
    if spec.score == "softmax":
        return softmax(logits)
    if spec.score == "sqrtsoftplus":
        return [math.sqrt(math.log1p(math.exp(value))) for value in logits]
    return [1 / (1 + math.exp(-value)) for value in logits]


def by_hand(spec: RouterSpec, logits: list[float], bias: list[float] | None) -> dict[int, float]:
    """Expert to weight of one token, as the papers and model cards define it."""
    if spec.score == "sparsemixer":
        return sparsemixer_by_hand(logits, spec.jitter)
    if spec.score == "topk_softmax":
        chosen = best(logits, spec.top_k)
        return _finished(spec, dict(zip(chosen, softmax([logits[i] for i in chosen]), strict=True)))
    scores = _scores(spec, logits)
    choice = [s + b for s, b in zip(scores, bias or [0.0] * len(scores), strict=True)]
    size = spec.experts // spec.groups
    groups = [choice[g * size : (g + 1) * size] for g in range(spec.groups)]
    rated = [max(g) if spec.group_score == "max" else sum(sorted(g)[-2:]) for g in groups]
    allowed = {i for g in best(rated, spec.top_groups) for i in range(g * size, (g + 1) * size)}
    chosen = best([c if i in allowed else spec.masked_score for i, c in enumerate(choice)], spec.top_k)
    return _finished(spec, {i: scores[i] for i in chosen})


def _finished(spec: RouterSpec, weights: dict[int, float]) -> dict[int, float]:
    if spec.normalize:
        total = max(sum(weights.values()) + spec.normalize_eps, spec.normalize_min)
        weights = {i: w / total for i, w in weights.items()}
    return {i: w * spec.scale for i, w in weights.items()}


def sparsemixer_by_hand(logits: list[float], jitter: float) -> dict[int, float]:
    found: dict[int, float] = {}
    for _ in range(2):
        rest = [i for i in range(len(logits)) if i not in found]
        first = max(rest, key=lambda i: logits[i])
        top = logits[first]
        near = [i for i in rest if (top - logits[i]) / max(abs(logits[i]), top) <= 2 * jitter]
        found[first] = 1 / sum(math.exp(logits[i] - top) for i in near)
    return found
