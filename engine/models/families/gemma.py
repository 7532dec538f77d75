"""Gemma 4 with experts: sandwich norms, sliding and full attention of different shapes, a dense MLP beside the MoE."""

from __future__ import annotations

from dataclasses import replace

from engine.models.config import Config
from engine.models.families.parts import FULL, SLIDING, causal_lm, norm
from engine.models.spec import (
    ActivationSpec,
    AttentionSpec,
    DecoderSpec,
    DenseMlpSpec,
    ExpertsSpec,
    LayerSpec,
    MlpSpec,
    MoeSpec,
    ParallelMlpSpec,
    PerLayerGateSpec,
    PerLayerInputsSpec,
    RouterSpec,
)

LAYER_TYPES = (SLIDING, FULL)
# Gemma4TextConfig's own in transformers, for a config.json that says nothing of it.
ROPE = {
    SLIDING: {"rope_type": "default", "rope_theta": 10_000.0},
    FULL: {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1_000_000.0},
}


def gemma4(c: Config) -> DecoderSpec:
    """layer_types says which layers slide; by default five of six, and never the last."""
    if c.flag("enable_moe_block", False):  # the small ones, which share keys, are refused for being dense
        c.expect("use_bidirectional_attention", "vision")  # only tokens of pictures look ahead, where layers slide
        c.expect("num_kv_shared_layers", 0)
    c.raw.setdefault("rope_parameters", ROPE)
    eps = c.number("rms_norm_eps", 1e-6)
    count = c.integer("num_hidden_layers")
    root = "model.language_model" if "text_config" in c.raw else "model"
    kinds = c.layer_types(count, LAYER_TYPES, [LAYER_TYPES[(i + 1) % 6 == 0] for i in range(count)])
    dim = c.integer("hidden_size_per_layer_input", 256)
    layers = []
    for i, kind in enumerate((*kinds[:-1], FULL)):
        prefix = f"{root}.layers.{i}"
        layers.append(
            LayerSpec(
                index=i,
                mixer=_attention(c, f"{prefix}.self_attn", i, kind, eps),
                mlp=_feed_forward(c, prefix, eps),
                before_mixer=norm(f"{prefix}.input_layernorm", eps),
                after_mixer=norm(f"{prefix}.post_attention_layernorm", eps),
                before_mlp=norm(f"{prefix}.pre_feedforward_layernorm", eps),
                after_mlp=norm(f"{prefix}.post_feedforward_layernorm", eps),
                per_layer=_per_layer(c, prefix, eps) if dim else None,
                scalar=f"{prefix}.layer_scalar",
            )
        )
    decoder = causal_lm(
        c,
        layers,
        eps,
        prefix=root,
        tied=True,
        embedding_multiplier=c.integer("hidden_size") ** 0.5,
        logit_softcap=c.number("final_logit_softcapping") if c.has("final_logit_softcapping") else None,
    )
    return replace(decoder, per_layer_inputs=_per_layer_inputs(root, dim, eps)) if dim else decoder


def _attention(c: Config, prefix: str, index: int, kind: str, eps: float) -> AttentionSpec:
    sliding = kind == SLIDING
    shared = c.flag("attention_k_eq_v", False) and not sliding
    heads, kv_heads, head_dim = _shape(c, index, sliding)
    bias = c.flag("attention_bias", False)
    return AttentionSpec(
        prefix=prefix,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        scale=1.0,  # the norms of queries and keys have learned it
        rope=c.rope(head_dim, layer_type=kind),
        window=c.integer("sliding_window", 512) if sliding else None,
        whole_pictures=sliding and c.has("use_bidirectional_attention"),
        qkv_bias=bias,
        o_bias=bias,
        qk_norm="head",
        qk_norm_eps=eps,
        v_norm=True,
        v=None if shared else "v_proj",
    )


def _shape(c: Config, index: int, sliding: bool) -> tuple[int, int, int]:
    """(heads, kv heads, head_dim) of a layer, as the hub's config says it or as transformers 5 saves it."""
    heads, kv_heads, head_dim = c.heads(256)
    layer = c.group("per_layer_config").group(str(index))
    if not c.has("per_layer_config") and not sliding:
        kv = c.raw.get("num_global_key_value_heads") if c.flag("attention_k_eq_v", False) else None
        layer = Config({"head_dim": c.integer("global_head_dim", 512), "num_key_value_heads": kv})
    return heads, layer.integer("num_key_value_heads", kv_heads), layer.integer("head_dim", head_dim)


def _per_layer_inputs(root: str, dim: int, eps: float) -> PerLayerInputsSpec:
    scale = norm(f"{root}.per_layer_projection_norm", eps)
    return PerLayerInputsSpec(f"{root}.embed_tokens_per_layer", f"{root}.per_layer_model_projection", scale, dim)


def _per_layer(c: Config, prefix: str, eps: float) -> PerLayerGateSpec:
    return PerLayerGateSpec(
        f"{prefix}.per_layer_input_gate",
        f"{prefix}.per_layer_projection",
        norm(f"{prefix}.post_per_layer_input_norm", eps),
        _activation(c),
    )


def _activation(c: Config) -> ActivationSpec:
    return c.activation("hidden_activation", "gelu_pytorch_tanh")


def _feed_forward(c: Config, prefix: str, eps: float) -> MlpSpec:
    activation = _activation(c)
    dense = DenseMlpSpec(prefix=f"{prefix}.mlp", intermediate=c.integer("intermediate_size"), activation=activation)
    if not c.flag("enable_moe_block", False):
        return dense
    experts = ExpertsSpec(
        c.integer("num_experts"), c.integer("hidden_size"), c.integer("moe_intermediate_size"), activation
    )
    router = RouterSpec(
        f"{prefix}.router.proj",
        experts.count,
        c.integer("top_k_experts"),
        "softmax",
        normalize=True,
        input_norm_eps=eps,
        input_scale=f"{prefix}.router.scale",
        expert_scale=f"{prefix}.router.per_expert_scale",
    )
    return ParallelMlpSpec(
        dense,
        MoeSpec(router, experts),
        before_moe=norm(f"{prefix}.pre_feedforward_layernorm_2", eps),
        after_dense=norm(f"{prefix}.post_feedforward_layernorm_1", eps),
        after_moe=norm(f"{prefix}.post_feedforward_layernorm_2", eps),
    )
