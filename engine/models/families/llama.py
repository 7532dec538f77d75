"""Llama 4: attention within chunks but for every fourth layer, one routed expert that is given a weighed input."""

from __future__ import annotations

from dataclasses import replace

from engine.models.config import Config, unsupported
from engine.models.families.parts import FULL, attention, dense_mlp, inside, llama, plain_moe
from engine.models.spec import (
    AttentionSpec,
    DecoderSpec,
    MlpSpec,
    MoeSpec,
    RouterSpec,
    SharedExpertSpec,
    TemperatureSpec,
)
from engine.translatable import msg

CHUNKED = "chunked_attention"


def llama4(c: Config) -> DecoderSpec:
    """The language model alone, or that of one with images. moe_layers says which layers have experts."""
    root, head = inside(c)
    eps, count = c.number("rms_norm_eps", 1e-5), c.integer("num_hidden_layers")
    turning = _turning(c, count)
    kinds = c.layer_types(count, (CHUNKED, FULL), [CHUNKED if turns else FULL for turns in turning])
    step = c.integer("interleave_moe_layer_step", 1, low=1)
    sparse = set(c.integers("moe_layers") or range(step - 1, count, step))

    def mixer(prefix: str, i: int) -> AttentionSpec:
        return _attention(c, f"{prefix}.self_attn", turning[i], kinds[i], eps)

    def mlp(prefix: str, i: int) -> MlpSpec:
        if i in sparse:
            return _moe(c, f"{prefix}.feed_forward")
        return dense_mlp(c, f"{prefix}.feed_forward", c.integer("intermediate_size_mlp", 16384))

    return llama(c, eps, mixer, mlp, root=root, head=head)


def _turning(c: Config, count: int) -> list[bool]:
    """Which layers rotate: no_rope_layers has a 1 for those that do."""
    given = c.integers("no_rope_layers")
    every = c.integer("no_rope_layer_interval", 4, low=1)
    if given and len(given) < count:
        raise unsupported(msg("This {family} model does not say of every layer whether it rotates.", family=c.family))
    return [bool(n) for n in given[:count]] if given else [(i + 1) % every != 0 for i in range(count)]


def _attention(c: Config, prefix: str, turns: bool, kind: str, eps: float) -> AttentionSpec:
    own = attention(c, prefix, head_dim=128, theta=500000.0, interleaved=True, rotates=turns)
    if kind == CHUNKED:
        own = replace(own, chunk=c.integer("attention_chunk_size", 8192, low=1))
    if turns:
        if not c.flag("use_qk_norm", True):
            return own
        return replace(own, qk_norm="head", qk_norm_eps=eps, qk_norm_after_rope=True, q_norm=None, k_norm=None)
    if not c.flag("attn_temperature_tuning", True):
        return own
    temperature = TemperatureSpec(c.number("attn_scale", 0.1), c.integer("floor_scale", 8192, low=1), offset=1)
    return replace(own, temperature=temperature)


def _moe(c: Config, prefix: str) -> MoeSpec:
    router = RouterSpec(f"{prefix}.router", *c.experts(), "sigmoid")
    if router.top_k != 1:
        raise unsupported(
            msg(
                "This {family} model chooses {top_k} experts for a token, and not one.",
                family=c.family,
                top_k=router.top_k,
            )
        )
    shared = SharedExpertSpec(dense_mlp(c, f"{prefix}.shared_expert"))
    return replace(plain_moe(c, router, c.integer("intermediate_size"), shared), weigh_input=True)
