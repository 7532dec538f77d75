"""Qwen3.5-MoE: the layers of Qwen3-Next with DeltaNet's projections apart; the text half of a model that also sees."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.parts import causal_lm
from engine.models.families.qwen3_next import gated_moe, hybrid_layer, layer_types
from engine.models.spec import DecoderSpec


def spec(config: dict[str, Any]) -> DecoderSpec:
    """Every layer has experts. With images the text model lies one name deeper; for text its rope has one axis only."""
    c = Config(config)
    c.expect("attn_output_gate", True)
    root = "model.language_model" if "text_config" in config else "model"
    layers = []
    for i, kind in enumerate(layer_types(c)):
        prefix = f"{root}.layers.{i}"
        layers.append(hybrid_layer(c, i, prefix, kind, gated_moe(c, f"{prefix}.mlp", normalize=True), fused=False))
    return causal_lm(c, layers, c.number("rms_norm_eps", 1e-6), "rms_plus_one", prefix=root)
