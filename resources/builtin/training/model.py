"""The built-in model as it is trained: Qwen3-MoE over float32 master weights.

Products are computed in bfloat16 where the processor has instructions for it, else in float32.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.attention import Attention
from training.experts import ExpertLayer
from training.shape import Shape

_ROWS = 1024  # of the product with the vocabulary


class Losses(NamedTuple):
    """Of one batch of B sequences of T tokens."""

    weighted: Tensor  # scalar: sum of cross entropy times weight
    balance: Tensor  # scalar: load-balancing loss (1 when all experts are used alike), mean over layers
    z: Tensor  # scalar: squared log-sum-exp of the router's logits, mean over layers
    load: Tensor  # [L, E] share of the choices each expert got
    per_token: Tensor  # [B * T] cross entropy, no gradient; zero where the weight is


def _rms(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps) * weight).to(x.dtype)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


@torch.compile(dynamic=False)
def _heads(
    x: Tensor, norm: Tensor, qkv: Tensor, q_norm: Tensor, k_norm: Tensor, cos: Tensor, sin: Tensor, s: Shape
) -> tuple[Tensor, Tensor, Tensor]:
    """x [B, T, H] -> q [B*KV, R*T, D], k and v [B*KV, T, D]; the R query heads of a group lie below each other."""
    batch, length, _ = x.shape
    flat = F.linear(_rms(x, norm, s.eps), qkv).view(batch, length, s.heads + 2 * s.kv_heads, s.head_dim)
    q, k, v = flat.split([s.heads, s.kv_heads, s.kv_heads], dim=2)
    q = _rotate(_rms(q, q_norm, s.eps), cos, sin).transpose(1, 2)
    k = _rotate(_rms(k, k_norm, s.eps), cos, sin).transpose(1, 2)
    rows = s.heads // s.kv_heads * length
    return (
        q.reshape(batch * s.kv_heads, rows, s.head_dim),
        k.reshape(batch * s.kv_heads, length, s.head_dim),
        v.transpose(1, 2).reshape(batch * s.kv_heads, length, s.head_dim),
    )


@torch.compile(dynamic=False)
def _route(
    x: Tensor, mixed: Tensor, out: Tensor, norm: Tensor, router: Tensor, s: Shape
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Attention's end and the router: residual [B, T, H], expert input [B*T, H], weights and choices [B*T, K], ..."""
    batch, length, hidden = x.shape
    mixed = mixed.view(batch, s.heads, length, s.head_dim).transpose(1, 2).reshape(batch, length, -1)
    x = x + F.linear(mixed, out)
    inputs = _rms(x, norm, s.eps).view(-1, hidden)
    logits = F.linear(inputs.float(), router)
    probabilities = torch.softmax(logits, -1)
    weights, chosen = probabilities.topk(s.top_k, -1)
    weights = weights / weights.sum(-1, keepdim=True)
    z = torch.logsumexp(logits, -1).pow(2).mean()
    return x, inputs, weights, chosen, probabilities.mean(0), z


@torch.compile(dynamic=False)
def _cross_entropy(
    x: Tensor, norm: Tensor, embedding: Tensor, targets: Tensor, weights: Tensor, eps: float
) -> tuple[Tensor, Tensor]:
    logits = F.linear(_rms(x, norm, eps), embedding).float()
    loss = torch.logsumexp(logits, -1) - logits.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return (loss * weights).sum(), loss.detach()


def _weighed(weights: Tensor) -> Tensor:
    """Places [M] of the tokens with a weight and, up to a multiple of 1024, of others: few shapes to compile for."""
    flat = weights.reshape(-1)
    order = torch.argsort((flat == 0).to(torch.uint8), stable=True)
    count = int((flat != 0).sum())
    return order[: max(1, -(-count // _ROWS)) * _ROWS]


class Block(nn.Module):
    """Parameters of one layer."""

    def __init__(self, s: Shape) -> None:
        super().__init__()

        def normal(*size: int, std: float = 0.02) -> nn.Parameter:
            return nn.Parameter(torch.randn(*size) * std)

        out_std = 0.02 / math.sqrt(2 * s.layers)
        self.attention_norm = nn.Parameter(torch.ones(s.hidden))
        self.expert_norm = nn.Parameter(torch.ones(s.hidden))
        self.q_norm = nn.Parameter(torch.ones(s.head_dim))
        self.k_norm = nn.Parameter(torch.ones(s.head_dim))
        self.qkv = normal((s.heads + 2 * s.kv_heads) * s.head_dim, s.hidden)
        self.out = normal(s.hidden, s.heads * s.head_dim, std=out_std)
        self.router = normal(s.experts, s.hidden)
        self.gate_up = normal(s.experts, s.hidden, 2 * s.width)
        self.down = normal(s.experts, s.width, s.hidden, std=out_std)

    def matrices(self) -> list[nn.Parameter]:
        """What is computed with in the compute type and, the embedding aside, trained by Muon."""
        return [self.qkv, self.out, self.gate_up, self.down]


class Model(nn.Module):
    """Call `refresh` after every change of the weights and `collect` after every backward pass."""

    cos: Tensor
    sin: Tensor

    def __init__(self, shape: Shape, compute: torch.dtype = torch.bfloat16) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Parameter(torch.randn(shape.vocab, shape.hidden) * 0.02)
        self.layers = [Block(shape) for _ in range(shape.layers)]
        self.blocks = nn.ModuleList(self.layers)
        self.norm = nn.Parameter(torch.ones(shape.hidden))
        frequency = shape.theta ** -(torch.arange(0, shape.head_dim, 2).float() / shape.head_dim)
        angles = torch.outer(torch.arange(shape.context).float(), frequency)
        self.register_buffer("cos", angles.cos().to(compute), persistent=False)
        self.register_buffer("sin", angles.sin().to(compute), persistent=False)
        self._masters: list[Tensor] = [self.embedding, *(p for b in self.layers for p in b.matrices())]
        self._copies = [p.detach().clone().to(compute).requires_grad_() for p in self._masters]
        self._copy_of = {id(p): c for p, c in zip(self._masters, self._copies, strict=True)}

    @torch.no_grad()
    def refresh(self) -> None:
        """Bring the copies that are computed with up to date with the float32 masters."""
        torch._foreach_copy_(self._copies, self._masters)

    def collect(self) -> None:
        """Move the copies' gradients to the masters."""
        for master, copy in zip(self._masters, self._copies, strict=True):
            assert copy.grad is not None
            master.grad = copy.grad.float()
            copy.grad = None

    def forward(self, ids: Tensor, targets: Tensor, weights: Tensor) -> Losses:
        """ids, targets and weights are [B, T]."""
        s, length = self.shape, ids.shape[1]
        low = self._copy_of
        embedding = low[id(self.embedding)]
        x = F.embedding(ids, embedding)
        cos, sin = self.cos[None, :length, None], self.sin[None, :length, None]
        mask = torch.full((length, length), float("-inf")).triu(1).repeat(s.heads // s.kv_heads, 1)
        balance = z = torch.zeros(())
        loads = []
        for b in self.layers:
            qkv, out, gate_up, down = (low[id(p)] for p in b.matrices())
            q, k, v = _heads(x, b.attention_norm, qkv, b.q_norm, b.k_norm, cos, sin, s)
            mixed = Attention.apply(q, k, v, mask, s.head_dim**-0.5)
            x, inputs, gates, chosen, mean, layer_z = _route(x, mixed, out, b.expert_norm, b.router, s)
            x = x + ExpertLayer.apply(inputs, gates, chosen, gate_up, down).view_as(x)
            load = torch.bincount(chosen.view(-1), minlength=s.experts).float() / chosen.numel()
            balance = balance + s.experts * (load * mean).sum()
            z = z + layer_z
            loads.append(load)
        flat, wanted = weights.reshape(-1), _weighed(weights)
        weighted, some = _cross_entropy(
            x.view(-1, s.hidden)[wanted], self.norm, embedding, targets.reshape(-1)[wanted], flat[wanted], s.eps
        )
        per_token = torch.zeros_like(flat).index_copy(0, wanted, some)
        return Losses(weighted, balance / s.layers, z / s.layers, torch.stack(loads), per_token)
