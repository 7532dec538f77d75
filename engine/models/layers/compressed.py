"""Attention to a window and to compressed entries of what lies before it (DeepSeek-V4, sections 2.3.1 and 2.3.2).

It has no native ops: torch computes prompts and single tokens alike.
"""

from __future__ import annotations

import torch
from torch import Tensor

from engine.models.layers.attention import attend_masked, attend_one
from engine.models.layers.latent_cache import SCORES_LIMIT
from engine.models.layers.linear import Linear
from engine.models.layers.norms import build_norm, rms
from engine.models.layers.position_range import PositionRange
from engine.models.layers.rope import RopeTable, rope_table
from engine.models.layers.state import ChunkedRows, CompressedState, LayerState, unpacked
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights, fetch, load_linear
from engine.models.spec import CompressedSpec, EntriesSpec, NormSpec


class Compressor:
    """Makes one entry [dim] of every `ratio` tokens: a sum of what they give, weighed channel by channel by a softmax.

    Where they overlap, the tokens of the window before take part with a second row of theirs. An entry turns by the
    position of its first token.
    """

    def __init__(self, spec: EntriesSpec, weights: CheckpointWeights, dense: WeightFormat) -> None:
        self.spec = spec
        self.width = 2 * spec.dim * (2 if spec.overlaps else 1)  # of what a token gives, and how it weighs
        self._project = load_linear(weights, f"{spec.prefix}.wkv", f"{spec.prefix}.wgate", dense=dense)
        self._places = fetch(weights, f"{spec.prefix}.ape").float()
        self._norm = build_norm(NormSpec(f"{spec.prefix}.norm", spec.norm_eps), weights, spec.dim)

    @property
    def kept(self) -> int:
        """Tokens, the most, whose rows are still wanted once their entry is there."""
        return self.spec.ratio * (2 if self.spec.overlaps else 1)

    def forward(self, x: Tensor, span: PositionRange, tail: Tensor) -> tuple[Tensor, Tensor]:
        """Entries [1, n, dim] that end in this span, and the rows that the next one wants.

        x: [T, H]. tail: the rows [t, width] that came before and are still wanted.
        """
        ratio, dim = self.spec.ratio, self.spec.dim
        rows = torch.cat((tail, self._project(x)))
        begin = span.stop - len(rows)
        first, last = span.start // ratio, span.stop // ratio
        wanted = max(0, last - 1 if self.spec.overlaps else last) * ratio - begin
        whole = rows[: last * ratio - begin].unflatten(0, (-1, ratio))
        given, weights = whole.split(self.width // 2, 2)
        weights = weights + self._places
        if self.spec.overlaps:
            given, weights = _with_before(given, dim, 0.0), _with_before(weights, dim, float("-inf"))
        new = slice(len(given) - (last - first), None)
        entries = self._norm((given[new] * weights[new].softmax(1)).sum(1))
        table = rope_table(self.spec.rope, first * ratio, last * ratio, span.horizon, ratio)
        return _turned(table, entries[:, None]).transpose(0, 1), rows[wanted:].clone()


def _with_before(windows: Tensor, dim: int, nothing: float) -> Tensor:
    """[n, 2 ratio, dim]: the first halves of the rows of the window before, then the second halves of its own."""
    before = torch.cat((torch.full_like(windows[:1, :, :dim], nothing), windows[:-1, :, :dim]))
    return torch.cat((before, windows[:, :, dim:]), 1)


class Compressed:
    """The attention of one layer: keys that are values, one head of them, turned back once they are mixed."""

    def __init__(self, spec: CompressedSpec, weights: CheckpointWeights, hidden: int, dense: WeightFormat) -> None:
        def linear(name: str) -> Linear:
            return load_linear(weights, f"{spec.prefix}.{name}", dense=dense)

        self.spec = spec
        self.q_down, self.q_up, self.kv = linear("wq_a"), linear("wq_b"), linear("wkv")
        self.q_norm = build_norm(NormSpec(f"{spec.prefix}.q_norm", spec.norm_eps), weights, spec.q_rank)
        self.kv_norm = build_norm(NormSpec(f"{spec.prefix}.{spec.kv_norm}", spec.norm_eps), weights, spec.head_dim)
        groups = fetch(weights, f"{spec.prefix}.wo_a.weight").chunk(spec.groups)
        self.groups = [Linear(weight.contiguous(), None, dense) for weight in groups]
        self.out = linear("wo_b")
        self.sinks = fetch(weights, f"{spec.prefix}.attn_sink").float()
        self._eps = torch.tensor(spec.norm_eps)
        self.compressors = [Compressor(own, weights, dense) for own in spec.compressed]
        self.chooser = None
        if spec.index is not None:
            self.chooser = (
                linear("indexer.wq_b"),
                load_linear(weights, f"{spec.prefix}.indexer.weights_proj", dense=dense.exact),
            )

    def new_state(self, kv_dtype: torch.dtype) -> CompressedState:
        """The rows of the window, those that are not compressed yet, and the entries: of keys, then of the indexer."""
        shapes = [(0, self.spec.head_dim), *((0, own.width) for own in self.compressors)]
        ratio = self.spec.compressed[0].ratio if self.spec.compressed else 1
        return CompressedState(shapes, [own.spec.dim for own in self.compressors], ratio, unpacked(kv_dtype))

    def forward(self, x: Tensor, span: PositionRange, state: LayerState) -> Tensor:
        """x: [T, H] float32, normed. Returns [T, H] float32."""
        assert isinstance(state, CompressedState)
        spec, table = self.spec, span.rope(self.spec.rope)
        latent = self.q_norm(self.q_down(x))
        q = rms(self.q_up(latent).unflatten(1, (spec.heads, spec.head_dim)), self._eps)
        q, row = _turned(table, q), _turned(table, self.kv_norm(self.kv(x))[:, None])[:, 0]
        window = torch.cat((state.tensors[0], row))
        state.tensors[0] = window[-(spec.window - 1) :].clone() if spec.window > 1 else row[:0]
        for at, compressor in enumerate(self.compressors):
            entries, state.tensors[at + 1] = compressor.forward(x, span, state.tensors[at + 1])
            state.buffers[at].append(entries)
        wanted = None
        if self.chooser is not None and spec.index is not None and state.buffers[1].length > spec.index.top_k:
            query, weigh = self.chooser
            wanted = query(latent).unflatten(1, (spec.index.heads, -1))
            wanted = _turned(table, wanted), weigh(x) * (spec.index.heads * self.compressors[1].spec.dim) ** -0.5
        mixed = (self._one if span.length == 1 else self._many)(q, wanted, window, span, state)
        turned_back = _turned(table, mixed.unflatten(1, (spec.heads, -1)), back=True).flatten(1)
        parts = zip(self.groups, turned_back.chunk(spec.groups, 1), strict=True)
        return self.out(torch.cat([group(part.contiguous()) for group, part in parts], 1))

    def _one(
        self,
        q: Tensor,
        wanted: tuple[Tensor, Tensor] | None,
        window: Tensor,
        span: PositionRange,
        state: CompressedState,
    ) -> Tensor:
        """One query: of the entries, only those that it sees are read."""
        own = window[-self.spec.window :].to(state.dtype)[None]
        pieces = [own]
        if self.compressors:
            pieces += state.buffers[0].views()
        if wanted is not None:
            seen = self._chosen(wanted, span, state.buffers[1])[0]
            pieces, at = [own], 0
            for entries in state.buffers[0].views():
                pieces.append(entries[:, seen[at : at + entries.shape[1]]])
                at += entries.shape[1]
        return attend_one(
            q, [(piece, piece) for piece in pieces if piece.shape[1]], self.spec.head_dim**-0.5, self.sinks
        )

    def _many(
        self,
        q: Tensor,
        wanted: tuple[Tensor, Tensor] | None,
        window: Tensor,
        span: PositionRange,
        state: CompressedState,
    ) -> Tensor:
        spec = self.spec
        entries = state.buffers[0].views() if self.compressors else []
        keys = torch.cat([window.to(state.dtype)[None], *entries], 1)
        step = max(1, SCORES_LIMIT // keys.shape[1])
        parts = []
        for at in range(0, span.length, step):
            part = PositionRange(span.start + at, min(span.start + at + step, span.stop))
            own = slice(at, at + part.length)
            positions = torch.arange(part.start, part.stop)[:, None]
            near = torch.arange(span.stop - len(window), span.stop)
            seen = (near <= positions) & (near > positions - spec.window)
            if entries:
                chosen = None if wanted is None else (wanted[0][own], wanted[1][own])
                seen = torch.cat((seen, self._seen(chosen, part, state)), 1)
            mask = torch.zeros(seen.shape, dtype=keys.dtype).masked_fill_(~seen, float("-inf"))
            parts.append(attend_masked(q[own], keys, keys, spec.head_dim**-0.5, mask, self.sinks))
        return torch.cat(parts)

    def _seen(self, wanted: tuple[Tensor, Tensor] | None, span: PositionRange, state: CompressedState) -> Tensor:
        """[T, n] bool, of the n entries: those that ended before a query or with it, and were chosen."""
        if wanted is not None:
            return self._chosen(wanted, span, state.buffers[1])
        return torch.arange(state.buffers[0].length) < self._ended(span)

    def _ended(self, span: PositionRange) -> Tensor:
        """How many entries there are for each query [T, 1]."""
        return torch.arange(span.start + 1, span.stop + 1)[:, None] // self.spec.compressed[0].ratio

    def _chosen(self, wanted: tuple[Tensor, Tensor], span: PositionRange, entries: ChunkedRows) -> Tensor:
        """[T, n] bool. wanted: index queries [T, heads, dim], and what each weighs [T, heads]. See Indexer."""
        assert self.spec.index is not None
        q, weights = wanted
        keys = torch.cat(entries.views(), 1)[0]
        ended = self._ended(span)
        step = max(1, SCORES_LIMIT // (self.spec.index.heads * len(keys)))
        found = []
        for at in range(0, span.length, step):
            own = slice(at, at + step)
            scores = torch.matmul(q[own].to(keys.dtype), keys.T).float().relu_()
            index = torch.matmul(weights[own, None], scores)[:, 0]
            future = torch.arange(len(keys)) >= ended[own]
            index.masked_fill_(future, float("-inf"))
            best = torch.zeros_like(future).scatter_(1, index.topk(self.spec.index.top_k, 1).indices, True)
            found.append(best & ~future)
        return torch.cat(found)


def _turned(table: RopeTable, x: Tensor, *, back: bool = False) -> Tensor:
    """x [T, heads, dim] with its last dimensions rotated, or rotated back."""
    rest, last = x[..., : -table.dim], x[..., -table.dim :]
    return torch.cat((rest, table.undo(last) if back else table.apply(last)), -1)
