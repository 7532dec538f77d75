"""Attention over a latent cache (multi-head latent attention, DeepSeek-V2, section 2.1), in its two equal forms.

The cache holds per token only the compressed latent c [R] and one rotary key [Dr] shared by all heads. Head h has
keys [W_uk[h] c | rotary key] and values W_uv[h] c. *Absorbed*: the query goes into latent space once (W_uk[h]^T q) and
attends to the cache as it lies. *Expanded*: keys and values of every cached token are computed, then attended to.
Absorbed is far cheaper for few queries over a long cache; expanded for many queries, since its heads are narrower.
"""

from __future__ import annotations

import torch
from torch import Tensor

SCORES_LIMIT = 1 << 24  # elements of the score block held at once (64 MB of float32)


def absorbed_is_cheaper(tokens: int, cached: int, nope: int, rope: int, value: int, rank: int) -> bool:
    """Whether the absorbed form takes fewer multiplications a head: tokens queries over cached keys."""
    absorbed = tokens * rank * (nope + value) + tokens * cached * (2 * rank + rope)
    expanded = cached * rank * (nope + value) + tokens * cached * (nope + rope + value)
    return absorbed <= expanded


def absorbed(q: Tensor, q_rope: Tensor, cache: Tensor, w_uk: Tensor, w_uv: Tensor, scaling: float) -> Tensor:
    """q: [T, Hh, Dn], q_rope: [T, Hh, Dr], of the last T of the n cached tokens. cache: [n, R + Dr].

    w_uk: [Hh, Dn, R], w_uv: [Hh, Dv, R]. Returns [T, Hh, Dv] float32. Products run in the dtype of what they read.
    """
    rank = w_uk.shape[2]
    in_latent = torch.bmm(q.transpose(0, 1).to(w_uk.dtype), w_uk).transpose(0, 1)  # [T, Hh, R]
    query = torch.cat((in_latent.to(cache.dtype), q_rope.to(cache.dtype)), dim=2)
    latent = torch.cat([_attend_latent(part, seen, rank, scaling) for part, seen in _blocks(query, cache)])
    out = torch.bmm(latent.transpose(0, 1).to(w_uv.dtype), w_uv.transpose(1, 2))
    return out.transpose(0, 1).float()


def expanded(q: Tensor, q_rope: Tensor, cache: Tensor, w_uk: Tensor, w_uv: Tensor, scaling: float) -> Tensor:
    """The same as `absorbed`, by computing every head's keys and values; one head at a time, to bound memory."""
    rank = w_uk.shape[2]
    latent, k_rope = cache[:, :rank].to(w_uk.dtype), cache[:, rank:].to(w_uk.dtype)
    out = q.new_empty((q.shape[0], q.shape[1], w_uv.shape[1]), dtype=torch.float32)
    for head in range(q.shape[1]):
        key = torch.cat((latent @ w_uk[head].T, k_rope), dim=1)  # [n, Dn + Dr]
        value = latent @ w_uv[head].T  # [n, Dv]
        query = torch.cat((q[:, head], q_rope[:, head]), dim=1).to(key.dtype).unsqueeze(1)
        at = 0
        for part, seen in _blocks(query, key):
            weights = _softmax(part, seen, scaling)
            out[at : at + part.shape[0], head] = (weights @ value[: seen.shape[0]]).squeeze(1)
            at += part.shape[0]
    return out


def _blocks(query: Tensor, keys: Tensor) -> list[tuple[Tensor, Tensor]]:
    """query [T, Hh, D] cut so that scores stay under SCORES_LIMIT; each part with the keys its last token may see."""
    tokens, heads, _ = query.shape
    step = max(1, SCORES_LIMIT // (heads * keys.shape[0]))
    past = keys.shape[0] - tokens
    return [(query[at : at + step], keys[: past + min(at + step, tokens)]) for at in range(0, tokens, step)]


def _softmax(query: Tensor, keys: Tensor, scaling: float) -> Tensor:
    """Causal attention weights of query [T, Hh, D], the last T tokens of keys [n, D]: [T, Hh, n], in keys' dtype."""
    tokens, heads, width = query.shape
    scores = (query.reshape(-1, width) @ keys.T).float().mul_(scaling).view(tokens, heads, -1)
    if tokens > 1:
        future = torch.ones(tokens, tokens, dtype=torch.bool, device=scores.device).triu(1)
        scores[:, :, -tokens:].masked_fill_(future.unsqueeze(1), float("-inf"))
    return scores.softmax(-1).to(keys.dtype)


def _attend_latent(query: Tensor, cache: Tensor, rank: int, scaling: float) -> Tensor:
    """query: [T, Hh, R + Dr]. Returns the mean latent each query sees: [T, Hh, R]."""
    return (_softmax(query, cache, scaling).flatten(0, 1) @ cache[:, :rank]).unflatten(0, query.shape[:2])
