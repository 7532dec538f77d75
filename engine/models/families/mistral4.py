"""Mistral 4: latent attention with queries that grow with their position, a softmax router, a shared expert."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.models.config import Config, dense
from engine.models.families.deepseek_parts import latent_attention, moe_with_shared
from engine.models.families.parts import causal_lm, dense_mlp, inside, llama_layer
from engine.models.spec import DecoderSpec, MlpSpec, RouterSpec, TemperatureSpec

_ROPE = {
    "rope_type": "yarn", "rope_theta": 10000.0, "factor": 128.0, "original_max_position_embeddings": 8192,
    "beta_fast": 32.0, "beta_slow": 1.0, "mscale_all_dim": 1.0, "mscale": 1.0, "llama_4_scaling_beta": 0.1,
}  # fmt: skip


def spec(config: dict[str, Any]) -> DecoderSpec:
    """The first first_k_dense_replace layers are dense."""
    c = Config(config)
    if not any(c.has(key) for key in ("n_routed_experts", "num_local_experts")):  # most that see are
        raise dense(c.family)
    settings = c.rope_settings() or dict(_ROPE)
    settings.pop("partial_rotary_factor", None)  # of whole heads; here only the part that turns is looked at
    c.raw |= {"rope_parameters": settings, "rope_scaling": None}
    eps, first = c.number("rms_norm_eps", 1e-6), c.integer("first_k_dense_replace", 0)
    root, head = inside(c)
    layers = []
    for i in range(c.integer("num_hidden_layers")):
        prefix = f"{root}.layers.{i}"
        mixer = latent_attention(c, f"{prefix}.self_attn", interleaved=c.flag("rope_interleave", True))
        mixer = replace(mixer, temperature=_temperature(Config(settings)))
        mlp: MlpSpec = dense_mlp(c, f"{prefix}.mlp")
        if i >= first:
            mlp = moe_with_shared(c, f"{prefix}.mlp", _router(c, f"{prefix}.mlp"))
        layers.append(llama_layer(i, mixer, mlp, eps=eps, root=root))
    return causal_lm(c, layers, eps, prefix=root, head=head)


def _temperature(rope: Config) -> TemperatureSpec | None:
    if not rope.has("llama_4_scaling_beta"):
        return None
    beta = rope.number("llama_4_scaling_beta")
    return TemperatureSpec(beta, rope.integer("original_max_position_embeddings", low=1))


def _router(c: Config, prefix: str) -> RouterSpec:
    return RouterSpec(
        f"{prefix}.gate", *c.experts(), "softmax", groups=c.integer("n_group", 1),
        top_groups=c.integer("topk_group", 1), normalize=c.flag("norm_topk_prob", True), normalize_eps=1e-20,
        scale=c.number("routed_scaling_factor", 1.0),
    )  # fmt: skip
