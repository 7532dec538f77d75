"""Plays a decoder's ops for one token, with the experts in between."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.experts.backend import Stepper
from engine.kernels import tape
from engine.kernels.native import NativeKernel
from engine.kernels.tape import TapeStep
from engine.models.layer import Layer
from engine.models.linear import Linear
from engine.models.norms import Norm
from engine.models.spec import DecoderSpec
from engine.models.state import SequenceState
from engine.models.tape.feed_forward import record_feed_forward, record_per_layer
from engine.models.tape.mixers import record_mixer
from engine.models.tape.recorder import NotRecorded, Recorder

__all__ = ["NotRecorded", "Player", "record"]


def record(
    spec: DecoderSpec, layers: Sequence[Layer], norm: Norm, head: Linear, kernel: NativeKernel, experts: Stepper
) -> Player:
    """The way of one token through these layers. Raises NotRecorded where something has no native ops."""
    to = Recorder(spec.hidden)
    own = spec.per_layer_inputs
    inputs = None if own is None else to.floats("inputs", len(layers) * own.dim).view(len(layers), own.dim)
    for at, layer in enumerate(layers):
        _record_layer(to, layer, at, None if inputs is None else inputs[at])
    to.end_layers()
    logits = to.linear(head, to.norm(norm, to.x, "h"), "logits")
    if spec.logit_multiplier != 1.0:
        to.record(tape.scale(logits, spec.logit_multiplier))
    if spec.logit_softcap is not None:
        to.record(tape.softcap(logits, spec.logit_softcap))
    return Player(kernel, experts, to, to.end(), inputs, logits)


def _record_layer(to: Recorder, layer: Layer, at: int, inputs: Tensor | None) -> None:
    if layer.mixer is None or layer.feed_forward is None or layer.shortcut is not None:
        raise NotRecorded("layers without both of their halves, or with a shortcut, have no native ops")
    mixed = record_mixer(to, layer.mixer, to.norm(layer.before_mixer, to.x, "h"), at)
    to.record(tape.add(to.x, to.norm(layer.after_mixer, mixed, "h"), layer.multiplier))
    y = record_feed_forward(to, layer.feed_forward, to.norm(layer.before_mlp, to.x, "h"))
    to.record(tape.add(to.x, to.norm(layer.after_mlp, y, "y"), layer.multiplier))
    if layer.per_layer is not None and inputs is not None:
        record_per_layer(to, layer.per_layer, inputs)
    if layer.scalar is not None:
        to.record(tape.scale(to.x, layer.scalar))


class Player:
    """A recorded decoder. head: from the residual stream to the logits."""

    def __init__(
        self,
        kernel: NativeKernel,
        experts: Stepper,
        recorded: Recorder,
        head: tape.Tape,
        inputs: Tensor | None,
        logits: Tensor,
    ) -> None:
        self._kernel, self._experts = kernel, experts
        self._recorded = recorded  # owns the memory
        self._segments = tuple(recorded.segments)
        self._turnings = tuple(recorded.turnings.values())
        self._angles = tape.Tape([tape.rope(t.frequencies, t.cosines, t.sines) for t in self._turnings])
        self._head = head
        self._inputs, self._logits = inputs, logits
        self._step: TapeStep | None = None

    def forward(
        self,
        x: Tensor,
        inputs: Sequence[Tensor | None],
        state: SequenceState,
        horizon: int,
        wanted: bool,
    ) -> Tensor | None:
        """x: [1, H], the embedded token. inputs: of every layer [1, dim]. Returns logits [1, V] if wanted.

        What is raised leaves `state` as Decoder.forward says.
        """
        recorded, play, ask = self._recorded, self._kernel.play, self._experts.moe_step
        for turning in self._turnings:
            turning.reach(horizon)
        start = state.length
        state.begin()
        try:
            recorded.x.copy_(x[0])
            if self._inputs is not None:
                torch.cat([own for own in inputs if own is not None], out=self._inputs)
            step = self._step = self._step or TapeStep(len(state.layers))
            step.set(start, state.prepared())
            play(self._angles, step)
            for segment in self._segments:
                play(segment.tape, step)
                if segment.step is not None:
                    ask(segment.layer, segment.step)
        except BaseException:
            state.rollback(start)
            raise
        state.taken()
        state.commit(1, horizon)
        if not wanted:
            return None
        play(self._head, step)
        return self._logits.clone()[None]
