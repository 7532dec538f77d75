"""Softmax attention of a span over cached pieces of keys and values, none of which is copied or put together.

Each piece is attended to on its own; outputs are merged by their log-sum-exp, which is exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

Piece = tuple[Tensor, ...]  # keys and values [kv_heads, n, head_dim]


def attend_one(q: Tensor, pieces: Sequence[Piece], scale: float, sinks: Tensor | None = None) -> Tensor:
    """One token over everything it sees, itself included.

    q: [1, heads, head_dim] float32. sinks: [heads]. Returns [1, heads * head_dim] float32. Queries that share a
    key head are packed as the rows of one product, which is several times faster than repeating the keys.
    """
    kv_heads = pieces[0][0].shape[0]
    packed = q.view(1, kv_heads, -1, q.shape[-1]).to(pieces[0][0].dtype)  # [1, kv, rep, hd]
    parts = [_flash(packed, k[None], v[None], scale, False, None) for k, v in pieces]
    out, lse = _merged(parts)
    if sinks is not None:
        out = out * _share(lse, sinks.view(1, kv_heads, -1))
    return out.reshape(1, -1)


def attend_span(
    q: Tensor, own: Piece, past: Sequence[Piece], scale: float, mask: Tensor | None = None, sinks: Tensor | None = None
) -> Tensor:
    """T tokens over themselves (causally) and the past.

    q: [T, heads, head_dim] float32. own: the span's keys and values. past: pieces before it. mask: None where all of
    the past is seen; otherwise additive [T, past + T] over past and own together, in the dtype of the keys.
    sinks: [heads]. Returns [T, heads * head_dim] float32.
    """
    tokens, heads, dim = q.shape
    kv_heads = own[0].shape[0]
    grouped = q.view(tokens, kv_heads, -1, dim).permute(1, 2, 0, 3).to(own[0].dtype)  # [kv, rep, T, hd]
    rep = grouped.shape[1]

    def shared(rows: Tensor) -> Tensor:
        return rows[:, None].expand(-1, rep, -1, -1)  # one head's rows for all its queries, stride 0

    if mask is None:
        parts = [_flash(grouped, shared(k), shared(v), scale, False, None) for k, v in past]
        parts.append(_flash(grouped, shared(own[0]), shared(own[1]), scale, True, None))
    else:
        # a window: few enough rows to put together, and then no query is left without a key in any piece
        k, v = (torch.cat(rows, 1) for rows in zip(*past, own, strict=True))
        parts = [_flash(grouped, shared(k), shared(v), scale, False, mask)]
    out, lse = _merged(parts)
    if sinks is not None:
        out = out * _share(lse, sinks.view(kv_heads, rep, 1))
    return out.permute(2, 0, 1, 3).reshape(tokens, heads * dim)


def _flash(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """(output, log-sum-exp of the scaled scores); the same kernel as F.scaled_dot_product_attention on the CPU."""
    return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, causal, attn_mask=mask, scale=scale)


def _merged(parts: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """Attention over the union of the pieces, in float32."""
    if len(parts) == 1:
        out, lse = parts[0]
        return out.float(), lse
    lse = torch.stack([part[1] for part in parts])  # [pieces, ...]
    total = lse.logsumexp(0)
    shares = (lse - total).exp_()[..., None]
    out = parts[0][0] * shares[0]
    for (piece, _), share in zip(parts[1:], shares[1:], strict=True):
        out = torch.addcmul(out, piece.float(), share)
    return out, total


def _share(lse: Tensor, sinks: Tensor) -> Tensor:
    """What is left of the softmax for the tokens when an extra logit takes part in it."""
    return torch.sigmoid(lse - sinks)[..., None]
