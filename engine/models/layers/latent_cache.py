"""Attention over a latent cache (multi-head latent attention, DeepSeek-V2, section 2.1), in its two equal forms.

The cache holds per token only the compressed latent c [R] and one rotary key [Dr] shared by all heads. Head h has
keys [W_uk[h] c | rotary key] and values W_uv[h] c. *Absorbed*: the query goes into latent space once (W_uk[h]^T q) and
attends to the cache as it lies. *Expanded*: keys and values of every cached token are computed, then attended to.
Absorbed is far cheaper for few queries over a long cache; expanded for many queries, since its heads are narrower.

A cache is a list of pieces [n_i, R + Dr] in order, as a growing buffer has them, of n tokens in all.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

SCORES_LIMIT = 1 << 24  # elements of the score block held at once (64 MB of float32)


def absorbed_is_cheaper(tokens: int, cached: int, nope: int, rope: int, value: int, rank: int) -> bool:
    """Whether the absorbed form takes fewer multiplications a head: tokens queries over cached keys."""
    absorbed = tokens * rank * (nope + value) + tokens * cached * (2 * rank + rope)
    expanded = cached * rank * (nope + value) + tokens * cached * (nope + rope + value)
    return absorbed <= expanded


def absorbed(
    q: Tensor, q_rope: Tensor, cache: Sequence[Tensor], w_uk: Tensor, w_uv: Tensor, scaling: float,
    *, seen: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """q: [T, Hh, Dn], q_rope: [T, Hh, Dr], of the last T of the n cached tokens. w_uk: [Hh, Dn, R], w_uv: [Hh, Dv, R].

    seen: [T, n] bool, what of those before it each query attends to; None: all.
    Returns [T, Hh, Dv] float32. Products run in the dtype of what they read.
    """
    rank = w_uk.shape[2]
    dtype = cache[0].dtype
    in_latent = torch.bmm(q.transpose(0, 1).to(w_uk.dtype), w_uk).transpose(0, 1)  # [T, Hh, R]
    query = torch.cat((in_latent.to(dtype), q_rope.to(dtype)), dim=2)
    latent = _attend(query, cache, [piece[:, :rank] for piece in cache], scaling, seen)
    out = torch.bmm(latent.transpose(0, 1).to(w_uv.dtype), w_uv.transpose(1, 2))
    return out.transpose(0, 1).float()


def expanded(
    q: Tensor, q_rope: Tensor, cache: Sequence[Tensor], w_uk: Tensor, w_uv: Tensor, scaling: float,
    *, seen: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The same as `absorbed`, by computing every head's keys and values; one head at a time, to bound memory."""
    rank = w_uk.shape[2]
    rows = torch.cat(list(cache)).to(w_uk.dtype)
    latent, k_rope = rows.split((rank, rows.shape[1] - rank), dim=1)
    query = torch.cat((q, q_rope), dim=2).to(rows.dtype)
    heads = []
    for head in range(q.shape[1]):
        key = torch.cat((latent @ w_uk[head].T, k_rope), dim=1)  # [n, Dn + Dr]
        value = latent @ w_uv[head].T  # [n, Dv]
        heads.append(_attend(query[:, head : head + 1], [key], [value], scaling, seen))
    return torch.cat(heads, dim=1).float()


def _attend(
    query: Tensor, keys: Sequence[Tensor], values: Sequence[Tensor], scaling: float, seen: Tensor | None
) -> Tensor:
    """Causal attention of query [T, Hh, D], the last T tokens, to keys [n_i, D] and values [n_i, Dv] of all heads.

    In blocks of queries, so that scores stay under SCORES_LIMIT. Returns [T, Hh, Dv].
    """
    tokens, heads, _ = query.shape
    cached = sum(piece.shape[0] for piece in keys)
    step = max(1, SCORES_LIMIT // (heads * cached))
    blocks = []
    for at in range(0, tokens, step):
        block = query[at : at + step]
        visible = cached - tokens + at + block.shape[0]
        own = None if seen is None else seen[at : at + step, :visible]
        blocks.append(_attend_block(block, _first(keys, visible), _first(values, visible), scaling, own))
    return torch.cat(blocks)


def _first(pieces: Sequence[Tensor], rows: int) -> list[Tensor]:
    """The pieces that make the first `rows` rows."""
    found = []
    for piece in pieces:
        found.append(piece[:rows])
        rows -= piece.shape[0]
        if rows <= 0:
            break
    return found


def _attend_block(
    query: Tensor, keys: Sequence[Tensor], values: Sequence[Tensor], scaling: float, seen: Tensor | None
) -> Tensor:
    tokens, heads, width = query.shape
    flat = query.reshape(-1, width)
    scores = torch.cat([flat @ key.T for key in keys], dim=1).float().mul_(scaling)
    if tokens > 1:
        future = torch.ones(tokens, tokens, dtype=torch.bool, device=scores.device).triu(1)
        scores[:, -tokens:].view(tokens, heads, tokens).masked_fill_(future.unsqueeze(1), float("-inf"))
    if seen is not None:
        scores.view(tokens, heads, -1).masked_fill_(~seen.unsqueeze(1), float("-inf"))
    weights = scores.softmax(-1).to(query.dtype).split([value.shape[0] for value in values], dim=1)
    out = weights[0] @ values[0]
    for weight, value in zip(weights[1:], values[1:], strict=True):
        out.addmm_(weight, value)
    return out.view(tokens, heads, -1)
