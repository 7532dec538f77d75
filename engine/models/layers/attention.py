"""Grouped-query attention with the variations of its families: norms, windows, sinks, gates, clipping.

The op graph computes up to 16 tokens (engine/models/op_graph), and the native `prefill_attention` those of a prompt. By
torch go single tokens that cannot take the op graph: of families without native ops, and behind an image that turns by
several axes (`attend_one`); images whose tokens see each other, and chosen blocks (`attend_masked`).

`attend_one` goes over cached pieces of keys and values, none of which is copied or put together: each piece is attended
to on its own; outputs are merged by their log-sum-exp, which is exact. `Blocks` is block-sparse attention (MiniMax-M3):
which blocks of tokens a query attends to, chosen for each key head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.kernels.prefill_attention import finish_heads, prefill_attention
from engine.kernels.scratch_pool import SCRATCH
from engine.models.layers.latent_cache import SCORES_LIMIT
from engine.models.layers.norms import build_norm, rms_scale
from engine.models.layers.position_range import PositionRange
from engine.models.layers.state import RecurrentState, RowsState, unpacked
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights, Linear, fetch, load_linear, matrix, ordered
from engine.models.spec import AttentionSpec, BlocksSpec, NormSpec
from engine.native.op_graph import Heads

Piece = tuple[Tensor, ...]  # keys and values [kv_heads, n, head_dim]


class Attention:
    """One attention layer. Queries, keys, values (and gates) come from one stacked projection."""

    def __init__(self, spec: AttentionSpec, weights: CheckpointWeights, hidden: int, dense: WeightFormat) -> None:
        self.spec = spec
        self.qkv = _stacked_projection(spec, weights, dense)
        self.out = load_linear(weights, f"{spec.prefix}.{spec.o}", dense=dense, bias=spec.o_bias)
        self.head_gate = None
        if spec.head_gate is not None:
            self.head_gate = load_linear(weights, f"{spec.prefix}.{spec.head_gate}", dense=dense)
        self.sinks = None if spec.sinks is None else fetch(weights, spec.sinks).float()
        self.blocks = None if spec.blocks is None else Blocks(spec.blocks, weights, dense)
        self._kernel = dense.kernel
        q_scale, k_scale = (
            None if spec.qk_norm is None else _norm_scale(spec, weights, name) for name in (spec.q_norm, spec.k_norm)
        )
        self.heads = Heads(  # for native calls, which are told of the positions
            heads=spec.heads,
            kv_heads=spec.kv_heads,
            dim=spec.head_dim,
            norm=spec.qk_norm,
            eps=spec.qk_norm_eps,
            norm_last=spec.qk_norm_after_rope,
            q_scale=q_scale,
            k_scale=k_scale,
            clip=spec.clip_qkv,
            rope=None,
            interleaved=spec.rope is not None and spec.rope.interleaved,
            norm_values=spec.v_norm,
            reuse_keys=spec.v is None,
        )

    def new_state(self, kv_dtype: torch.dtype) -> RowsState:
        """Empty keys and values, and what its indexer scores."""
        index = [] if self.blocks is None else [(1, self.blocks.spec.head_dim)]
        dtype = kv_dtype if self.spec.packable else unpacked(kv_dtype)
        return RowsState([(self.spec.kv_heads, self.spec.head_dim)] * 2 + index, dtype)

    def forward(self, x: Tensor, span: PositionRange, state: RowsState | RecurrentState) -> Tensor:
        """x: [T, H] float32, normed. Returns [T, H]."""
        assert isinstance(state, RowsState)
        spec = self.spec
        rows = self.qkv(x).view(span.length, -1, spec.head_dim)  # [T, heads + 2 kv_heads (+ heads), head_dim]
        both = spec.heads + spec.kv_heads
        wide = (span.length, spec.kv_heads, spec.head_dim)
        v = SCRATCH.floats(*wide) if spec.v is None else rows[:, both : both + spec.kv_heads]
        rope = None if spec.rope is None else span.rope(spec.rope).halves
        finish_heads(self._kernel, replace(self.heads, rope=rope), rows.view(span.length, -1), v.view(span.length, -1))
        q, k = rows[:, : spec.heads], rows[:, spec.heads : both].transpose(0, 1)
        factor = span.temperature(spec.temperature)
        if factor is not None:
            q = q * factor
        v = v.transpose(0, 1)
        parts = []
        for part in span.chunks(spec.chunk):
            own = slice(part.start - span.start, part.stop - span.start)
            parts.append(self._attended(x[own], q[own], (k[:, own], v[:, own]), part, state))
        out = parts[0] if len(parts) == 1 else torch.cat(parts)
        if spec.gated:
            out = out * rows[:, -spec.heads :].reshape(span.length, -1).sigmoid()
        if self.head_gate is not None:
            out = (out.unflatten(1, (spec.heads, -1)) * self.head_gate(x).sigmoid()[..., None]).flatten(1)
        if spec.value_dim is not None:
            out = out.unflatten(1, (spec.heads, -1))[..., : spec.value_dim].flatten(1)
        return self.out(out)

    def _attended(
        self, x: Tensor, q: Tensor, own: tuple[Tensor, Tensor], span: PositionRange, state: RowsState
    ) -> Tensor:
        spec = self.spec
        first = span.visible_from(spec.window) if spec.chunk is None else span.start // spec.chunk * spec.chunk
        state.append(*own, *([] if self.blocks is None else [self.blocks.keys(x, span)]))
        if self.blocks is not None and not self.blocks.sees_all(span.stop):
            return self.blocks.attend(x, q, state.views(), span, spec.scale)
        if spec.whole_pictures and span.pictures:
            assert spec.window is not None, "see AttentionSpec"
            dtype = unpacked(state.buffers[0].dtype)
            past = [piece[:2] for piece in state.numbers(first, span.start)]
            k, v = (torch.cat([*rows, new.to(dtype)], 1) for *rows, new in zip(*past, own, strict=True))
            return attend_masked(q, k, v, spec.scale, span.window_mask(spec.window, dtype), self.sinks)
        if span.length == 1:
            return attend_one(q, [piece[:2] for piece in state.numbers(first, span.stop)], spec.scale, self.sinks)
        seen = [piece[:2] for piece in state.views(first, span.stop)]
        return prefill_attention(self._kernel, q, seen, spec.scale, spec.window, self.sinks, kept=state)


def _norm_scale(spec: AttentionSpec, weights: CheckpointWeights, name: str | None) -> Tensor:
    """What queries or keys are multiplied by once they are normed."""
    if name is None:
        return torch.ones(spec.head_dim)
    return rms_scale(weights, f"{spec.prefix}.{name}", spec.qk_norm_kind)


def _as_wide(spec: AttentionSpec, values: Tensor) -> Tensor:
    """The values' part of a projection, scaled, its heads filled up with zeros to the width of keys."""
    heads = values.unflatten(0, (spec.kv_heads, spec.value_width)) * spec.value_scale
    wide = heads.new_zeros(spec.kv_heads, spec.head_dim, *heads.shape[2:])
    wide[:, : spec.value_width] = heads
    return wide.flatten(0, 1)


def _stacked_projection(spec: AttentionSpec, weights: CheckpointWeights, dense: WeightFormat) -> Linear:
    """Rows: queries, keys, values (unless they are the keys), gates (if any); each head by head."""
    names = spec.projections
    weight = [matrix(weights, f"{name}.weight") for name in names]
    bias = [fetch(weights, f"{name}.bias") for name in names] if spec.qkv_bias else []
    if not spec.plain_values:
        weight[-1] = _as_wide(spec, fetch(weights, f"{names[-1]}.weight"))
        bias[-1:] = [_as_wide(spec, part) for part in bias[-1:]]
    if spec.gate is not None:
        weight.append(matrix(weights, f"{spec.prefix}.{spec.gate}.weight"))
        bias += [part.new_zeros(spec.heads * spec.head_dim) for part in bias[:1]]
    elif spec.gated:  # q's rows are [query | gate] per head: the gates go last
        both = torch.arange(2 * spec.heads * spec.head_dim).view(spec.heads, 2, spec.head_dim)
        query, gate = both[:, 0].flatten(), both[:, 1].flatten()
        weight = [ordered(weight[0], query), *weight[1:], ordered(weight[0], gate)]
        bias = [*(part[query] for part in bias[:1]), *bias[1:], *(part[gate] for part in bias[:1])]
    return Linear(weight, torch.cat(bias) if bias else None, dense)


def attend_one(q: Tensor, pieces: Sequence[Piece], scale: float, sinks: Tensor | None = None) -> Tensor:
    """One token over everything it sees, itself included.

    q: [1, heads, head_dim] float32. sinks: [heads]. Returns [1, heads * head_dim] float32. Queries that share a
    key head are packed as the rows of one product, which is several times faster than repeating the keys.
    """
    kv_heads = pieces[0][0].shape[0]
    packed = q.view(1, kv_heads, -1, q.shape[-1]).to(pieces[0][0].dtype)  # [1, kv, rep, hd]
    parts = [_flash(packed, k[None], v[None], scale) for k, v in pieces]
    out, lse = _merged(parts)
    if sinks is not None:
        out = out * _share(lse, sinks.view(1, kv_heads, -1))
    return out.reshape(1, -1)


def attend_masked(q: Tensor, k: Tensor, v: Tensor, scale: float, mask: Tensor, sinks: Tensor | None = None) -> Tensor:
    """T tokens over those of N that a mask says.

    q: [T, heads, head_dim] float32. k, v: [kv_heads, N, head_dim]. mask: additive, [T, N] or [kv_heads, 1, T, N], in
    the dtype of the keys; each query sees at least one. sinks: [heads]. Returns [T, heads * head_dim] float32.
    """
    tokens, heads, dim = q.shape
    kv_heads = k.shape[0]
    grouped = q.view(tokens, kv_heads, -1, dim).permute(1, 2, 0, 3).to(k.dtype)  # [kv, rep, T, hd]
    rep = grouped.shape[1]
    # one head's rows for all its queries, stride 0
    keys, values = (rows[:, None].expand(-1, rep, -1, -1) for rows in (k, v))
    out, lse = _flash(grouped, keys, values, scale, mask)
    out = out.float()
    if sinks is not None:
        out = out * _share(lse, sinks.view(kv_heads, rep, 1))
    return out.permute(2, 0, 1, 3).reshape(tokens, heads * dim)


def _flash(q: Tensor, k: Tensor, v: Tensor, scale: float, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """(output, log-sum-exp of the scaled scores); the same kernel as F.scaled_dot_product_attention on the CPU."""
    return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, False, attn_mask=mask, scale=scale)


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


class Blocks:
    """The indexer of one layer. It keeps one key [head_dim] per token, shared by its heads.

    A block scores, for head h and query t, the largest q[t, h] . k[s] of its tokens s up to t; the last `local` blocks
    up to t's own always win. The top_k best are seen, up to t. With no more blocks than top_k that is everything.
    """

    def __init__(self, spec: BlocksSpec, weights: CheckpointWeights, dense: WeightFormat) -> None:
        self.spec = spec
        self.query = load_linear(weights, f"{spec.prefix}.index_q_proj", dense=dense)
        self.key = load_linear(weights, f"{spec.prefix}.index_k_proj", dense=dense)
        self._q_norm, self._k_norm = (
            build_norm(NormSpec(f"{spec.prefix}.index_{x}_norm", spec.norm_eps, spec.norm_kind), weights, spec.head_dim)
            for x in "qk"
        )

    def keys(self, x: Tensor, span: PositionRange) -> Tensor:
        """What later queries score. x: [T, H], the layer's input. Returns [1, T, head_dim]."""
        return span.rope(self.spec.rope).apply(self._k_norm(self.key(x))[:, None]).transpose(0, 1)

    def sees_all(self, stop: int) -> bool:
        """Whether every query among the first `stop` tokens sees all before it."""
        return -(-stop // self.spec.block) <= self.spec.top_k

    def attend(self, x: Tensor, q: Tensor, pieces: Sequence[Piece], span: PositionRange, scale: float) -> Tensor:
        """Queries over what they see. x: [T, H], the layer's input. q: [T, heads, head_dim].

        pieces: keys, values and index keys of all tokens so far. Returns [T, heads * head_dim] float32.
        """
        wanted = self._q_norm(self.query(x).unflatten(1, (self.spec.heads, -1)))
        wanted = span.rope(self.spec.rope).apply(wanted)
        if span.length == 1:
            return self._one(self._chosen(wanted, pieces, span)[:, 0], q, pieces, scale)
        k, v = (torch.cat(rows, 1) for rows in zip(*(piece[:2] for piece in pieces), strict=True))
        step = max(1, SCORES_LIMIT // (self.spec.heads * span.stop))
        parts = []
        for at in range(0, span.length, step):
            part = PositionRange(span.start + at, min(span.start + at + step, span.stop))
            chosen = self._chosen(wanted[at : at + step], pieces, part)
            parts.append(attend_masked(q[at : at + step], k, v, scale, self._mask(chosen, part, k)))
        return torch.cat(parts)

    def _chosen(self, wanted: Tensor, pieces: Sequence[Piece], span: PositionRange) -> Tensor:
        """[heads, T, blocks] bool. wanted: [T, heads, head_dim], the index queries of `span`."""
        spec = self.spec
        queries = wanted.transpose(0, 1)
        scores = torch.cat(
            [torch.matmul(queries.to(keys.dtype), keys.transpose(1, 2)).float() for _, _, keys in pieces], 2
        )
        own = torch.arange(span.start, span.stop)[:, None]
        scores.masked_fill_(torch.arange(scores.shape[2]) > own, float("-inf"))
        count = -(-scores.shape[2] // spec.block)
        scores = F.pad(scores, (0, count * spec.block - scores.shape[2]), value=float("-inf"))
        best = scores.unflatten(2, (count, spec.block)).amax(3)
        near = (own // spec.block - torch.arange(spec.local)).clamp_(min=0)
        best.scatter_(2, near.expand(spec.heads, -1, -1), float("inf"))
        top = best.topk(min(spec.top_k, count), 2)
        return torch.zeros_like(best, dtype=torch.bool).scatter_(2, top.indices, top.values > float("-inf"))

    def _mask(self, chosen: Tensor, span: PositionRange, keys: Tensor) -> Tensor:
        """Additive [heads, 1, T, n] over the n keys there are: 0 where seen, -inf where not."""
        count = keys.shape[1]
        seen = chosen.repeat_interleave(self.spec.block, 2)[:, :, :count]
        seen &= torch.arange(count) <= torch.arange(span.start, span.stop)[:, None]
        return torch.zeros(seen.shape, dtype=keys.dtype).masked_fill_(~seen, float("-inf"))[:, None]

    def _one(self, chosen: Tensor, q: Tensor, pieces: Sequence[Piece], scale: float) -> Tensor:
        """One query: of every key head only the rows that it sees are read. chosen: [heads, blocks]."""
        found = []
        for head, queries in enumerate(q.unflatten(1, (self.spec.heads, -1)).unbind(1)):
            seen = chosen[head].repeat_interleave(self.spec.block)
            at, own = 0, []
            for keys, values, _ in pieces:
                rows = seen[at : at + keys.shape[1]].nonzero()[:, 0]
                at += keys.shape[1]
                if len(rows):
                    own.append((keys[head, rows][None], values[head, rows][None]))
            found.append(attend_one(queries, own, scale))
        return torch.cat(found, 1)
