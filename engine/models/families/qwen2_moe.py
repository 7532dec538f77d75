"""Qwen2-MoE and Qwen1.5-MoE: biases on queries, keys and values, softmax router, a gated shared expert."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.parts import causal_lm, dense_mlp, llama_layer, plain_moe
from engine.models.spec import AttentionSpec, DecoderSpec, MlpSpec, MoeSpec, RouterSpec, SharedExpertSpec


def spec(config: dict[str, Any]) -> DecoderSpec:
    """Every layer has experts but those in mlp_only_layers and those off the beat of decoder_sparse_step."""
    c = Config(config)
    heads, kv_heads, head_dim = c.heads()
    eps = c.number("rms_norm_eps", 1e-6)
    count = c.integer("num_hidden_layers")
    step, dense = c.integer("decoder_sparse_step", 1, low=1), c.integers("mlp_only_layers")
    layers = []
    for i, window in enumerate(_windows(c, count)):
        prefix = f"model.layers.{i}"
        mixer = AttentionSpec(
            f"{prefix}.self_attn", heads, kv_heads, head_dim, head_dim**-0.5, c.rope(head_dim),
            window=window, qkv_bias=c.flag("qkv_bias", True),
        )  # fmt: skip
        sparse = i not in dense and (i + 1) % step == 0
        mlp: MlpSpec = _moe(c, f"{prefix}.mlp") if sparse else dense_mlp(c, f"{prefix}.mlp")
        layers.append(llama_layer(i, mixer, mlp, eps=eps))
    return causal_lm(c, layers, eps)


def _moe(c: Config, prefix: str) -> MoeSpec:
    router = RouterSpec(f"{prefix}.gate", *c.experts(), "softmax", normalize=c.flag("norm_topk_prob", False))
    wide = dense_mlp(c, f"{prefix}.shared_expert", c.integer("shared_expert_intermediate_size"))
    shared = SharedExpertSpec(wide, gate=f"{prefix}.shared_expert_gate")
    return plain_moe(c, router, c.integer("moe_intermediate_size"), shared)


def _windows(c: Config, count: int) -> list[int | None]:
    """Where windows are used at all: by layer_types, or every other one of the first max_window_layers."""
    if not c.flag("use_sliding_window", False):
        return [None] * count
    sliding, full = "sliding_attention", "full_attention"
    upto = c.integer("max_window_layers", 28)
    usual = [sliding if (i + 1) % 2 and i < upto else full for i in range(count)]
    window = c.integer("sliding_window", 4096)
    return [window if kind == sliding else None for kind in c.layer_types(count, (sliding, full), usual)]
