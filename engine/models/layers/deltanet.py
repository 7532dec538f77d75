"""Linear attention by a gated delta rule: Gated DeltaNet (Qwen3-Next, Qwen3.5) and Kimi Delta Attention (Kimi Linear).

Each keeps a state of fixed size instead of a growing cache. The rule is of Yang et al. 2024, Gated Delta Networks. Per
head, with a state S [Dk, Dv], a decay exp(g) and a learning rate beta, every token does::

    S = exp(g) S;   S = S + k (beta (v - k S));   out = q S

one token at a time, or in chunks. The state changes in place and stays in float32: it sums over the whole context.
Kimi Delta Attention (arXiv 2510.26692) forgets each channel by itself: its decay is a vector [Dk].

Of Gated DeltaNet torch computes prompts of more than 16 tokens, and single tokens that cannot take the op graph (see
attention.py); of Kimi Delta Attention, which has no native ops, all.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.models.layers.conv import causal_conv
from engine.models.layers.linear import Matrix
from engine.models.layers.norms import rms
from engine.models.layers.position_range import PositionRange
from engine.models.layers.state import LayerState, RecurrentState
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights, Linear, fetch, load_linear, matrix, ordered, vector
from engine.models.spec import DeltaNetSpec, KdaSpec

QK_EPS = 1e-6  # added to the squared length of queries and keys
CHUNK = 64  # tokens; larger chunks cost more inside (quadratic), smaller ones more passes over the state
CHANNEL_CHUNK = 32  # tokens: with a decay for each channel, pairs of tokens are compared channel by channel


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


def delta_step(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, state: Tensor) -> Tensor:
    """One token. q, k: [H, Dk]. v: [H, Dv]. g, beta: [H]. state: [H, Dk, Dv], updated. Returns [H, Dv]."""
    decay = g.exp().view(-1, 1, 1)
    # What key and query read from the old state takes one pass over it; the new state is written in a second one.
    remembered, read = (torch.bmm(torch.stack((k, q), dim=1), state) * decay).unbind(1)
    delta = (v - remembered) * beta.unsqueeze(1)
    state.mul_(decay).baddbmm_(k.unsqueeze(2), delta.unsqueeze(1))
    return torch.addcmul(read, (q * k).sum(-1, keepdim=True), delta)


def delta_chunks(
    q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, state: Tensor, *, chunk: int = CHUNK
) -> Tensor:
    """Many tokens, `chunk` at a time, equal to delta_step on each (section 3.3 of the paper, the UT transform).

    q, k: [T, H, Dk]. v: [T, H, Dv]. g, beta: [T, H]. state: [H, Dk, Dv], updated. Returns [T, H, Dv].
    """
    tokens = q.shape[0]
    q, k, v, g, beta = (t.transpose(0, 1) for t in (q, k, v, g, beta))
    parts = []
    for at in range(0, tokens, chunk):
        part = slice(at, at + chunk)
        parts.append(_one_chunk(q[:, part], k[:, part], v[:, part], g[:, part], beta[:, part], state))
    return torch.cat(parts, dim=1).transpose(0, 1)


def _one_chunk(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, state: Tensor) -> Tensor:
    """q, k: [H, C, Dk]. v: [H, C, Dv]. g, beta: [H, C]. state: [H, Dk, Dv], updated. Returns [H, C, Dv]."""
    total = g.cumsum(1)  # log of the decay since the chunk began
    seen = total.exp().unsqueeze(2)
    pairwise = (total.unsqueeze(2) - total.unsqueeze(1)).tril().exp().tril()  # [H, i, j]: decay between tokens j <= i
    k_beta = k * beta.unsqueeze(2)
    # Token i corrects what tokens j < i wrote: a unit lower triangular system, solved for values and for decayed keys.
    system = k_beta @ k.transpose(1, 2) * pairwise
    rhs = torch.cat((v * beta.unsqueeze(2), k_beta * seen), dim=2)
    solved = torch.linalg.solve_triangular(system, rhs, upper=False, unitriangular=True)
    values, keys = solved.split((v.shape[2], k.shape[2]), dim=2)
    written = torch.baddbmm(values, keys, state, alpha=-1)
    out = torch.baddbmm((q * seen) @ state, q @ k.transpose(1, 2) * pairwise, written)
    remaining = (total[:, -1:] - total).exp().unsqueeze(2)
    state.mul_(seen[:, -1:]).baddbmm_((k * remaining).transpose(1, 2), written)
    return out


def channel_step(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, state: Tensor) -> Tensor:
    """As delta_step, with a decay for every channel of the keys. g: [H, Dk]. Returns [H, Dv]."""
    state.mul_(g.exp().unsqueeze(2))
    remembered, read = torch.bmm(torch.stack((k, q), dim=1), state).unbind(1)
    delta = (v - remembered) * beta.unsqueeze(1)
    state.baddbmm_(k.unsqueeze(2), delta.unsqueeze(1))
    return torch.addcmul(read, (q * k).sum(-1, keepdim=True), delta)


def channel_chunks(
    q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, state: Tensor, *, chunk: int = CHANNEL_CHUNK
) -> Tensor:
    """As delta_chunks, with a decay for every channel of the keys (Kimi Linear, section 3). g: [T, H, Dk]."""
    q, k, v, g, beta = (t.transpose(0, 1) for t in (q, k, v, g, beta))
    parts = []
    for at in range(0, q.shape[1], chunk):
        part = slice(at, at + chunk)
        parts.append(_one_channel_chunk(q[:, part], k[:, part], v[:, part], g[:, part], beta[:, part], state))
    return torch.cat(parts, dim=1).transpose(0, 1)


def _one_channel_chunk(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, state: Tensor) -> Tensor:
    """q, k, g: [H, C, Dk]. v: [H, C, Dv]. beta: [H, C]. state: [H, Dk, Dv], updated. Returns [H, C, Dv]."""
    total = g.cumsum(1)
    seen = total.exp()
    later = torch.ones(g.shape[1], g.shape[1], dtype=torch.bool).triu(1)[..., None]
    between = (total.unsqueeze(2) - total.unsqueeze(1)).masked_fill_(later, float("-inf")).exp_()  # [H, i, j, Dk]
    k_beta = k * beta.unsqueeze(2)
    weighed = between.mul_(k.unsqueeze(1))
    system = torch.einsum("hid,hijd->hij", k_beta, weighed)
    rhs = torch.cat((v * beta.unsqueeze(2), k_beta * seen), dim=2)
    solved = torch.linalg.solve_triangular(system, rhs, upper=False, unitriangular=True)
    values, keys = solved.split((v.shape[2], k.shape[2]), dim=2)
    written = torch.baddbmm(values, keys, state, alpha=-1)
    out = torch.baddbmm((q * seen) @ state, torch.einsum("hid,hijd->hij", q, weighed), written)
    remaining = (total[:, -1:] - total).exp()
    state.mul_(seen[:, -1].unsqueeze(2)).baddbmm_((k * remaining).transpose(1, 2), written)
    return out


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
