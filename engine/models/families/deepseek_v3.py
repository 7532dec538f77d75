"""DeepSeek-V3, R1 and Kimi K2: latent attention, sigmoid router with correction bias and groups, a shared expert."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.deepseek_parts import latent_attention, moe_with_shared, sigmoid_router
from engine.models.families.parts import causal_lm, dense_mlp, inside, llama_layer
from engine.models.spec import DecoderSpec, MlpSpec


def spec(config: dict[str, Any]) -> DecoderSpec:
    """The first first_k_dense_replace layers are dense. The layers for multi-token prediction are left out."""
    c = Config(config)
    c.expect("moe_layer_freq", 1)
    eps, dense = c.number("rms_norm_eps", 1e-6), c.integer("first_k_dense_replace", 3)
    groups, top_groups = c.integer("n_group", 8), c.integer("topk_group", 4)
    root, head = inside(c)
    layers = []
    for i in range(c.integer("num_hidden_layers")):
        prefix = f"{root}.layers.{i}"
        mixer = latent_attention(c, f"{prefix}.self_attn", interleaved=c.flag("rope_interleave", True))
        mlp: MlpSpec = dense_mlp(c, f"{prefix}.mlp")
        if i >= dense:
            mlp = moe_with_shared(c, f"{prefix}.mlp", sigmoid_router(c, f"{prefix}.mlp", groups, top_groups))
        layers.append(llama_layer(i, mixer, mlp, eps=eps, root=root))
    return causal_lm(c, layers, eps, prefix=root, head=head)
