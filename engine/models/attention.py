"""Grouped-query attention with the variations of its families: norms, windows, sinks, gates, clipping."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from engine.kernels.attend import attend_many
from engine.kernels.heads import finish_many
from engine.kernels.native import NativeKernel
from engine.kernels.rooms import ROOMS
from engine.kernels.tape import Heads
from engine.models.attend import attend_one, attend_span
from engine.models.holding import Holding
from engine.models.norms import rms, rms_scale
from engine.models.rope import RopeTable
from engine.models.span import Span
from engine.models.spec import AttentionSpec
from engine.models.state import RecurrentState, RowsState
from engine.models.weights import Linear, Weights, fetch, load_linear


class Attention:
    """One attention layer. Queries, keys, values (and gates) come from one stacked projection."""

    def __init__(self, spec: AttentionSpec, weights: Weights, hidden: int, dense: Holding) -> None:
        self.spec = spec
        self.qkv = _stacked_projection(spec, weights, dense)
        self.out = load_linear(weights, f"{spec.prefix}.{spec.o}", dense=dense, bias=spec.o_bias)
        self.sinks = None if spec.sinks is None else fetch(weights, spec.sinks).float()
        self._kernel = dense.kernel
        self._eps = torch.tensor(spec.qk_norm_eps)
        self._qk_scale = self.q_scale = self.k_scale = torch.empty(0)
        if spec.qk_norm is not None:
            q = rms_scale(weights, f"{spec.prefix}.{spec.q_norm}", spec.qk_norm_kind)
            k = rms_scale(weights, f"{spec.prefix}.{spec.k_norm}", spec.qk_norm_kind)
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
        """Empty keys and values."""
        return RowsState([(self.spec.kv_heads, self.spec.head_dim)] * 2, kv_dtype)

    def forward(self, x: Tensor, span: Span, state: RowsState | RecurrentState) -> Tensor:
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
        out = self._attended(q, (k, v.transpose(0, 1)), span, state)
        if spec.gated:
            out = out * rows[:, -spec.heads :].reshape(span.length, -1).sigmoid()
        return self.out(out)

    def _finished(self, kernel: NativeKernel, rows: Tensor, v: Tensor, rope: RopeTable | None) -> Tensor:
        """As `_prepared`, queries and keys where they lie in `rows`; returns the values."""
        spec, tokens = self.spec, len(rows)
        if spec.v is None:
            v = ROOMS.floats(*v.shape)
        heads = replace(self.heads, rope=None if rope is None else rope.halves)
        finish_many(kernel, heads, rows.view(tokens, -1), v.view(tokens, -1))
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

    def _attended(self, q: Tensor, own: tuple[Tensor, Tensor], span: Span, state: RowsState) -> Tensor:
        spec = self.spec
        first = span.visible_from(spec.window)
        if span.length == 1:
            state.append(*own)
            return attend_one(q, state.views(first), spec.scale, self.sinks)
        if self._kernel is not None:
            state.append(*own)
            return attend_many(self._kernel, q, state.views(first), spec.scale, spec.window, self.sinks)
        past = state.views(first)
        state.append(*own)
        dtype = state.buffers[0].dtype
        masked = spec.window is not None and span.stop > spec.window
        mask = span.window_mask(spec.window, dtype) if masked and spec.window is not None else None
        return attend_span(q, (own[0].to(dtype), own[1].to(dtype)), past, spec.scale, mask, self.sinks)


def _stacked_projection(spec: AttentionSpec, weights: Weights, dense: Holding) -> Linear:
    """Rows: queries, keys, values (unless they are the keys), gates (if any); each head by head."""
    names = [f"{spec.prefix}.{name}" for name in (spec.q, spec.k, spec.v) if name is not None]
    weight = [fetch(weights, f"{name}.weight") for name in names]
    bias = [fetch(weights, f"{name}.bias") for name in names] if spec.qkv_bias else []
    if spec.gated:  # q's rows are [query | gate] per head: the gates go last
        for parts in (weight, bias):
            if parts:
                query, gate = parts[0].unflatten(0, (spec.heads, 2, spec.head_dim)).unbind(1)
                parts[0] = query.flatten(0, 1)
                parts.append(gate.flatten(0, 1))
    return Linear(weight, torch.cat(bias) if bias else None, dense)
