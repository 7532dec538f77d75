"""Runs a decoder's op graph for a few tokens at once, with the experts in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from torch import Tensor

from engine.experts.backend import GraphLayers, Step, Stepper
from engine.kernels.native import NativeKernel
from engine.models.layers.feed_forward import PerLayerInputs
from engine.models.layers.layer import Layer
from engine.models.layers.linear import Linear
from engine.models.layers.norms import Norm
from engine.models.layers.state import SequenceState
from engine.models.op_graph.builder import GraphBuilder, UnsupportedOp
from engine.models.op_graph.feed_forward import build_feed_forward, build_inputs, build_per_layer
from engine.models.op_graph.mixers import build_mixer
from engine.models.spec import DecoderSpec
from engine.native import op_graph
from engine.native.library import MatrixView
from engine.native.op_graph import GraphStep
from engine.translatable import msg

__all__ = ["GraphExecutor", "UnsupportedOp", "build_graph", "build_mtp_graph"]


def build_graph(
    spec: DecoderSpec,
    layers: Sequence[Layer],
    norm: Norm,
    head: Linear,
    *,
    make: PerLayerInputs | None,
    kernel: NativeKernel,
    experts: Stepper,
) -> GraphExecutor:
    """The way of tokens through these layers. Raises UnsupportedOp where something has no native ops."""
    to = GraphBuilder(spec.hidden)
    by_id, inputs = (None, None) if make is None else build_inputs(to, make, len(layers))
    for at, layer in enumerate(layers):
        _build_layer(to, layer, at, None if inputs is None else inputs[:, at])
    to.end_layers()
    logits = to.linear(head, to.norm(norm, to.x, "h"), "logits")
    if spec.logit_multiplier != 1.0:
        to.add(op_graph.scale(logits, spec.logit_multiplier))
    if spec.logit_softcap is not None:
        to.add(op_graph.softcap(logits, spec.logit_softcap))
    return GraphExecutor(kernel, experts, to, to.end(), by_id, logits)


def build_mtp_graph(
    layer: Layer,
    joint: Linear,
    embedding_norm: Norm,
    hidden_norm: Norm,
    norm: Norm,
    *,
    head: Linear,
    kernel: NativeKernel,
    experts: Stepper,
) -> tuple[GraphExecutor, Tensor]:
    """The way of embedded tokens through a layer for multi-token prediction (MtpSpec). Raises UnsupportedOp.

    Also returns where the hidden states [MOST_ROWS, H] that join them have to be put before, and where what the head
    read is found behind.
    """
    hidden = norm.width
    to = GraphBuilder(hidden)
    given, both = to.floats("given", hidden), to.floats("both", 2 * hidden)
    for own, x, out in ((embedding_norm, to.x, both[:, :hidden]), (hidden_norm, given, both[:, hidden:])):
        to.add(op_graph.norm(x, out, own.width, own.eps, own.scale, own.bias))
    to.linear(joint, both, "x")
    _build_layer(to, layer, 0, None)
    to.end_layers()
    logits = to.linear(head, to.norm(norm, to.x, "given"), "logits")
    return GraphExecutor(kernel, experts, to, to.end(), None, logits), given


def _build_layer(to: GraphBuilder, layer: Layer, at: int, inputs: Tensor | None) -> None:
    if layer.mixer is None or layer.feed_forward is None or layer.shortcut is not None:
        raise UnsupportedOp(msg("layers without both of their halves, or with a shortcut, have no native ops"))
    mixed = build_mixer(to, layer.mixer, to.norm(layer.before_mixer, to.x, "h"), at)
    to.add(op_graph.add(to.x, to.norm(layer.after_mixer, mixed, "h"), layer.multiplier))
    y = build_feed_forward(to, layer.feed_forward, to.norm(layer.before_mlp, to.x, "h"))
    to.add(op_graph.add(to.x, to.norm(layer.after_mlp, y, "y"), layer.multiplier))
    if layer.per_layer is not None and inputs is not None:
        build_per_layer(to, layer.per_layer, inputs)
    if layer.scalar is not None:
        to.add(op_graph.scale(to.x, layer.scalar))


class GraphExecutor:
    """A decoder as an op graph. head: from the residual stream to the logits."""

    most = op_graph.MOST_ROWS  # tokens at once

    def __init__(
        self,
        kernel: NativeKernel,
        experts: Stepper,
        built: GraphBuilder,
        head: op_graph.OpGraph,
        by_id: Tensor | None,
        logits: Tensor,
    ) -> None:
        self._kernel, self._experts = kernel, experts
        self._built = built  # owns the memory
        self._segments = tuple(built.segments)
        self._rope_caches = tuple(built.rope_caches.values())
        self._angles = op_graph.OpGraph([op_graph.rope(t.frequencies, t.cosines, t.sines) for t in self._rope_caches])
        # The angles come first, with no experts behind them.
        self._layers = GraphLayers(
            kernel,
            [self._angles, *(segment.graph for segment in self._segments)],
            [None, *((each.layer, each.steps[0]) if each.steps else None for each in self._segments)],
            head=head,
        )
        self._head, self._recurrent = head, op_graph.OpGraph(built.recurrent)
        self._passes = 0  # the last one's inputs of recurrent ops are still where they were
        self._by_id, self._logits = by_id, logits
        self._step: GraphStep | None = None
        self.before_token: Callable[[SequenceState], None] | None = None  # told of each single token's sequence
        # Computes layers of a single token from one on, and returns the one whose experts come next; the number of
        # layers with experts: none do, and the logits are there; -1: it did nothing.
        self.run_ahead: Callable[[int, GraphStep], int] | None = None
        # Views of the memory by tokens, made once: a token's own would each be a call of torch.
        self._given = tuple(built.x[:count] for count in range(op_graph.MOST_ROWS + 1))
        self._first = logits[:1]

    def linears(self) -> list[tuple[op_graph.OpGraph, int, MatrixView]]:
        """Every op that multiplies with one matrix: its graph, its place there, and the matrix."""
        return [(graph, at, view) for graph in self.graphs for at, view in graph.linears()]

    @property
    def graphs(self) -> list[op_graph.OpGraph]:
        """All ops behind the embedding, in their order."""
        return [*(segment.graph for segment in self._segments), self._head]

    @property
    def asked(self) -> list[tuple[int, Step]]:
        """The layers that have experts, and what these are asked for a single token."""
        return [(segment.layer, segment.steps[0]) for segment in self._segments if segment.steps]

    @property
    def logits(self) -> Tensor:
        """Where the logits [rows, V] of a step are found."""
        return self._logits

    def given(self, tokens: int) -> Tensor:
        """Where so many tokens [T, H], at most `most`, are to be embedded before they are fed."""
        return self._given[tokens]

    def forward(
        self,
        tokens: int,
        by_id: Tensor | None,
        state: SequenceState,
        horizon: int,
        want: Literal["last", "next", "all", "none"],
    ) -> Tensor | None:
        """Feed so many tokens, embedded in `given`. by_id: of PerLayerInputs, if there are any. Returns logits [T or 1,
        V] if wanted, to the last bit those that the same tokens give one by one; of 'next' see forward_sequences.

        What is raised leaves `state` as Decoder.forward says.
        """
        first = None if want == "none" else 0 if want == "all" else tokens - 1
        return self.forward_sequences(by_id, [state], [horizon], counts=[tokens], first=first, kept=want != "next")

    def forward_sequences(
        self,
        by_id: Tensor | None,
        states: Sequence[SequenceState],
        horizons: Sequence[int],
        *,
        counts: Sequence[int],
        first: int | None = 0,
        kept: bool = True,
    ) -> Tensor | None:
        """Feed tokens, embedded in `given`, of several sequences that `turn_alike`, those of one behind those of the
        other. counts: tokens of each; horizons: of each. first: row from which on logits are wanted; None: none.

        Returns logits [T - first, V], to the last bit those that each token gives alone; if not `kept`, where the next
        tokens' will be written. What is raised rolls all states back.
        """
        before = [state.length for state in states]
        if self.before_token is not None and len(counts) == counts[0] == 1:
            self.before_token(states[0])
        try:
            step = self._begin(by_id, max(horizons), len(states[0].layers))
            prepared = [state.prepared(count) for state, count in zip(states, counts, strict=True)]
            step.set_sequences(before, prepared, counts)
            step.with_head = first == 0
            answered = self._run_layers(step)
        except BaseException:
            for state, length in zip(states, before, strict=True):
                state.rollback(length)
            raise
        for state, horizon, count in zip(states, horizons, counts, strict=True):
            state.taken(count)
            state.commit(count, horizon)
        if states[0].kept_start is not None:
            states[0].feed_again = partial(self._feed_again, self._passes)
        if first is None:
            return None
        if not answered:
            step.run_from(first)
            self._kernel.run_graph(self._head, step)
        logits = self._first if step.tokens == 1 else self._logits[first : step.tokens]
        return logits.clone() if kept else logits

    def _feed_again(self, number: int, state: SequenceState, tokens: int) -> bool:
        """Take recurrent layers once more through the first tokens of the pass of this number, of this sequence alone,
        whose start it kept. Returns False, having done nothing, where another pass has run since."""
        if number != self._passes or self._step is None or state.kept_start is None:
            return False
        self._step.set(state.kept_start, state.prepared_again(), tokens)
        self._kernel.run_graph(self._recurrent, self._step)
        return True

    def turn_alike(self, one: int, other: int) -> bool:
        """Whether sequences that reach so many tokens are rotated by the same frequencies."""
        return all(cache.stretch(one) == cache.stretch(other) for cache in self._rope_caches)

    def _begin(self, by_id: Tensor | None, horizon: int, layers: int) -> GraphStep:
        for cache in self._rope_caches:
            cache.reach(horizon)
        if self._by_id is not None and by_id is not None:
            self._by_id[: len(by_id)].copy_(by_id)
        self._step = self._step or GraphStep(layers)
        self._passes += 1
        return self._step

    def _run_layers(self, step: GraphStep) -> bool:
        """Returns whether the logits are there as well."""
        experts, tokens, layers = self._experts, step.tokens, len(self._segments)
        ahead = self.run_ahead if tokens == 1 else None
        at = 0  # of the graphs: the angles', and then the layers', of which the first is 1
        if ahead is not None:
            self._kernel.run_graph(self._angles, step)
            at = 1
        while at <= layers:
            if ahead is not None:
                asked = ahead(at - 1, step)
                if asked == layers - 1:
                    return True
                if asked < 0:
                    ahead = None
                else:
                    at = asked + 1
            if ahead is None:
                at = experts.run_layers(self._layers, at, step)
                if at > layers:
                    return True
            if at and (segment := self._segments[at - 1]).steps:
                experts.moe_step(segment.layer, segment.steps[tokens - 1])
            at += 1
        return False
