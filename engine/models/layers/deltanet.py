"""Gated DeltaNet linear attention (Qwen3-Next, Qwen3.5): a state of fixed size instead of a growing cache."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.models.layers.conv import causal_conv
from engine.models.layers.delta_rule import delta_chunks, delta_step
from engine.models.layers.linear import Matrix
from engine.models.layers.position_range import PositionRange
from engine.models.layers.state import LayerState, RecurrentState
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights, Linear, fetch, load_linear, matrix, ordered, vector
from engine.models.spec import DeltaNetSpec

QK_EPS = 1e-6  # added to the squared length of queries and keys


class DeltaNet:
    """The token mixer of one layer. Its state: the convolution's last inputs, and one matrix per value head."""

    def __init__(self, spec: DeltaNetSpec, weights: CheckpointWeights, hidden: int, dense: WeightFormat) -> None:
        self.spec = spec
        self._repeat = spec.v_heads // spec.k_heads
        self._sizes = (spec.k_heads * spec.k_dim, spec.k_heads * spec.k_dim, spec.v_heads * spec.v_dim)
        qkvz, ba = _grouped(spec, weights) if spec.fused else _separate(spec, weights)
        self.qkvz = Linear(qkvz, None, dense)
        # Decay and learning rate act on everything that the state remembers: small, and kept exact.
        self.ba = Linear(ba, None, dense.exact)
        self.taps = fetch(weights, f"{spec.prefix}.conv1d.weight").float().squeeze(1).T.contiguous()
        self.rate = -vector(weights, f"{spec.prefix}.A_log").exp()
        self.dt_bias = vector(weights, f"{spec.prefix}.dt_bias")
        self._unit = torch.full((spec.k_dim,), spec.k_dim**-0.5)
        self.norm = vector(weights, f"{spec.prefix}.norm.weight")
        self.out = load_linear(weights, f"{spec.prefix}.out_proj", dense=dense)

    def new_state(self, kv_dtype: torch.dtype) -> RecurrentState:
        """Empty state, always float32: the convolution's inputs [K - 1, C] and the matrices [Hv, Dk, Dv]."""
        spec = self.spec
        return RecurrentState([(spec.kernel - 1, sum(self._sizes)), (spec.v_heads, spec.k_dim, spec.v_dim)])

    def forward(self, x: Tensor, span: PositionRange, state: LayerState) -> Tensor:
        """x: [T, H] float32, normed. Returns [T, H] float32; `state` moves on by T tokens."""
        assert isinstance(state, RecurrentState)
        spec = self.spec
        history, memory = state.tensors
        mixed, z = self.qkvz(x).split((sum(self._sizes), self._sizes[2]), dim=1)
        q, k, v = F.silu(causal_conv(mixed, history, self.taps)).split(self._sizes, dim=1)
        q, k = self._unit_heads(q) * spec.k_dim**-0.5, self._unit_heads(k)
        v = v.unflatten(1, (spec.v_heads, spec.v_dim))
        b, a = self.ba(x).chunk(2, dim=1)
        beta, g = b.sigmoid(), self.rate * F.softplus(a + self.dt_bias)
        if span.length == 1:
            out = delta_step(q[0], k[0], v[0], g[0], beta[0], memory).unsqueeze(0)
        else:
            out = delta_chunks(q, k, v, g, beta, memory)
        out = torch.rms_norm(out, (spec.v_dim,), self.norm, spec.norm_eps).flatten(1)
        return self.out(out.mul_(F.silu(z)))

    def _unit_heads(self, x: Tensor) -> Tensor:
        """x [T, Hk * Dk] as heads of length 1, each repeated for the value heads that share it: [T, Hv, Dk]."""
        # x / sqrt(sum x^2 + eps), as an RMS norm whose scale takes the mean back to the sum
        heads = x.unflatten(1, (-1, self.spec.k_dim))
        unit = torch.rms_norm(heads, (self.spec.k_dim,), self._unit, QK_EPS / self.spec.k_dim)
        return unit if self._repeat == 1 else unit.repeat_interleave(self._repeat, dim=1)


def _separate(spec: DeltaNetSpec, weights: CheckpointWeights) -> tuple[list[Matrix], Tensor]:
    """Qwen3.5's layout, stacked: rows of [q | k | v | z] and of [b | a]."""
    of = {name: f"{spec.prefix}.in_proj_{name}.weight" for name in ("qkv", "z", "b", "a")}
    return [matrix(weights, of["qkv"]), matrix(weights, of["z"])], torch.cat([fetch(weights, of[n]) for n in "ba"])


def _grouped(spec: DeltaNetSpec, weights: CheckpointWeights) -> tuple[list[Matrix], Tensor]:
    """Qwen3-Next's layout, [q | k | v | z] and [b | a] inside each key head, put in the order of `_separate`."""
    share = spec.v_heads // spec.k_heads

    def order(*sizes: int) -> Tensor:
        groups = torch.arange(spec.k_heads * sum(sizes)).view(spec.k_heads, -1)
        return torch.cat([part.flatten() for part in groups.split(sizes, dim=1)])

    values = share * spec.v_dim
    both = matrix(weights, f"{spec.prefix}.in_proj_qkvz.weight")
    rates = fetch(weights, f"{spec.prefix}.in_proj_ba.weight")
    return [ordered(both, order(spec.k_dim, spec.k_dim, values, values))], rates[order(share, share)]
