"""The indexer of sparse attention (DeepSeek-V3.2, section 2.1): which of the tokens before it a query attends to."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.models.layers.latent_cache import SCORES_LIMIT
from engine.models.layers.position_range import PositionRange
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights, load_linear, vector
from engine.models.spec import IndexerSpec


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
