"""gpt-oss: sinks, windows in every other layer, biases everywhere, experts with a clamped SwiGLU."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.parts import causal_lm, llama_layer
from engine.models.spec import ActivationSpec, AttentionSpec, DecoderSpec, ExpertsSpec, MoeSpec, RouterSpec

_ROPE = {
    "rope_type": "yarn",
    "factor": 32.0,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "truncate": False,
    "original_max_position_embeddings": 4096,
}


def spec(config: dict[str, Any]) -> DecoderSpec:
    """Layers alternate between a window and full attention, where layer_types does not say otherwise."""
    c = Config(
        config if config.get("rope_scaling") or config.get("rope_parameters") else {**config, "rope_scaling": _ROPE}
    )
    heads, kv_heads, head_dim = c.heads(64)
    eps, bias = c.number("rms_norm_eps", 1e-5), c.flag("attention_bias", True)
    count, window = c.integer("num_hidden_layers"), c.integer("sliding_window", 128)
    sliding, full = "sliding_attention", "full_attention"
    kinds = c.layer_types(count, (sliding, full), [full if i % 2 else sliding for i in range(count)])
    layers = []
    for i, kind in enumerate(kinds):
        prefix = f"model.layers.{i}"
        mixer = AttentionSpec(
            f"{prefix}.self_attn", heads, kv_heads, head_dim, head_dim**-0.5, c.rope(head_dim, theta=150000.0),
            window=window if kind == sliding else None, qkv_bias=bias, o_bias=bias,
            sinks=f"{prefix}.self_attn.sinks",
        )  # fmt: skip
        layers.append(llama_layer(i, mixer, _moe(c, f"{prefix}.mlp"), eps=eps))
    return causal_lm(c, layers, eps)


def _moe(c: Config, prefix: str) -> MoeSpec:
    c.expect("hidden_act", "silu")
    router = RouterSpec(f"{prefix}.router", *c.experts(), "topk_softmax", bias=True)
    activation = ActivationSpec("clamped_swiglu", c.number("swiglu_alpha", 1.702), c.number("swiglu_limit", 7.0))
    hidden, intermediate = c.integer("hidden_size"), c.integer("intermediate_size")
    return MoeSpec(router, ExpertsSpec(router.experts, hidden, intermediate, activation, bias=True))
