"""The gated delta rule (Yang et al. 2024, Gated Delta Networks): one token at a time, or in chunks.

Per head, with a state S [Dk, Dv], a decay exp(g) and a learning rate beta, every token does::

    S = exp(g) S;   S = S + k (beta (v - k S));   out = q S

The state changes in place and stays in float32: it sums over the whole context.
"""

from __future__ import annotations

import torch
from torch import Tensor

CHUNK = 64  # tokens; larger chunks cost more inside (quadratic), smaller ones more passes over the state


def delta_step(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, state: Tensor) -> Tensor:
    """One token. q, k: [H, Dk]. v: [H, Dv]. g, beta: [H]. state: [H, Dk, Dv], updated. Returns [H, Dv]."""
    decay = g.exp().view(-1, 1, 1)
    # What key and query read from the old state takes one pass over it; the new state is written in a second one.
    remembered, read = (torch.bmm(torch.stack((k, q), dim=1), state) * decay).unbind(1)
    delta = (v - remembered) * beta.unsqueeze(1)
    state.mul_(decay).baddbmm_(k.unsqueeze(2), delta.unsqueeze(1))
    return torch.addcmul(read, (q * k).sum(-1, keepdim=True), delta)


def delta_chunks(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, state: Tensor, chunk: int = CHUNK) -> Tensor:
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


CHANNEL_CHUNK = 32  # tokens: with a decay for each channel, pairs of tokens are compared channel by channel


def channel_step(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, state: Tensor) -> Tensor:
    """As delta_step, with a decay for every channel of the keys. g: [H, Dk]. Returns [H, Dv]."""
    state.mul_(g.exp().unsqueeze(2))
    remembered, read = torch.bmm(torch.stack((k, q), dim=1), state).unbind(1)
    delta = (v - remembered) * beta.unsqueeze(1)
    state.baddbmm_(k.unsqueeze(2), delta.unsqueeze(1))
    return torch.addcmul(read, (q * k).sum(-1, keepdim=True), delta)


def channel_chunks(
    q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, state: Tensor, chunk: int = CHANNEL_CHUNK
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
