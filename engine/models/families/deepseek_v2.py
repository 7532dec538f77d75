"""DeepSeek-V2 (and its Lite and Coder models): latent attention, softmax router, shared experts."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config, unsupported
from engine.models.families.deepseek_parts import latent_attention, moe_with_shared
from engine.models.families.parts import causal_lm, dense_mlp, llama_layer
from engine.models.spec import DecoderSpec, MlpSpec, RouterSpec
from engine.translatable import msg


def spec(config: dict[str, Any]) -> DecoderSpec:
    """The first first_k_dense_replace layers are dense, all others have experts."""
    c = Config(config)
    c.expect("scoring_func", "softmax")
    c.expect("moe_layer_freq", 1)
    eps, dense = c.number("rms_norm_eps", 1e-6), c.integer("first_k_dense_replace", 0)
    bias = c.flag("mlp_bias", False)
    layers = []
    for i in range(c.integer("num_hidden_layers")):
        prefix = f"model.layers.{i}"
        mixer = latent_attention(c, f"{prefix}.self_attn", interleaved=True)
        mlp: MlpSpec = dense_mlp(c, f"{prefix}.mlp", bias=bias)
        if i >= dense:
            mlp = moe_with_shared(c, f"{prefix}.mlp", _router(c, f"{prefix}.mlp"), bias=bias)
        layers.append(llama_layer(i, mixer, mlp, eps=eps))
    return causal_lm(c, layers, eps)


def _router(c: Config, prefix: str) -> RouterSpec:
    method = c.raw.get("topk_method") or "greedy"
    if method not in ("greedy", "group_limited_greedy"):
        raise unsupported(
            msg(
                "This {family} model chooses experts by {method}, which Underhill does not know.",
                family=c.family,
                method=repr(method),
            )
        )
    grouped = method == "group_limited_greedy"
    return RouterSpec(
        f"{prefix}.gate",
        *c.experts(),
        "softmax",
        groups=c.integer("n_group") if grouped else 1,
        top_groups=c.integer("topk_group") if grouped else 1,
        group_score="max",
        # transformers leaves norm_topk_prob out. DeepSeek's own code normalizes, then scales; so does this.
        # No published checkpoint sets it.
        normalize=c.flag("norm_topk_prob", False),
        normalize_eps=1e-20,
        scale=c.number("routed_scaling_factor", 1.0),
    )
