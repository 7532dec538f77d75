"""Runs a decoder's op graph for one token, with the experts in between."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.experts.backend import Stepper
from engine.kernels.native import NativeKernel
from engine.models.layers.layer import Layer
from engine.models.layers.linear import Linear
from engine.models.layers.norms import Norm
from engine.models.layers.state import SequenceState
from engine.models.op_graph.builder import GraphBuilder, UnsupportedOp
from engine.models.op_graph.feed_forward import build_feed_forward, build_per_layer
from engine.models.op_graph.mixers import build_mixer
from engine.models.spec import DecoderSpec
from engine.native import op_graph
from engine.native.op_graph import GraphStep
from engine.translatable import msg

__all__ = ["GraphExecutor", "UnsupportedOp", "build_graph"]


def build_graph(
    spec: DecoderSpec, layers: Sequence[Layer], norm: Norm, head: Linear, kernel: NativeKernel, experts: Stepper
) -> GraphExecutor:
    """The way of one token through these layers. Raises UnsupportedOp where something has no native ops."""
    to = GraphBuilder(spec.hidden)
    own = spec.per_layer_inputs
    inputs = None if own is None else to.floats("inputs", len(layers) * own.dim).view(len(layers), own.dim)
    for at, layer in enumerate(layers):
        _build_layer(to, layer, at, None if inputs is None else inputs[at])
    to.end_layers()
    logits = to.linear(head, to.norm(norm, to.x, "h"), "logits")
    if spec.logit_multiplier != 1.0:
        to.add(op_graph.scale(logits, spec.logit_multiplier))
    if spec.logit_softcap is not None:
        to.add(op_graph.softcap(logits, spec.logit_softcap))
    return GraphExecutor(kernel, experts, to, to.end(), inputs, logits)


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

    def __init__(
        self,
        kernel: NativeKernel,
        experts: Stepper,
        built: GraphBuilder,
        head: op_graph.OpGraph,
        inputs: Tensor | None,
        logits: Tensor,
    ) -> None:
        self._kernel, self._experts = kernel, experts
        self._built = built  # owns the memory
        self._segments = tuple(built.segments)
        self._rope_caches = tuple(built.rope_caches.values())
        self._angles = op_graph.OpGraph([op_graph.rope(t.frequencies, t.cosines, t.sines) for t in self._rope_caches])
        self._head = head
        self._inputs, self._logits = inputs, logits
        self._step: GraphStep | None = None

    def forward(
        self, x: Tensor, inputs: Sequence[Tensor | None], state: SequenceState, horizon: int, wanted: bool
    ) -> Tensor | None:
        """x: [1, H], the embedded token. inputs: of every layer [1, dim]. Returns logits [1, V] if wanted.

        What is raised leaves `state` as Decoder.forward says.
        """
        run, ask = self._kernel.run_graph, self._experts.moe_step
        for cache in self._rope_caches:
            cache.reach(horizon)
        start = state.length
        state.begin()
        try:
            self._built.x.copy_(x[0])
            if self._inputs is not None:
                torch.cat([own for own in inputs if own is not None], out=self._inputs)
            step = self._step = self._step or GraphStep(len(state.layers))
            step.set(start, state.prepared())
            run(self._angles, step)
            for segment in self._segments:
                run(segment.graph, step)
                if segment.step is not None:
                    ask(segment.layer, segment.step)
        except BaseException:
            state.rollback(start)
            raise
        state.taken()
        state.commit(1, horizon)
        if not wanted:
            return None
        run(self._head, step)
        return self._logits.clone()[None]
