"""Kimi Linear: Kimi Delta Attention with latent attention that does not rotate between, DeepSeek-V3's router."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.models.config import Config
from engine.models.families.deepseek_parts import latent_attention, moe_with_shared, sigmoid_router
from engine.models.families.parts import causal_lm, dense_mlp, llama_layer
from engine.models.spec import DecoderSpec, KdaSpec, MixerSpec, MlpSpec

LINEAR, FULL = "linear_attention", "full_attention"
DENSE, SPARSE = "dense", "sparse"
NAMES = {  # as the hub has it -> as other families call it
    "num_expert_group": "n_group", "num_experts_per_token": "num_experts_per_tok", "moe_renormalize": "norm_topk_prob",
    "num_shared_experts": "n_shared_experts", "model_max_length": "max_position_embeddings",
}  # fmt: skip


def spec(config: dict[str, Any]) -> DecoderSpec:
    """linear_attn_config or layer_types says which layers are linear; the first first_k_dense_replace are dense."""
    c = Config(config)
    for key, name in NAMES.items():
        if c.has(key):
            c.raw[name] = c.raw[key]
    c.expect("moe_router_activation_func", "sigmoid")
    c.expect("mla_use_nope", True)
    c.expect("moe_layer_freq", 1)
    count, eps = c.integer("num_hidden_layers"), c.number("rms_norm_eps", 1e-5)
    groups, top_groups = c.integer("n_group", 1), c.integer("topk_group", 1)
    dense = c.integer("first_k_dense_replace", 1)
    own = c.group("linear_attn_config")
    full = {layer - 1 for layer in own.integers("full_attn_layers")} or {i for i in range(count) if i and i % 4 == 0}
    kinds = c.layer_types(count, (LINEAR, FULL), [FULL if i in full else LINEAR for i in range(count)])
    mlps = c.layer_types(
        count, (DENSE, SPARSE), [DENSE if i < dense else SPARSE for i in range(count)], "mlp_layer_types"
    )
    layers = []
    for i, kind in enumerate(kinds):
        prefix = f"model.layers.{i}"
        mixer: MixerSpec = _linear(c, own, f"{prefix}.self_attn", eps)
        if kind == FULL:
            latent = latent_attention(c, f"{prefix}.self_attn", interleaved=False)
            mixer = replace(latent, rope=None, scale=(latent.nope_dim + latent.rope_dim) ** -0.5)
        moe = f"{prefix}.block_sparse_moe"
        mlp: MlpSpec = dense_mlp(c, f"{prefix}.mlp")
        if mlps[i] == SPARSE:
            mlp = moe_with_shared(c, moe, sigmoid_router(c, moe, groups, top_groups))
        layers.append(llama_layer(i, mixer, mlp, eps=eps))
    return causal_lm(c, layers, eps)


def _linear(c: Config, own: Config, prefix: str, eps: float) -> KdaSpec:
    return KdaSpec(
        prefix,
        heads=own.integer("num_heads", c.integer("linear_num_heads", 32), low=1),
        head_dim=own.integer("head_dim", c.integer("linear_head_dim", 128), low=1),
        kernel=own.integer("short_conv_kernel_size", c.integer("linear_conv_kernel_dim", 4), low=1),
        norm_eps=eps,
    )
