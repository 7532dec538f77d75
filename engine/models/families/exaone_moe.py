"""K-EXAONE: windows that rotate between full layers that do not, per-head norms, DeepSeek-V3's router."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config, unsupported
from engine.models.families.deepseek_parts import moe_with_shared, sigmoid_router
from engine.models.families.parts import causal_lm, dense_mlp, llama_layer
from engine.models.spec import AttentionSpec, DecoderSpec, MlpSpec
from engine.translatable import msg

SLIDING, FULL = "sliding_attention", "full_attention"
DENSE, SPARSE = "dense", "sparse"


def spec(config: dict[str, Any]) -> DecoderSpec:
    """sliding_window_pattern says which layers slide where layer_types does not; without windows all layers rotate."""
    c = Config(config)
    heads, kv_heads, head_dim = c.heads()
    eps, dense = c.number("rms_norm_eps", 1e-5), c.integer("first_k_dense_replace", 1)
    count = c.integer("num_hidden_layers")
    window = c.integer("sliding_window", 4096) if "sliding_window" not in c.raw or c.has("sliding_window") else None
    groups, top_groups = c.integer("n_group", 1), c.integer("topk_group", 1)
    kinds = c.layer_types(count, (SLIDING, FULL), _pattern(c, count, window))
    mlps = c.layer_types(
        count, (DENSE, SPARSE), [DENSE if i < dense else SPARSE for i in range(count)], "mlp_layer_types"
    )
    layers = []
    for i, kind in enumerate(kinds):
        prefix = f"model.layers.{i}"
        turns = window is None or kind == SLIDING
        mixer = AttentionSpec(
            f"{prefix}.self_attn", heads, kv_heads, head_dim, head_dim**-0.5, c.rope(head_dim) if turns else None,
            window=window if kind == SLIDING else None, qk_norm="head", qk_norm_eps=eps,
        )  # fmt: skip
        mlp: MlpSpec = dense_mlp(c, f"{prefix}.mlp")
        if mlps[i] == SPARSE:
            router = sigmoid_router(c, f"{prefix}.mlp", groups, top_groups, "e_score_correction_bias")
            mlp = moe_with_shared(c, f"{prefix}.mlp", router, key="num_shared_experts")
        layers.append(llama_layer(i, mixer, mlp, eps=eps))
    return causal_lm(c, layers, eps)


def _pattern(c: Config, count: int, window: int | None) -> list[str]:
    """'LLLG' repeated, or its length; the last layer of a pattern of letters is full."""
    pattern = c.raw.get("sliding_window_pattern", 4)
    if window is None or not pattern:
        return [FULL] * count
    if isinstance(pattern, str):
        if set(pattern) - {"L", "G"}:
            raise unsupported(
                msg(
                    "This {family} model has the pattern of windows {pattern}, which is not known.",
                    family=c.family,
                    pattern=repr(pattern),
                )
            )
        return [SLIDING if pattern[i % len(pattern)] == "L" and i < count - 1 else FULL for i in range(count)]
    every = c.integer("sliding_window_pattern", 4, low=1)
    return [SLIDING if (i + 1) % every else FULL for i in range(count)]
