"""Block-sparse attention (MiniMax-M3): which blocks of tokens a query attends to, chosen for each key head."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.models.layers.latent_cache import SCORES_LIMIT
from engine.models.layers.norms import build_norm
from engine.models.layers.position_range import PositionRange
from engine.models.layers.prefill_attention import Piece, attend_one, attend_span
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights, load_linear
from engine.models.spec import BlocksSpec, NormSpec


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
        own = tuple(torch.cat(rows, 1) for rows in zip(*(piece[:2] for piece in pieces), strict=True))
        step = max(1, SCORES_LIMIT // (self.spec.heads * span.stop))
        parts = []
        for at in range(0, span.length, step):
            part = PositionRange(span.start + at, min(span.start + at + step, span.stop))
            chosen = self._chosen(wanted[at : at + step], pieces, part)
            parts.append(attend_span(q[at : at + step], own, (), scale, self._mask(chosen, part, own[0])))
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
