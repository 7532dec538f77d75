"""GLM-4.7-Flash: the attention and routing of DeepSeek-V3 at a small size."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.deepseek_parts import latent_attention, moe_with_shared, sigmoid_router
from engine.models.families.parts import causal_lm, dense_mlp, llama_layer
from engine.models.spec import DecoderSpec, MlpSpec


def spec(config: dict[str, Any]) -> DecoderSpec:
    """mlp_layer_types says which layers are dense; by default the first. Multi-token prediction is left out."""
    c = Config(config)
    eps, groups, top_groups = c.number("rms_norm_eps", 1e-5), c.integer("n_group", 1), c.integer("topk_group", 1)
    count = c.integer("num_hidden_layers")
    first = c.integer("first_k_dense_replace", 1)
    usual = ["dense"] * first + ["sparse"] * (count - first)
    kinds = c.layer_types(count, ("dense", "sparse"), usual, key="mlp_layer_types")
    layers = []
    for i in range(count):
        prefix = f"model.layers.{i}"
        mixer = latent_attention(c, f"{prefix}.self_attn", interleaved=c.flag("rope_interleave", True))
        mlp: MlpSpec = dense_mlp(c, f"{prefix}.mlp")
        if kinds[i] == "sparse":
            mlp = moe_with_shared(c, f"{prefix}.mlp", sigmoid_router(c, f"{prefix}.mlp", groups, top_groups))
        layers.append(llama_layer(i, mixer, mlp, eps=eps))
    return causal_lm(c, layers, eps)
