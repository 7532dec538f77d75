"""Layers, and the decoder that they make."""

from __future__ import annotations

from dataclasses import dataclass

from engine.models.spec.feed_forward import ActivationSpec, MlpSpec, MoeSpec, ParallelMlpSpec
from engine.models.spec.mixers import MixerSpec
from engine.models.spec.parts import NormSpec


@dataclass(frozen=True)
class PerLayerInputsSpec:
    """Inputs [T, dim] of every layer (gemma4): (norm(projection(x) / hidden**0.5) + embedding[id] * dim**0.5) / 2**0.5.

    embedding: table [V, layers * dim]. projection: linear [layers * dim, hidden] of the embedded tokens x.
    """

    embedding: str
    projection: str
    norm: NormSpec
    dim: int


@dataclass(frozen=True)
class PerLayerGateSpec:
    """How a layer takes its inputs in: x += norm(projection(act(gate(x)) * inputs))."""

    gate: str
    projection: str
    norm: NormSpec
    activation: ActivationSpec


@dataclass(frozen=True)
class StreamsSpec:
    """`count` residual streams, out of which one input is taken (DeepSeek-V4, section 2.2): see streams.py.

    Bare tensors: {prefix}_fn, {prefix}_base, {prefix}_scale. rounds: of balancing. norm_eps: of all streams together.
    """

    prefix: str
    count: int
    rounds: int
    eps: float
    norm_eps: float


@dataclass(frozen=True)
class LayerSpec:
    """x += m * after_mixer(mixer(before_mixer(x))); x += m * after_mlp(mlp(before_mlp(x))); x *= scalar.

    A mixer or mlp that is None adds nothing. shortcut: experts that read what the mlp reads, and whose answer is added
    after the next layer that `lands` (LongCat). A norm that is None leaves things as they are. index: the model's own
    layer index, which the expert backend is called with. m: residual_multiplier. per_layer: what is added before the
    scalar, with DecoderSpec.per_layer_inputs only. scalar: bare tensor [1] multiplying the layer's output (gemma4).
    streams: around mixer and mlp, in place of the sums.
    """

    index: int
    mixer: MixerSpec | None
    mlp: MlpSpec | None
    before_mixer: NormSpec | None = None
    before_mlp: NormSpec | None = None
    after_mixer: NormSpec | None = None
    after_mlp: NormSpec | None = None
    residual_multiplier: float = 1.0
    per_layer: PerLayerGateSpec | None = None
    scalar: str | None = None
    shortcut: MoeSpec | None = None
    lands: bool = False
    streams: tuple[StreamsSpec, StreamsSpec] | None = None


@dataclass(frozen=True)
class DecoderSpec:
    """A whole causal language model.

    logits = softcap(head(norm(x)) * logit_multiplier), x starting as embedding[id] * embedding_multiplier.
    head: None ties the head to the embedding. head_normed: its columns have length 1 (Ling, the first generation).
    max_positions: the context the model was made for.
    streams: what the norm reads of several residual streams; every layer has its own then.
    """

    family: str
    hidden: int
    vocab: int
    max_positions: int
    layers: tuple[LayerSpec, ...]
    norm: NormSpec
    embedding: str = "model.embed_tokens"
    head: str | None = "lm_head"
    head_bias: bool = False
    head_normed: bool = False
    embedding_multiplier: float = 1.0
    logit_multiplier: float = 1.0
    logit_softcap: float | None = None
    per_layer_inputs: PerLayerInputsSpec | None = None
    streams: StreamsSpec | None = None

    @property
    def moe_layers(self) -> dict[int, MoeSpec]:
        """Model layer index to MoE block, for the layers that have one."""
        found = ((layer.index, layer.shortcut or moe_of(layer.mlp)) for layer in self.layers)
        return {index: moe for index, moe in found if moe is not None}


def moe_of(mlp: MlpSpec | None) -> MoeSpec | None:
    """The MoE block of a feed-forward, if it has one."""
    if isinstance(mlp, ParallelMlpSpec):
        return mlp.moe
    return mlp if isinstance(mlp, MoeSpec) else None
