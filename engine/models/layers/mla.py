"""Multi-head latent attention (DeepSeek-V2/V3, GLM-4.7-Flash): a cache of one latent and one rotary key a token.

Torch computes prompts of more than 16 tokens, and, with an indexer, a temperature or no rotation, which have no native
ops, all; the op graph the rest (`latent_attend` in engine/native/mixer_ops.py).
"""

from __future__ import annotations

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.models.layers.latent_cache import SCORES_LIMIT, absorbed, absorbed_is_cheaper, expanded
from engine.models.layers.linear import Linear
from engine.models.layers.norms import Norm, build_norm
from engine.models.layers.position_range import PositionRange
from engine.models.layers.state import LayerState, RowsState, unpacked
from engine.models.layers.weight_format import BITS, WeightFormat
from engine.models.layers.weights import CheckpointWeights, fetch, load_linear, vector
from engine.models.spec import IndexerSpec, MlaSpec, NormSpec
from engine.record.layout import ROWS_PER_TILE


class Mla:
    """The attention of one layer. Its state is one row [latent | rotary key] per token, shared by all heads."""

    def __init__(self, spec: MlaSpec, weights: CheckpointWeights, hidden: int, dense: WeightFormat) -> None:
        def linear(name: str, bias: bool = False) -> Linear:
            return load_linear(weights, f"{spec.prefix}.{name}", dense=dense, bias=bias)

        def norm(name: str, dim: int) -> Norm:
            return build_norm(NormSpec(f"{spec.prefix}.{name}", spec.norm_eps), weights, dim)

        self.spec = spec
        self.q_down: Linear | None = None
        if spec.q_rank is None:
            self.q_up, self.q_norm = linear("q_proj"), build_norm(None, weights, hidden)
        else:
            self.q_down, self.q_norm = linear("q_a_proj", spec.a_bias), norm("q_a_layernorm", spec.q_rank)
            self.q_up = linear("q_b_proj")
        self.kv_down = linear("kv_a_proj_with_mqa", spec.a_bias)
        self.kv_norm = norm("kv_a_layernorm", spec.kv_rank)
        if spec.latent_scale != 1.0:
            assert self.kv_norm.scale is not None
            self.kv_norm = replace(self.kv_norm, scale=self.kv_norm.scale * spec.latent_scale)
        own = spec.indexer is not None and not spec.indexer.shared
        self.indexer = Indexer(spec.indexer, weights, dense) if own and spec.indexer is not None else None
        # as what takes a query into latent space, and what it finds there out of it, head below head
        kv_up = fetch(weights, f"{spec.prefix}.kv_b_proj.weight").unflatten(0, (spec.heads, -1))
        w_uk, w_uv = kv_up.split((spec.nope_dim, spec.v_dim), dim=1)
        self.to_latent = _by_head(w_uk.transpose(1, 2), dense)  # [heads * kv_rank, nope_dim]
        self.from_latent = _by_head(w_uv, dense)  # [heads * v_dim, kv_rank]
        self.out = linear("o_proj", spec.o_bias)

    def new_state(self, kv_dtype: torch.dtype) -> RowsState:
        """Empty cache: one row [kv_rank + rope_dim] a token, and what its indexer scores."""
        index = [] if self.indexer is None else [(1, self.indexer.spec.head_dim)]
        return RowsState([(1, self.spec.kv_rank + self.spec.rope_dim), *index], unpacked(kv_dtype))

    def forward(self, x: Tensor, span: PositionRange, state: LayerState) -> Tensor:
        """x: [T, H] float32, normed. Returns [T, H] float32; adds T rows to `state`."""
        assert isinstance(state, RowsState)
        spec = self.spec
        table = None if spec.rope is None else span.rope(spec.rope)
        down = self.q_norm(x if self.q_down is None else self.q_down(x))
        queries = self.q_up(down).unflatten(1, (spec.heads, -1))
        factor = span.temperature(spec.temperature)
        if factor is not None:
            queries = queries * factor
        q, q_rope = queries.split((spec.nope_dim, spec.rope_dim), dim=2)
        latent, k_rope = self.kv_down(x).split((spec.kv_rank, spec.rope_dim), dim=1)
        if table is not None:
            q_rope, k_rope = table.apply(q_rope), table.apply(k_rope.unsqueeze(1)).squeeze(1)
        rows = torch.cat((self.kv_norm(latent), k_rope), dim=1)
        index = () if self.indexer is None else (self.indexer.keys(x, span),)
        state.append(rows.unsqueeze(0), *index)
        views = state.views(0, span.stop)
        cache = [piece[0].squeeze(0) for piece in views]
        if self.indexer is not None:
            keys = torch.cat([piece[1].squeeze(0) for piece in views])
            span.seen = self.indexer.seen(x, down, span, keys)
        seen = None if spec.indexer is None else span.seen
        if seen is not None and span.length == 1:  # of one query only the rows that it sees are read
            cache, seen = [torch.cat(cache)[seen[0]]], None
        cheaper = absorbed_is_cheaper(span.length, span.stop, spec.nope_dim, spec.rope_dim, spec.v_dim, spec.kv_rank)
        form = absorbed if cheaper else expanded
        w_uk, w_uv = self._matrices(self.to_latent).transpose(1, 2), self._matrices(self.from_latent)
        mixed = form(q, q_rope, cache, w_uk, w_uv, spec.scale, seen=seen)
        return self.out(mixed.flatten(1))

    def _matrices(self, linear: Linear) -> Tensor:
        """One matrix for every head [heads, rows, cols], float32 or bf16."""
        if linear.weight.dtype in (torch.float32, torch.bfloat16):
            return linear.weight.unflatten(0, (self.spec.heads, -1))
        columns = linear(torch.eye(linear.in_features))  # by whole tiles: ten times as fast as row after row
        return columns.T.bfloat16().unflatten(0, (self.spec.heads, -1))


def _by_head(weight: Tensor, dense: WeightFormat) -> Linear:
    """weight: [heads, rows, cols]. Tiles where they are whole for every head, else bf16: each head is a matrix of its
    own."""
    if dense.kind in BITS and weight.shape[1] % ROWS_PER_TILE:
        dense = replace(dense, kind="bf16")
    return Linear(weight.flatten(0, 1), None, dense)


class Indexer:
    """The indexer of one layer. It keeps one key [head_dim] per token, shared by its heads.

    score of token s for query t: sum over heads of w[t, h] * relu(q[t, h] . k[s] / sqrt(head_dim)) / sqrt(heads); the
    top_k best of those before t and t itself are seen. Up to top_k tokens that is all of them.
    """

    def __init__(self, spec: IndexerSpec, weights: CheckpointWeights, dense: WeightFormat) -> None:
        self.spec = spec
        self.query = load_linear(weights, f"{spec.prefix}.wq_b", dense=dense)
        self.key = load_linear(weights, f"{spec.prefix}.wk", dense=dense)
        self.weigh = load_linear(weights, f"{spec.prefix}.weights_proj", dense=dense.exact)
        self._scale = vector(weights, f"{spec.prefix}.k_norm.weight")
        self._shift = vector(weights, f"{spec.prefix}.k_norm.bias")

    def keys(self, x: Tensor, span: PositionRange) -> Tensor:
        """What later queries score. x: [T, H], the layer's input. Returns [1, T, head_dim]."""
        spec = self.spec
        normed = F.layer_norm(self.key(x), (spec.head_dim,), self._scale, self._shift, spec.norm_eps)
        return span.rope(spec.rope).apply(normed[:, None]).transpose(0, 1)

    def seen(self, x: Tensor, latent: Tensor, span: PositionRange, keys: Tensor) -> Tensor | None:
        """[T, n] bool: what each query attends to of the n = span.stop tokens; None where that is all before it.

        x: [T, H]. latent: [T, q_rank], the normed latent of the queries. keys: [n, head_dim], of all tokens so far.
        """
        spec, n = self.spec, span.stop
        if n <= spec.top_k:
            return None
        q = span.rope(spec.rope).apply(self.query(latent).unflatten(1, (spec.heads, spec.head_dim)))
        weights = self.weigh(x) * spec.heads**-0.5
        positions = torch.arange(n)
        found = torch.empty(span.length, n, dtype=torch.bool)
        step = max(1, SCORES_LIMIT // (spec.heads * n))
        for at in range(0, span.length, step):
            part = slice(at, at + step)
            scores = torch.matmul(q[part].to(keys.dtype), keys.T).float().mul_(spec.head_dim**-0.5).relu_()
            index = torch.matmul(weights[part, None], scores)[:, 0]  # [t, n]
            future = positions > torch.arange(span.start + at, span.start + at + len(index))[:, None]
            index.masked_fill_(future, float("-inf"))
            chosen = torch.zeros_like(future).scatter_(1, index.topk(spec.top_k, -1).indices, True)
            found[part] = chosen & ~future
        return found
