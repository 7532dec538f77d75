"""Runs a decoder's op graph for a few tokens at once, with the experts in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

__all__ = ["GraphExecutor", "UnsupportedOp", "build_graph"]


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
        self._layers = GraphLayers(
            kernel,
            [segment.graph for segment in self._segments],
            [(segment.layer, segment.steps[0]) if segment.steps else None for segment in self._segments],
        )
        self._rope_caches = tuple(built.rope_caches.values())
        self._angles = op_graph.OpGraph([op_graph.rope(t.frequencies, t.cosines, t.sines) for t in self._rope_caches])
        self._head = head
        self._by_id, self._logits = by_id, logits
        self._step: GraphStep | None = None
        self.before_token: Callable[[SequenceState], None] | None = None  # told of each single token's sequence
        # Computes layers of a single token from one on, and returns the one whose experts come next; the number of
        # layers with experts: none do, and the logits are there; -1: it did nothing.
        self.run_ahead: Callable[[int, GraphStep], int] | None = None
        self._answered = False  # the logits of the step are there

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

    def forward(
        self,
        x: Tensor,
        by_id: Tensor | None,
        state: SequenceState,
        horizon: int,
        want: Literal["last", "all", "none"],
    ) -> Tensor | None:
        """x: [T, H], T embedded tokens, at most `most`. by_id: of PerLayerInputs, if there are any. Returns logits
        [T or 1, V] if wanted, to the last bit those that the same tokens give one by one.

        What is raised leaves `state` as Decoder.forward says.
        """
        first = None if want == "none" else 0 if want == "all" else len(x) - 1
        return self.forward_sequences(x, by_id, [state], [horizon], counts=[len(x)], first=first)

    def forward_sequences(
        self,
        x: Tensor,
        by_id: Tensor | None,
        states: Sequence[SequenceState],
        horizons: Sequence[int],
        *,
        counts: Sequence[int],
        first: int | None = 0,
    ) -> Tensor | None:
        """x: [T, H], embedded tokens, at most `most`, of several sequences that `turn_alike`, those of one behind those
        of the other. counts: tokens of each; horizons: of each. first: row from which on logits are wanted; None: none.

        Returns logits [T - first, V], to the last bit those that each token gives alone. What is raised rolls all
        states back.
        """
        before = [state.length for state in states]
        if len(x) == 1 and self.before_token is not None:
            self.before_token(states[0])
        try:
            step = self._begin(x, by_id, max(horizons), len(states[0].layers))
            for state in states:
                state.begin()
            prepared = [state.prepared(count) for state, count in zip(states, counts, strict=True)]
            step.set_sequences(before, prepared, counts)
            self._run_layers(step)
        except BaseException:
            for state, length in zip(states, before, strict=True):
                state.rollback(length)
            raise
        for state, horizon, count in zip(states, horizons, counts, strict=True):
            state.taken(count)
            state.commit(count, horizon)
        return None if first is None else self._run_head(step, first)

    def turn_alike(self, one: int, other: int) -> bool:
        """Whether sequences that reach so many tokens are rotated by the same frequencies."""
        return all(cache.stretch(one) == cache.stretch(other) for cache in self._rope_caches)

    def _begin(self, x: Tensor, by_id: Tensor | None, horizon: int, layers: int) -> GraphStep:
        for cache in self._rope_caches:
            cache.reach(horizon)
        self._built.x[: len(x)].copy_(x)
        if self._by_id is not None and by_id is not None:
            self._by_id[: len(x)].copy_(by_id)
        self._step = self._step or GraphStep(layers)
        return self._step

    def _run_layers(self, step: GraphStep) -> None:
        experts, tokens = self._experts, step.tokens
        self._kernel.run_graph(self._angles, step)
        ahead = self.run_ahead if tokens == 1 else None
        self._answered, at = False, 0
        while at < len(self._segments):
            if ahead is not None:
                asked = ahead(at, step)
                if asked < 0:
                    ahead = None
                elif asked == len(self._segments) - 1:
                    self._answered = True
                    return
                else:
                    at = asked
            if ahead is None:
                at = experts.run_layers(self._layers, at, step)
            segment = self._segments[at]
            if segment.steps:
                experts.moe_step(segment.layer, segment.steps[tokens - 1])
            at += 1

    def _run_head(self, step: GraphStep, first: int) -> Tensor:
        """Logits [T, V] of the tokens from `first` on."""
        if not self._answered:
            step.run_from(first)
            self._kernel.run_graph(self._head, step)
        return self._logits[first : step.tokens].clone()
