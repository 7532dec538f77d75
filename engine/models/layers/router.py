"""Routers: which experts compute a token, and with what weights. Everything in float32."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.models.layers.norms import rms
from engine.models.layers.weights import CheckpointWeights, fetch, vector
from engine.models.spec import RouterSpec
from engine.native import route_op


class Router:
    """The router of one MoE block. held: [E, H] float32, or bf16 where that is what is stored."""

    def __init__(self, spec: RouterSpec, weights: CheckpointWeights, hidden: int) -> None:
        self.spec = spec
        stored = fetch(weights, f"{spec.weight}.weight")
        self.held = stored if stored.dtype == torch.bfloat16 else stored.float()
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
        given = None if self.by_token is None or tokens is None else self.by_token[tokens].long()
        return choose(self.spec, self.logits(x), self.choice_bias, self.expert_scale, given)


def choose(
    spec: RouterSpec, logits: Tensor, choice_bias: Tensor | None = None, expert_scale: Tensor | None = None,
    given: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Experts and weights from router logits [T, E], which are written over: (ids [T, K] int64, weights [T, K]).

    choice_bias, expert_scale: [E], as RouterSpec has them. given: experts [T, K] that are known and only weighed.
    """
    tokens = len(logits)
    ids = torch.empty(tokens, spec.top_k, dtype=torch.int64) if given is None else given
    weights = torch.empty(tokens, spec.top_k)
    route_op.run_route(
        route_op.route(
            routing(spec, given is not None), logits, torch.empty(tokens, route_op.route_room(spec.experts)),
            ids=ids, weights=weights, groups=torch.empty(tokens, spec.top_groups, dtype=torch.int64),
            choice_bias=choice_bias, expert_scale=expert_scale,
        )
    )  # fmt: skip
    return ids, weights


def routing(spec: RouterSpec, given: bool = False) -> route_op.Routing:
    """How native code chooses experts by `spec`."""
    return route_op.Routing(
        experts=spec.experts, top_k=spec.top_k, score=spec.score, groups=spec.groups, top_groups=spec.top_groups,
        top_two=spec.group_score == "top2", masked_score=spec.masked_score, normalize=spec.normalize,
        normalize_eps=spec.normalize_eps, normalize_min=spec.normalize_min, scale=spec.scale, jitter=spec.jitter,
        given=given,
    )  # fmt: skip
