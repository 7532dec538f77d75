"""Mamba-2 (Dao and Gu 2024, arXiv 2405.21060), a token mixer with a state of fixed size (Nemotron-H, Granite 4).

It has no native ops: torch computes prompts and single tokens alike.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.models.layers.conv import causal_conv
from engine.models.layers.norms import rms
from engine.models.layers.position_range import PositionRange
from engine.models.layers.state import LayerState, RecurrentState
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights, Linear, fetch, load_linear, vector
from engine.models.spec import Mamba2Spec

CHUNK = 64  # tokens: what is computed inside a chunk grows with its square


class Mamba2:
    """The token mixer of one layer. Its state: the convolution's last inputs, and one matrix [P, N] per head.

    Per head, with time steps dt and a rate A < 0, every token does S = exp(dt A) S + dt x B^T; out = S C + D x.
    """

    def __init__(self, spec: Mamba2Spec, weights: CheckpointWeights, hidden: int, dense: WeightFormat) -> None:
        self.spec = spec
        name = f"{spec.prefix}.in_proj"
        weight, bias = fetch(weights, f"{name}.weight"), fetch(weights, f"{name}.bias") if spec.bias else None
        self._sizes = (spec.inner, spec.channels)
        wide = sum(self._sizes)
        self.project = Linear(weight[:wide], None if bias is None else bias[:wide], dense)
        # Time steps act on everything that the state remembers: small, and kept exact.
        self.steps = Linear(weight[wide:], None if bias is None else bias[wide:], dense.exact)
        self.taps = fetch(weights, f"{spec.prefix}.conv1d.weight").float().squeeze(1).T.contiguous()
        self.conv_bias = vector(weights, f"{spec.prefix}.conv1d.bias") if spec.conv_bias else None
        self.rate = -vector(weights, f"{spec.prefix}.A_log").exp()
        self.dt_bias = vector(weights, f"{spec.prefix}.dt_bias")
        self.skip = vector(weights, f"{spec.prefix}.D")
        self.norm = vector(weights, f"{spec.prefix}.norm.weight")
        self.out = load_linear(weights, f"{spec.prefix}.out_proj", dense=dense, bias=spec.bias)
        self._eps = torch.tensor(spec.norm_eps)

    def new_state(self, kv_dtype: torch.dtype) -> RecurrentState:
        """Empty state, always float32: the convolution's inputs [K - 1, C] and the matrices [heads, P, N]."""
        spec = self.spec
        return RecurrentState([(spec.kernel - 1, spec.channels), (spec.heads, spec.head_dim, spec.state)])

    def forward(self, x: Tensor, span: PositionRange, state: LayerState) -> Tensor:
        """x: [T, H] float32, normed. Returns [T, H] float32; `state` moves on by T tokens."""
        assert isinstance(state, RecurrentState)
        spec = self.spec
        history, memory = state.tensors
        z, mixed = self.project(x).split(self._sizes, dim=1)
        dt = F.softplus(self.steps(x) + self.dt_bias).clamp(*spec.steps)
        mixed = F.silu(causal_conv(mixed, history, self.taps, self.conv_bias))
        shared = spec.groups * spec.state
        u, b, c = mixed.split((spec.inner, shared, shared), dim=1)
        u = u.unflatten(1, (spec.heads, spec.head_dim))
        b, c = (part.unflatten(1, (spec.groups, spec.state)) for part in (b, c))
        y = scan_step(u, dt, self.rate, b, c, memory) if span.length == 1 else scan(u, dt, self.rate, b, c, memory)
        y = torch.addcmul(y, u, self.skip[:, None]).flatten(1) * F.silu(z)
        normed = rms(y.unflatten(1, (spec.groups, -1)), self._eps).flatten(1)
        return self.out(normed * self.norm)


def scan_step(u: Tensor, dt: Tensor, rate: Tensor, b: Tensor, c: Tensor, state: Tensor) -> Tensor:
    """One token. u: [1, heads, P]. dt: [1, heads]. rate: [heads]. b, c: [1, groups, N]. state: [heads, P, N], updated.

    Returns [1, heads, P].
    """
    repeat = u.shape[1] // b.shape[1]
    b, c = (part[0].repeat_interleave(repeat, 0) for part in (b, c))  # [heads, N]
    state.mul_((dt[0] * rate).exp()[:, None, None]).add_((u[0] * dt[0, :, None])[..., None] * b[:, None])
    return torch.bmm(state, c[..., None])[None, :, :, 0]


def scan(u: Tensor, dt: Tensor, rate: Tensor, b: Tensor, c: Tensor, state: Tensor, *, chunk: int = CHUNK) -> Tensor:
    """Many tokens, `chunk` at a time, equal to scan_step on each (section 6 of the paper).

    u: [T, heads, P]. dt: [T, heads]. b, c: [T, groups, N]. state: [heads, P, N], updated. Returns [T, heads, P].
    """
    parts = [slice(at, at + chunk) for at in range(0, len(u), chunk)]
    return torch.cat([_one_chunk(u[part], dt[part], rate, b[part], c[part], state) for part in parts])


def _one_chunk(u: Tensor, dt: Tensor, rate: Tensor, b: Tensor, c: Tensor, state: Tensor) -> Tensor:
    repeat = u.shape[1] // b.shape[1]
    total = (dt * rate).cumsum(0).T  # [heads, C]: log of the decay since the chunk began
    u, dt = u.transpose(0, 1), dt.T
    b, c = (part.transpose(0, 1) for part in (b, c))  # [groups, C, N]
    pairwise = (total[:, :, None] - total[:, None]).tril().exp().tril()  # [heads, i, j]: decay between tokens j <= i
    alike = (c @ b.transpose(1, 2)).repeat_interleave(repeat, 0)
    b, c = (part.repeat_interleave(repeat, 0) for part in (b, c))
    given = u * dt[..., None]
    out = (alike * pairwise) @ given + (c * total.exp()[..., None]) @ state.transpose(1, 2)
    remaining = (total[:, -1:] - total).exp()[..., None]
    state.mul_(total[:, -1, None, None].exp()).baddbmm_((given * remaining).transpose(1, 2), b)
    return out.transpose(0, 1)
