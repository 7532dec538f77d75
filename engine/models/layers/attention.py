"""Grouped-query attention with the variations of its families: norms, windows, sinks, gates, clipping."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from engine.kernels.native import NativeKernel
from engine.kernels.prefill_attention import finish_heads, prefill_attention
from engine.kernels.scratch_pool import SCRATCH
from engine.models.layers.block_sparse import Blocks
from engine.models.layers.norms import rms, rms_scale
from engine.models.layers.position_range import PositionRange
from engine.models.layers.prefill_attention import attend_one, attend_span
from engine.models.layers.rope import RopeTable
from engine.models.layers.state import RecurrentState, RowsState
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights, Linear, fetch, load_linear, matrix, ordered
from engine.models.spec import AttentionSpec
from engine.native.op_graph import Heads


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
        self._eps = torch.tensor(spec.qk_norm_eps)
        self._qk_scale = self.q_scale = self.k_scale = torch.empty(0)
        if spec.qk_norm is not None:
            q, k = (_norm_scale(spec, weights, name) for name in (spec.q_norm, spec.k_norm))
            self.q_scale, self.k_scale = q, k
            if spec.qk_norm == "head":  # [heads + kv_heads, head_dim]: one product norms both
                self._qk_scale = torch.cat((q.expand(spec.heads, -1), k.expand(spec.kv_heads, -1)))
        scaled = spec.qk_norm is not None
        self.heads = Heads(  # for native calls, which are told of the positions
            spec.heads, spec.kv_heads, spec.head_dim, spec.qk_norm, spec.qk_norm_eps, spec.qk_norm_after_rope,
            self.q_scale if scaled else None, self.k_scale if scaled else None, spec.clip_qkv, None,
            spec.rope is not None and spec.rope.interleaved, spec.v_norm, spec.v is None,
        )  # fmt: skip

    def new_state(self, kv_dtype: torch.dtype) -> RowsState:
        """Empty keys and values, and what its indexer scores."""
        index = [] if self.blocks is None else [(1, self.blocks.spec.head_dim)]
        return RowsState([(self.spec.kv_heads, self.spec.head_dim)] * 2 + index, kv_dtype)

    def forward(self, x: Tensor, span: PositionRange, state: RowsState | RecurrentState) -> Tensor:
        """x: [T, H] float32, normed. Returns [T, H]."""
        assert isinstance(state, RowsState)
        spec = self.spec
        rows = self.qkv(x).view(span.length, -1, spec.head_dim)  # [T, heads + 2 kv_heads (+ heads), head_dim]
        both = spec.heads + spec.kv_heads
        qk = rows[:, :both]
        v = rows[:, spec.heads : both] if spec.v is None else rows[:, both : both + spec.kv_heads]
        rope = None if spec.rope is None else span.rope(spec.rope)
        if self._kernel is not None and span.length > 1:
            v = self._finished(self._kernel, rows, v, rope)
        else:
            qk, v = self._prepared(qk, v, rope)
        q, k = qk[:, : spec.heads], qk[:, spec.heads :].transpose(0, 1)
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

    def _finished(self, kernel: NativeKernel, rows: Tensor, v: Tensor, rope: RopeTable | None) -> Tensor:
        """As `_prepared`, queries and keys where they lie in `rows`; returns the values."""
        spec, tokens = self.spec, len(rows)
        if spec.v is None:
            v = SCRATCH.floats(*v.shape)
        heads = replace(self.heads, rope=None if rope is None else rope.halves)
        finish_heads(kernel, heads, rows.view(tokens, -1), v.view(tokens, -1))
        return v

    def _prepared(self, qk: Tensor, v: Tensor, rope: RopeTable | None) -> tuple[Tensor, Tensor]:
        """Norms, clipping and rope, in the order of the family."""
        spec = self.spec
        if spec.qk_norm is not None and not spec.qk_norm_after_rope:
            qk = self._normed(qk)
        if spec.clip_qkv is not None:
            qk, v = qk.clamp(-spec.clip_qkv, spec.clip_qkv), v.clamp(-spec.clip_qkv, spec.clip_qkv)
        if rope is not None:
            qk = rope.apply(qk)
        if spec.qk_norm is not None and spec.qk_norm_after_rope:
            qk = self._normed(qk)
        if spec.v_norm:
            v = rms(v, self._eps)
        return qk, v

    def _normed(self, qk: Tensor) -> Tensor:
        spec = self.spec
        if spec.qk_norm == "head":
            return rms(qk, self._eps, self._qk_scale)
        parts = ((qk[:, : spec.heads], self.q_scale), (qk[:, spec.heads :], self.k_scale))
        normed = [rms(part.flatten(1), self._eps, scale) for part, scale in parts]
        return torch.cat(normed, 1).view(qk.shape)

    def _attended(
        self, x: Tensor, q: Tensor, own: tuple[Tensor, Tensor], span: PositionRange, state: RowsState
    ) -> Tensor:
        spec = self.spec
        first = span.visible_from(spec.window) if spec.chunk is None else span.start // spec.chunk * spec.chunk
        state.append(*own, *([] if self.blocks is None else [self.blocks.keys(x, span)]))
        if self.blocks is not None and not self.blocks.sees_all(span.stop):
            return self.blocks.attend(x, q, state.views(), span, spec.scale)
        past, seen = ([piece[:2] for piece in state.views(first, stop)] for stop in (span.start, span.stop))
        if span.length == 1:
            return attend_one(q, seen, spec.scale, self.sinks)
        if self._kernel is not None:
            return prefill_attention(self._kernel, q, seen, spec.scale, spec.window, self.sinks)
        dtype = state.buffers[0].dtype
        masked = spec.window is not None and span.stop > spec.window
        mask = span.window_mask(spec.window, dtype) if masked and spec.window is not None else None
        return attend_span(q, (own[0].to(dtype), own[1].to(dtype)), past, spec.scale, mask, self.sinks)


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
