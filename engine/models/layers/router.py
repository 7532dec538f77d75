"""Routers: which experts compute a token, and with what weights. Everything in float32."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.models.layers.norms import rms
from engine.models.layers.weights import CheckpointWeights, fetch, vector
from engine.models.spec import RouterSpec


class Router:
    """The router of one MoE block. held: [E, H] float32, or bf16 where that is what is stored and native code computes
    single tokens.
    """

    def __init__(self, spec: RouterSpec, weights: CheckpointWeights, hidden: int, *, native: bool = False) -> None:
        self.spec = spec
        stored = fetch(weights, f"{spec.weight}.weight")
        self.held = stored if native and stored.dtype == torch.bfloat16 else stored.float()
        self.bias = vector(weights, f"{spec.weight}.bias") if spec.bias else None
        self.choice_bias = None if spec.choice_bias is None else vector(weights, spec.choice_bias)
        self.by_token = None if spec.by_token is None else weights.get(spec.by_token).to(torch.int32)
        self.expert_scale = None if spec.expert_scale is None else vector(weights, spec.expert_scale)
        self._eps = None if spec.input_norm_eps is None else torch.tensor(spec.input_norm_eps)
        self.input_scale = None
        if spec.input_scale is not None:
            self.input_scale = vector(weights, spec.input_scale) * hidden**-0.5

    @property
    def weight(self) -> Tensor:
        """[E, H] float32, also what predictors of coming experts are made of."""
        return self.held.float()

    def logits(self, x: Tensor) -> Tensor:
        """x: [T, H] float32, the router's input. Returns [T, E]."""
        if self._eps is not None:
            x = rms(x, self._eps, self.input_scale)
        return F.linear(x, self.weight, self.bias)

    def __call__(self, x: Tensor, tokens: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """x: [T, H] float32. tokens: their ids [T]. Returns ids [T, K] int64 and final weights [T, K] float32."""
        if self.by_token is not None and tokens is not None:
            ids = self.by_token[tokens].long()
            return ids, _finished(self.spec, scores(self.spec, self.logits(x)).gather(-1, ids))
        ids, weights = choose(self.spec, self.logits(x), self.choice_bias)
        if self.expert_scale is not None:
            weights = weights * self.expert_scale[ids]
        return ids, weights


def choose(spec: RouterSpec, logits: Tensor, choice_bias: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Experts and weights from router logits [T, E]: (ids [T, K], weights [T, K])."""
    if spec.score == "sparsemixer":
        return _sparsemixer(logits, spec.jitter)
    if spec.score == "topk_softmax":
        top, ids = logits.topk(spec.top_k, -1)
        return ids, _finished(spec, top.softmax(-1))
    scored = scores(spec, logits)
    if choice_bias is None and spec.groups == 1:
        weights, ids = scored.topk(spec.top_k, -1)
        return ids, _finished(spec, weights)
    choice = scored if choice_bias is None else scored + choice_bias
    if spec.groups > 1:
        choice = _best_groups(spec, choice)
    ids = choice.topk(spec.top_k, -1).indices
    return ids, _finished(spec, scored.gather(-1, ids))


def scores(spec: RouterSpec, logits: Tensor) -> Tensor:
    """Scores by which experts are chosen and weighed: softmax, sigmoid or sqrt(softplus). logits, result: [T, E]."""
    if spec.score == "sqrtsoftplus":
        return F.softplus(logits).sqrt()
    return logits.sigmoid() if spec.score == "sigmoid" else logits.softmax(-1)


def _finished(spec: RouterSpec, weights: Tensor) -> Tensor:
    if spec.normalize:
        total = weights.sum(-1, keepdim=True)
        if spec.normalize_eps or spec.normalize_min:
            total = total.add_(spec.normalize_eps).clamp_(min=spec.normalize_min)
        weights = weights / total
    return weights if spec.scale == 1.0 else weights * spec.scale


def _best_groups(spec: RouterSpec, choice: Tensor) -> Tensor:
    """Choice scores [T, E] with those outside the best groups replaced by masked_score (DeepSeek-V2 and V3)."""
    grouped = choice.unflatten(-1, (spec.groups, -1))  # [T, G, E / G]
    rating = grouped.amax(-1) if spec.group_score == "max" else grouped.topk(2, -1).values.sum(-1)
    lost = torch.ones_like(rating, dtype=torch.bool).scatter_(-1, rating.topk(spec.top_groups, -1).indices, False)
    return grouped.masked_fill(lost[..., None], spec.masked_score).flatten(-2)


def _sparsemixer(logits: Tensor, jitter: float) -> tuple[Tensor, Tensor]:
    """Top 1, then top 1 of the rest; each weighs its softmax among the logits near it (arXiv 2409.12136, at inference).

    Near: (best - logit) / max(|logit|, best) <= 2 jitter.
    """
    ids, weights = [], []
    rest = logits
    for _ in range(2):
        best, top = rest.max(-1, keepdim=True)
        far = (best - logits) / logits.abs().maximum(best) > 2 * jitter
        near = rest.masked_fill(far, float("-inf"))
        weights.append(near.softmax(-1).gather(-1, top))
        ids.append(top)
        rest = rest.scatter(-1, top, float("-inf"))
    return torch.cat(ids, -1), torch.cat(weights, -1)
