"""The lean decoder: one model of any family that a spec describes; a prompt, or a token of each of some sequences."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Literal, Protocol

import torch
from torch import Tensor

from engine.experts.backend import ExpertBackend, ExpertPass, run_side_by_side, stepper
from engine.kernels.native import NativeKernel
from engine.models.layers.feed_forward import PerLayerInputs
from engine.models.layers.layer import Layer
from engine.models.layers.norms import build_norm
from engine.models.layers.position_range import PositionRange
from engine.models.layers.state import SequenceState
from engine.models.layers.streams import Streams
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights, Linear, fetch, looked_up, matrix
from engine.models.op_graph.executor import GraphExecutor, UnsupportedOp, build_graph
from engine.models.shapes import CheckedWeights
from engine.models.spec import AttentionSpec, DecoderSpec, LayerSpec, MlaSpec
from engine.models.vision.positions import positions
from engine.models.vision.tokens import has_pictures, spans
from engine.native.library import MatrixView
from engine.native.op_graph import OpGraph
from engine.translatable import NO_TEXT, Translatable, msg

Want = Literal["last", "next", "all", "none"]


class PictureRows(Protocol):
    """What stands for pictures among embedded tokens (vision/pictures.py)."""

    def rows(self, ids: Tensor) -> Tensor:
        """[1 + D, N, hidden] float32 for ids of whole pictures, all below zero. ids: [N].

        First what is embedded, then what is added to it behind each of the first D layers.
        """

    def grid(self, first: int) -> tuple[int, int]:
        """Rows and columns of the picture whose first id this is."""


class Decoder:
    """A causal language model. The residual stream is float32 whatever the weights are held as.

    most_tokens: that a new sequence makes room for ahead of need (see ChunkedRows.most).
    pictures: what stands for ids below zero, which may be fed once this is there, each picture whole (vision/tokens).
    passed: told of tokens that went through all layers: their sequences, ids, and what came of them [T, H], to be
    looked at before the next pass. norm, head: what makes logits of that.
    """

    def __init__(
        self,
        spec: DecoderSpec,
        weights: CheckpointWeights,
        experts: ExpertBackend,
        dense: WeightFormat,
        kv_dtype: torch.dtype = torch.float32,
    ) -> None:
        """dense: how linear layers, the head and small tables are held, and what multiplies with them.
        kv_dtype: of the keys and values of new sequences: float32, bfloat16, or int8 (native/kv_rows.py) where a layer
        can be held so, which else is bfloat16. It may be changed: sequences of another are read again.

        Raises UnderhillError: BROKEN_FILE for weights of other shapes than the spec's, and what `fetch` raises.
        """
        self.spec = spec
        self.kv_dtype = kv_dtype
        self.most_tokens = sys.maxsize
        self.pictures: PictureRows | None = None
        self.passed: Callable[[Sequence[SequenceState], Sequence[int], Tensor], None] | None = None
        weights = CheckedWeights(weights, spec)
        shared = spec.head is None and dense.table in (None, dense.for_head.kind)
        table = None if shared else looked_up(weights, f"{spec.embedding}.weight", dense)
        head = matrix(weights, f"{spec.head or spec.embedding}.weight")
        if spec.head_normed:
            head = _normed(fetch(weights, f"{spec.head}.weight"))
        bias = fetch(weights, f"{spec.head or spec.embedding}.bias") if spec.head_bias else None
        self.head = Linear(head, bias, dense.for_head)
        self.embedding = table or self.head
        del head
        self.layers = [Layer(layer, weights, spec.hidden, dense) for layer in spec.layers]
        self._experts = experts
        self.norm = build_norm(spec.norm, weights, spec.hidden)
        self._streams = None if spec.streams is None else Streams(spec.streams, weights)
        self._switches = {at for layer in spec.layers for at in _rope_switches(layer)}
        self._by_axes = any(_axes(layer) for layer in spec.layers)
        own = spec.per_layer_inputs
        self._per_layer_inputs = None if own is None else PerLayerInputs(own, weights, spec.hidden, dense)
        self._executor, self._unsupported = self._graph_for(dense.kernel, experts)

    def _graph_for(self, kernel: NativeKernel, experts: ExpertBackend) -> tuple[GraphExecutor | None, Translatable]:
        try:
            graph = build_graph(
                self.spec, self.layers, self.norm, self.head,
                make=self._per_layer_inputs, kernel=kernel, experts=stepper(experts),
            )  # fmt: skip
            return graph, NO_TEXT
        except UnsupportedOp as reason:
            return None, msg("Torch computes the layers, more slowly than native code would: {reason}.", reason=reason)

    @property
    def native_layers(self) -> bool:
        """Whether tokens, a few at a time, go through native ops, experts aside."""
        return self._executor is not None

    @property
    def why_not_native(self) -> Translatable:
        """Why they do not, in a plain sentence; empty where they do."""
        return self._unsupported

    def linear_ops(self) -> list[tuple[OpGraph, int, MatrixView]]:
        """See GraphExecutor.linears; none where torch computes the layers."""
        return [] if self._executor is None else self._executor.linears()

    @property
    def executor(self) -> GraphExecutor | None:
        """What runs tokens through native ops; None where torch computes the layers."""
        return self._executor

    def trial_state(self, tokens: int) -> SequenceState:
        """A sequence whose rows of so many tokens are random, to try kernels on; recurrent states are zeros."""
        state = self.new_state()
        for layer in state.rows:
            layer.append(*(torch.randn(buffer.heads, tokens, buffer.dim) for buffer in layer.buffers))
        state.commit(tokens, tokens)
        return state

    def new_state(self) -> SequenceState:
        """An empty sequence."""
        layers = [layer.new_state(self.kv_dtype) for layer in self.layers]
        return SequenceState(layers, most_tokens=self.most_tokens, kv_dtype=self.kv_dtype)

    def continues(self, state: SequenceState, horizon: int) -> bool:
        """Whether what `state` holds can go on to `horizon` tokens.

        LongRoPE rotates every key differently once a sequence outgrows the original context: keys from before that
        are of no use then, and the caller feeds the tokens to a new sequence. So are rows of another kv_dtype. To be
        asked before a state is used for another text, and before each token that makes the sequence longer than ever
        before.
        """
        if state.kv_dtype != self.kv_dtype:
            return False
        return not state.length or all((state.horizon > at) == (horizon > at) for at in self._switches)

    @torch.inference_mode()
    def forward(
        self,
        ids: Sequence[int] | Tensor,
        state: SequenceState,
        want: Want = "last",
        horizon: int = 0,
    ) -> Tensor | None:
        """Feed tokens that follow what `state` holds.

        ids: T >= 1 token ids. want: logits of the 'last' token [1, V], of 'all' [T, V], or 'none' (None is returned);
        'next': as 'last', for who is through with them before anything else is fed, since that may write over them.
        horizon: length the sequence is known to reach, when a prompt is fed in chunks (see PositionRange).
        Whatever is raised on the way (a read that failed, a cancellation) leaves `state` usable: its length tells how
        much it still holds, which is all of it but for recurrent layers, that go back to their last snapshot.
        """
        horizon, executor = max(horizon, state.horizon, state.length + len(ids)), self._executor
        few = [] if executor is None or len(ids) > executor.most else ids.tolist() if isinstance(ids, Tensor) else ids
        if executor is None or not few or has_pictures(few):
            return self.forward_parts([(torch.as_tensor(ids, dtype=torch.int64), state, want, horizon)])[0]
        if state.saved:  # by torch, one by one, as native ops would have the bits of one by one
            each = torch.as_tensor(ids, dtype=torch.int64).split(1)
            found = [self.forward_parts([(one, state, want, horizon)])[0] for one in each]
            some = [one for one in found if one is not None]
            return torch.cat(some if want == "all" else some[-1:]) if some else None
        by_id = self._embed(executor, few)
        logits = executor.forward(len(few), by_id, state, horizon, want)
        self._tell([state], few, executor.given(len(few)))
        return logits

    def _tell(self, states: Sequence[SequenceState], ids: Sequence[int], x: Tensor) -> None:
        if self.passed is not None:
            self.passed(states, ids, x)

    def joins(self, sizes: Sequence[int]) -> bool:
        """Whether so many tokens of several sequences can go through the layers together: see forward_parts."""
        executor = self._executor
        return executor is None or min(sizes) > executor.most or sum(sizes) <= executor.most

    @torch.inference_mode()
    def forward_parts(self, parts: Sequence[tuple[Tensor, SequenceState, Want, int]]) -> list[Tensor | None]:
        """Feed tokens to several sequences side by side, so that an expert is read once for all that choose it.

        parts: what `forward` takes for each; together they `joins`, and one with pictures is alone. Returns what it
        gives for each, to the last bit: but for experts, every sequence goes through torch's operations by itself,
        whose sums hang on the number of rows; those of native ops do not. Whatever is raised leaves every state usable,
        as of `forward`.
        """
        if self._executor is not None and len(parts[0][0]) <= self._executor.most:
            if not any(_has_pictures(tokens) or state.saved for tokens, state, _, _ in parts):
                return self._few(self._executor, parts)
            if len(parts) > 1:
                return [self.forward(*part) for part in parts]
        before = [state.length for _, state, _, _ in parts]
        passes = [self._pass(*part) for part in parts]
        try:
            return run_side_by_side(self._experts, passes)
        except BaseException:
            for (_, state, _, _), length in zip(parts, before, strict=True):
                state.rollback(length)
            raise

    def _few(
        self, executor: GraphExecutor, parts: Sequence[tuple[Tensor, SequenceState, Want, int]]
    ) -> list[Tensor | None]:
        """As forward_parts, through native ops."""
        tokens, states, wants, known = (list(own) for own in zip(*parts, strict=True))
        counts = [len(ids) for ids in tokens]
        horizons = [
            max(horizon, state.horizon, state.length + count)
            for horizon, state, count in zip(known, states, counts, strict=True)
        ]
        if not all(executor.turn_alike(horizons[0], horizon) for horizon in horizons):
            return [self.forward(*part) for part in parts]
        stops = list(accumulate(counts))
        spans = [
            None if want == "none" else (stop - (count if want == "all" else 1), stop)
            for want, count, stop in zip(wants, counts, stops, strict=True)
        ]
        first = min((span[0] for span in spans if span is not None), default=None)
        ids = [one for own in tokens for one in own.tolist()]
        logits = self._rows(executor, ids, states, horizons, counts=counts, first=first)
        if logits is None or first is None:
            return [None] * len(parts)
        return [None if span is None else logits[span[0] - first : span[1] - first] for span in spans]

    def _pass(self, tokens: Tensor, state: SequenceState, want: Want, horizon: int) -> ExpertPass[Tensor | None]:
        span = PositionRange(state.length, state.length + len(tokens), max(horizon, state.horizon))
        pictures = _has_pictures(tokens)
        seen = self._seen(tokens) if pictures else None
        x, make = self._embedded(tokens) if seen is None else self._with_pictures(tokens, seen), self._per_layer_inputs
        inputs = [None] * len(self.layers) if make is None else make(tokens, x)
        if self._streams is not None:
            x = x[:, None].repeat(1, self._streams.spec.count, 1)
        span.tokens = tokens
        marks: list[tuple[int, int]] = []
        if self._by_axes and (pictures or state.saved):
            assert self.pictures is not None, "ids below zero are pictures"
            saved = state.saved[-1][1] if state.saved else 0
            span.turned, marks = positions(tokens.tolist(), span.start, saved, self.pictures.grid)
        if pictures:
            span.pictures = tuple((span.start + start, span.start + stop) for start, stop in spans(tokens.tolist()))
        state.begin()
        for depth, (layer, layer_state, own) in enumerate(zip(self.layers, state.layers, inputs, strict=True), 1):
            x = yield from layer.forward(x, span, layer_state, own)
            if seen is not None and depth < len(seen):  # DeepStack (arXiv 2406.04334)
                x[tokens < 0] += seen[depth]
        state.commit(span.length, span.horizon)
        state.saved += marks
        self._tell([state], tokens.tolist(), x)
        if want == "none":
            return None
        return self._logits(x if want == "all" else x[-1:])

    @property
    def most_rows(self) -> int:
        """Tokens that one pass takes with the bits that each has alone: of one sequence, or of so many."""
        return 1 if self._executor is None else self._executor.most

    @torch.inference_mode()
    def forward_sequences(self, ids: Sequence[int], states: Sequence[SequenceState]) -> Tensor:
        """Feed one token to each of up to `most_rows` sequences, in as few passes as there are rotations.

        Returns logits [N, V], to the last bit those of each alone. Whatever is raised leaves every state usable, some
        of them perhaps with their token: see `forward`.
        """
        horizons = [max(state.length + 1, state.horizon) for state in states]
        executor, found = self._executor, [torch.empty(0)] * len(states)
        left = list(range(len(states)))
        while left:
            first = left[0]
            alike = [] if executor is None or states[first].saved else [at for at in left if not states[at].saved]
            rows = [at for at in alike if executor and executor.turn_alike(horizons[first], horizons[at])] or [first]
            left = [at for at in left if at not in rows]
            if executor is None or len(rows) == 1:
                logits = self.forward([ids[first]], states[first])
            else:
                tokens = [ids[at] for at in rows]
                logits = self._rows(executor, tokens, [states[at] for at in rows], [horizons[at] for at in rows],
                                    counts=[1] * len(rows), first=0)  # fmt: skip
            assert logits is not None
            for at, own in zip(rows, logits, strict=True):
                found[at] = own
        return torch.stack(found)

    def _rows(
        self,
        executor: GraphExecutor,
        tokens: Sequence[int],
        states: Sequence[SequenceState],
        horizons: Sequence[int],
        *,
        counts: Sequence[int],
        first: int | None,
    ) -> Tensor | None:
        by_id = self._embed(executor, tokens)
        logits = executor.forward_sequences(by_id, states, horizons, counts=counts, first=first)
        self._tell(states, tokens, executor.given(len(tokens)))
        return logits

    def _embed(self, executor: GraphExecutor, tokens: Sequence[int]) -> Tensor | None:
        """Embed a few tokens where native ops find them. Returns what PerLayerInputs has of their ids, if any."""
        x, make = executor.given(len(tokens)), self._per_layer_inputs
        self.embedding.write(tokens, x)
        if self.spec.embedding_multiplier != 1.0:
            x.mul_(self.spec.embedding_multiplier)
        return None if make is None else make.by_id(torch.tensor(tokens, dtype=torch.int64))

    def _embedded(self, tokens: Tensor) -> Tensor:
        x = self.embedding.rows(tokens)
        return x if self.spec.embedding_multiplier == 1.0 else x * self.spec.embedding_multiplier

    def _seen(self, tokens: Tensor) -> Tensor:
        assert self.pictures is not None, "ids below zero are pictures"
        return self.pictures.rows(tokens[tokens < 0])

    def _with_pictures(self, tokens: Tensor, seen: Tensor) -> Tensor:
        x = self._embedded(tokens.clamp(min=0))
        x[tokens < 0] = seen[0]
        return x

    def _logits(self, x: Tensor) -> Tensor:
        if self._streams is not None:
            x = self._streams.head(x)
        logits = self.head(self.norm(x), own=True)
        if self.spec.logit_multiplier != 1.0:
            logits = logits * self.spec.logit_multiplier
        if self.spec.logit_softcap is not None:
            logits = torch.tanh(logits / self.spec.logit_softcap) * self.spec.logit_softcap
        return logits


def _has_pictures(tokens: Tensor) -> bool:
    return int(tokens.min()) < 0


def _axes(layer: LayerSpec) -> tuple[int, ...]:
    """See RopeSpec.axes."""
    rope = layer.mixer.rope if isinstance(layer.mixer, AttentionSpec) else None
    return () if rope is None else rope.axes


def _rope_switches(layer: LayerSpec) -> tuple[int, ...]:
    """Lengths beyond which this layer's keys are rotated in another way."""
    rope = layer.mixer.rope if isinstance(layer.mixer, AttentionSpec | MlaSpec) else None
    scaling = None if rope is None else rope.scaling
    return (scaling.original,) if scaling is not None and scaling.kind == "longrope" else ()


def _normed(head: Tensor) -> Tensor:
    """Its columns divided by their lengths, of as many bits as before."""
    values = head.float()
    return (values / (values.norm(dim=0, keepdim=True) + 1e-7)).to(head.dtype)
