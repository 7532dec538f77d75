"""ERNIE 4.5: interleaved rotary pairs, softmax router chosen with a correction bias, shared experts."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.parts import causal_lm, dense_mlp, llama_layer, plain_moe
from engine.models.spec import AttentionSpec, DecoderSpec, MlpSpec, MoeSpec, RouterSpec, SharedExpertSpec


def spec(config: dict[str, Any]) -> DecoderSpec:
    """Experts from layer moe_layer_start_index to moe_layer_end_index, every moe_layer_interval-th."""
    c = Config(config)
    heads, kv_heads, head_dim = c.heads()
    eps, bias = c.number("rms_norm_eps", 1e-5), c.flag("use_bias", False)
    count, interval = c.integer("num_hidden_layers"), c.integer("moe_layer_interval", 1, low=1)
    first, last = c.integer("moe_layer_start_index", 1), c.integer("moe_layer_end_index", -1, low=-1)
    sparse = range(first, count if last == -1 else last + 1)
    layers = []
    for i in range(count):
        prefix = f"model.layers.{i}"
        mixer = AttentionSpec(
            f"{prefix}.self_attn", heads, kv_heads, head_dim, head_dim**-0.5,
            c.rope(head_dim, theta=5e5, interleaved=True), qkv_bias=bias, o_bias=bias,
        )  # fmt: skip
        mlp: MlpSpec = dense_mlp(c, f"{prefix}.mlp", bias=bias)
        if i in sparse and (i + 1) % interval == 0:
            mlp = _moe(c, f"{prefix}.mlp", bias)
        layers.append(llama_layer(i, mixer, mlp, eps=eps))
    return causal_lm(c, layers, eps, tied=True, head_bias=bias)


def _moe(c: Config, prefix: str, bias: bool) -> MoeSpec:
    router = RouterSpec(
        f"{prefix}.gate", *c.experts(), "softmax", choice_bias=f"{prefix}.moe_statics.e_score_correction_bias",
        normalize=True, normalize_min=c.number("moe_norm_min", 1e-12),
    )  # fmt: skip
    size, count = c.integer("moe_intermediate_size"), c.integer("moe_num_shared_experts", 2)
    shared = SharedExpertSpec(dense_mlp(c, f"{prefix}.shared_experts", size * count, bias)) if count else None
    return plain_moe(c, router, size, shared)
