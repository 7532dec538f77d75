"""What DeepSeek and the families that follow it share: latent attention, ungated shared experts, grouped routing."""

from __future__ import annotations

from engine.models.config import Config, positive, yarn_mscale
from engine.models.families.parts import dense_mlp, plain_moe
from engine.models.spec import IndexerSpec, MlaSpec, MoeSpec, RouterSpec, SharedExpertSpec
from engine.translatable import msg


def latent_attention(c: Config, prefix: str, interleaved: bool, indexer: IndexerSpec | None = None) -> MlaSpec:
    """MLA under `prefix`. Its norms keep an eps of 1e-6 whatever rms_norm_eps says, as in the original code."""
    nope, rope_dim = c.integer("qk_nope_head_dim"), c.integer("qk_rope_head_dim", low=1)
    scale = (nope + rope_dim) ** -0.5
    settings = c.rope_settings()
    all_dim = settings.get("mscale_all_dim")
    if c.rope_kind(settings) != "default" and all_dim:
        # YaRN sharpens the softmax: queries and keys both carry the factor, the nope part included
        scale *= (
            yarn_mscale(
                *(positive(msg("rope {key}", key=key), settings.get(key)) for key in ("factor", "mscale_all_dim"))
            )
            ** 2
        )
    bias = c.flag("attention_bias", False)
    return MlaSpec(
        prefix,
        heads=c.integer("num_attention_heads"),
        q_rank=c.integer("q_lora_rank") if c.has("q_lora_rank") else None,
        kv_rank=c.integer("kv_lora_rank"),
        nope_dim=nope,
        rope_dim=rope_dim,
        v_dim=c.integer("v_head_dim"),
        scale=scale,
        rope=c.rope(rope_dim, interleaved=interleaved),
        a_bias=bias,
        o_bias=bias,
        indexer=indexer,
    )


def moe_with_shared(
    c: Config, prefix: str, router: RouterSpec, bias: bool = False, key: str = "n_shared_experts"
) -> MoeSpec:
    """Routed experts, and as many shared ones as `key` says in one MLP that is so many times as wide."""
    size = c.integer("moe_intermediate_size")
    count = c.integer(key, 0)
    shared = SharedExpertSpec(dense_mlp(c, f"{prefix}.shared_experts", size * count, bias)) if count else None
    return plain_moe(c, router, size, shared)


def sigmoid_router(
    c: Config, prefix: str, groups: int, top_groups: int, correction: str = "gate.e_score_correction_bias"
) -> RouterSpec:
    """DeepSeek-V3's: chosen by sigmoid score plus a learned correction, weighted by the score alone."""
    c.expect("scoring_func", "sigmoid")
    c.expect("topk_method", "noaux_tc")
    return RouterSpec(
        f"{prefix}.gate",
        *c.experts(),
        "sigmoid",
        choice_bias=f"{prefix}.{correction}",
        groups=groups,
        top_groups=top_groups,
        group_score="top2",
        masked_score=float("-inf"),  # a corrected score may be negative, so 0 would let other groups in
        normalize=c.flag("norm_topk_prob", True),
        normalize_eps=1e-20,
        scale=c.number("routed_scaling_factor", 1.0),
    )
