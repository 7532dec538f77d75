"""What one decoder is made of: frozen dataclasses that a family's file fills in from its config.

Tensor names are the original ones of the hub, in full ('model.layers.3.self_attn.q_proj'), without '.weight' where the
thing named is a linear layer or a norm, and exactly as stored where it is a bare tensor (sinks, correction biases).
"""

from __future__ import annotations

from engine.models.spec.decoder import DecoderSpec, LayerSpec, PerLayerGateSpec, PerLayerInputsSpec, StreamsSpec, moe_of
from engine.models.spec.feed_forward import (
    ActivationKind,
    ActivationSpec,
    DenseMlpSpec,
    ExpertsSpec,
    LatentSpec,
    MlpSpec,
    MoeSpec,
    ParallelMlpSpec,
    RouterSpec,
    SharedExpertSpec,
)
from engine.models.spec.mixers import (
    AttentionSpec,
    BlocksSpec,
    CompressedSpec,
    DeltaNetSpec,
    EntriesSpec,
    EntryIndexSpec,
    IndexerSpec,
    KdaSpec,
    Mamba2Spec,
    MixerSpec,
    MlaSpec,
    ShortConvSpec,
)
from engine.models.spec.parts import NormKind, NormSpec, RopeScaling, RopeSpec, TemperatureSpec

__all__ = [
    "ActivationKind",
    "ActivationSpec",
    "AttentionSpec",
    "BlocksSpec",
    "CompressedSpec",
    "DecoderSpec",
    "DeltaNetSpec",
    "DenseMlpSpec",
    "EntriesSpec",
    "EntryIndexSpec",
    "ExpertsSpec",
    "IndexerSpec",
    "KdaSpec",
    "LatentSpec",
    "LayerSpec",
    "Mamba2Spec",
    "MixerSpec",
    "MlaSpec",
    "MlpSpec",
    "MoeSpec",
    "NormKind",
    "NormSpec",
    "ParallelMlpSpec",
    "PerLayerGateSpec",
    "PerLayerInputsSpec",
    "RopeScaling",
    "RopeSpec",
    "RouterSpec",
    "SharedExpertSpec",
    "ShortConvSpec",
    "StreamsSpec",
    "TemperatureSpec",
    "moe_of",
]
