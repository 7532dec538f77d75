"""Kimi Delta Attention (Kimi Linear, arXiv 2510.26692): a gated delta rule that forgets each channel by itself."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.models.layers.conv import causal_conv
from engine.models.layers.delta_rule import channel_chunks, channel_step
from engine.models.layers.norms import rms
from engine.models.layers.position_range import PositionRange
from engine.models.layers.state import LayerState, RecurrentState
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights, Linear, fetch, load_linear, vector
from engine.models.spec import KdaSpec

QK_EPS = 1e-6  # added to the squared length of queries and keys


class Kda:
    """The token mixer of one layer. Its state: the convolution's last inputs, and one matrix per head."""

    def __init__(self, spec: KdaSpec, weights: CheckpointWeights, hidden: int, dense: WeightFormat) -> None:
        def linear(*names: str, how: WeightFormat = dense) -> Linear:
            return load_linear(weights, *(f"{spec.prefix}.{name}" for name in names), dense=how)

        self.spec = spec
        self.qkv = linear("q_proj", "k_proj", "v_proj")
        taps = [fetch(weights, f"{spec.prefix}.{part}_conv1d.weight").float().squeeze(1) for part in "qkv"]
        self.taps = torch.cat(taps).T.contiguous()
        # Decay and learning rate act on everything that the state remembers, and are kept exact.
        self.forget_down, self.forget_up = linear("f_a_proj", how=dense.exact), linear("f_b_proj", how=dense.exact)
        self.learn = linear("b_proj", how=dense.exact)
        self.gate_down, self.gate_up = linear("g_a_proj"), linear("g_b_proj")
        self.rate = -vector(weights, f"{spec.prefix}.A_log").exp()
        self.dt_bias = vector(weights, f"{spec.prefix}.dt_bias")
        self.norm = vector(weights, f"{spec.prefix}.o_norm.weight")
        self.out = linear("o_proj")
        self._eps = torch.tensor(spec.norm_eps)

    def new_state(self, kv_dtype: torch.dtype) -> RecurrentState:
        """Empty state, always float32: the convolution's inputs [K - 1, 3 C] and the matrices [heads, D, D]."""
        spec = self.spec
        return RecurrentState(
            [(spec.kernel - 1, 3 * spec.heads * spec.head_dim), (spec.heads, spec.head_dim, spec.head_dim)]
        )

    def forward(self, x: Tensor, span: PositionRange, state: LayerState) -> Tensor:
        """x: [T, H] float32, normed. Returns [T, H] float32; `state` moves on by T tokens."""
        assert isinstance(state, RecurrentState)
        history, memory = state.tensors
        q, k, v = F.silu(causal_conv(self.qkv(x), history, self.taps)).chunk(3, dim=1)
        q, k, v = self._heads(q), self._heads(k), self._heads(v)
        q, k = (part / (part.square().sum(-1, keepdim=True) + QK_EPS).sqrt() for part in (q, k))
        q = q * self.spec.head_dim**-0.5
        forget = self._heads(self.forget_up(self.forget_down(x)) + self.dt_bias)
        g = F.softplus(forget) * self.rate[:, None]
        beta = self.learn(x).sigmoid()
        if span.length == 1:
            out = channel_step(q[0], k[0], v[0], g[0], beta[0], memory)[None]
        else:
            out = channel_chunks(q, k, v, g, beta, memory)
        gates = self._heads(self.gate_up(self.gate_down(x)))
        return self.out((rms(out.contiguous(), self._eps, self.norm) * gates.sigmoid()).flatten(1))

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(1, (self.spec.heads, self.spec.head_dim))
