"""LongCat-Flash: two layers of latent attention beside one set of experts, some of which give back their input."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.models.config import Config
from engine.models.families.deepseek_parts import latent_attention
from engine.models.families.parts import causal_lm, dense_mlp, norm
from engine.models.spec import DecoderSpec, ExpertsSpec, LayerSpec, MlaSpec, MoeSpec, RouterSpec


def spec(config: dict[str, Any]) -> DecoderSpec:
    """Each of num_layers blocks is two layers; its experts read what the first MLP reads, and land after the second."""
    c = Config(config)
    c.expect("router_bias", False)
    c.expect("zero_expert_type", "identity")
    for key in ("mla_scale_q_lora", "mla_scale_kv_lora"):
        c.expect(key, True)
    c.expect("attention_method", "MLA")
    eps = c.number("rms_norm_eps", 1e-5)
    c.raw["rope_theta"] = c.raw.get("rope_theta") or 1e7
    layers = []
    for block in range(c.integer("num_layers")):
        prefix = f"model.layers.{block}"
        for half in range(2):
            layers.append(
                LayerSpec(
                    block,
                    _attention(c, f"{prefix}.self_attn.{half}"),
                    dense_mlp(c, f"{prefix}.mlps.{half}", c.integer("ffn_hidden_size")),
                    before_mixer=norm(f"{prefix}.input_layernorm.{half}", eps),
                    before_mlp=norm(f"{prefix}.post_attention_layernorm.{half}", eps),
                    shortcut=None if half else _moe(c, f"{prefix}.mlp"),
                    lands=bool(half),
                )
            )
    return causal_lm(c, layers, eps)


def _attention(c: Config, prefix: str) -> MlaSpec:
    """Queries and latents are scaled by the square root of how much narrower they are than the hidden state."""
    hidden, own = c.integer("hidden_size"), latent_attention(c, prefix, interleaved=True)
    queries = (hidden / c.integer("q_lora_rank", low=1)) ** 0.5
    return replace(own, scale=own.scale * queries, latent_scale=(hidden / own.kv_rank) ** 0.5)


def _moe(c: Config, prefix: str) -> MoeSpec:
    count, passing = c.integer("n_routed_experts"), c.integer("zero_expert_num", 0)
    router = RouterSpec(
        f"{prefix}.router.classifier", count + passing, c.integer("moe_topk"), "softmax",
        choice_bias=f"{prefix}.router.e_score_correction_bias", scale=c.number("routed_scaling_factor", 6.0),
    )  # fmt: skip
    return MoeSpec(router, ExpertsSpec(count, c.integer("hidden_size"), c.integer("expert_ffn_hidden_size")))
