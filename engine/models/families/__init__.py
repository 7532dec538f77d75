"""The families the lean decoder knows: model_type of a config -> the function that describes its decoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine import limits
from engine.models.config import Config, dense, unsupported
from engine.models.families import (
    deepseek,
    deepseek_v4,
    gemma,
    grouped_query,
    hunyuan,
    hybrid,
    llama,
    minimax,
    qwen,
    sliding_window,
)
from engine.models.spec import DecoderSpec, RouterSpec
from engine.translatable import msg

FAMILIES: dict[str, Callable[[Config], DecoderSpec]] = {
    "afmoe": sliding_window.afmoe,
    "bailing_moe": grouped_query.bailing_moe,
    "bailing_moe_v2": grouped_query.bailing_moe,
    "deepseek_v2": deepseek.deepseek_v2,
    "deepseek_v3": deepseek.deepseek_v3,
    "deepseek_v32": deepseek.deepseek_v32,
    "deepseek_v4": deepseek_v4.deepseek_v4,
    "dots1": sliding_window.dots1,
    "ernie4_5_moe": grouped_query.ernie4_5_moe,
    "exaone_moe": sliding_window.exaone_moe,
    "flex_olmo": grouped_query.flex_olmo,
    "gemma4": gemma.gemma4,
    "gemma4_text": gemma.gemma4,
    "glm4_moe": deepseek.glm4_moe,
    "glm4_moe_lite": deepseek.glm4_moe_lite,
    "glm4v_moe": deepseek.glm4v_moe,
    "glm_moe_dsa": deepseek.glm_moe_dsa,
    "gpt_oss": grouped_query.gpt_oss,
    "granitemoe": hybrid.granitemoe,
    "granitemoehybrid": hybrid.granitemoehybrid,
    "granitemoeshared": hybrid.granitemoe,
    "hunyuan_v1_moe": hunyuan.hunyuan_v1_moe,
    "hy_v3": hunyuan.hy_v3,
    "kimi_k2": deepseek.deepseek_v3,
    "kimi_k25": deepseek.deepseek_v3,
    "kimi_linear": deepseek.kimi_linear,
    "lfm2_moe": hybrid.lfm2_moe,
    "llama4": llama.llama4,
    "llama4_text": llama.llama4,
    "longcat_flash": deepseek.longcat_flash,
    "mimo_v2_flash": sliding_window.mimo_v2_flash,
    "minimax_m2": minimax.minimax_m2,
    "minimax_m3_vl": minimax.minimax_m3,
    "mistral3": deepseek.mistral4,
    "mistral4": deepseek.mistral4,
    "mixtral": grouped_query.mixtral,
    "nemotron_h": hybrid.nemotron_h,
    "olmoe": grouped_query.olmoe,
    "phimoe": grouped_query.phimoe,
    "qwen2_moe": qwen.qwen2_moe,
    "qwen3_5_moe": qwen.qwen3_5_moe,
    "qwen3_5_moe_text": qwen.qwen3_5_moe,
    "qwen3_moe": qwen.qwen3_moe,
    "qwen3_next": qwen.qwen3_next,
    "qwen3_vl_moe": qwen.qwen3_vl_moe,
    "solar_open": deepseek.solar_open,
    "step3p5": sliding_window.step3p5,
    "step3p7": sliding_window.step3p5,
}


def is_known(config: Mapping[str, Any]) -> bool:
    """Whether the lean decoder knows this config's family."""
    return str(config.get("model_type")) in FAMILIES


def read_spec(config: Mapping[str, Any]) -> DecoderSpec:
    """The decoder that a parsed config.json describes.

    UnderhillError(UNSUPPORTED_MODEL) for unknown families, dense models, and settings that Underhill does not know.
    """
    family = str(config.get("model_type") or "")
    if family not in FAMILIES:
        raise unsupported(
            msg("{family} models run in compatibility mode only.", family=repr(family))
            if family
            else msg("The model's config.json does not say which family it belongs to (model_type).")
        )
    limits.check_config(config)
    if (layers := Config(config).layers) > limits.LAYERS:
        raise unsupported(
            msg("This {family} model claims to have {layers} layers.", family=family, layers=f"{layers:,}")
        )
    spec = FAMILIES[family](Config(config))
    if not spec.moe_layers:
        raise dense(family)
    _check_choices(spec, Config(config))
    return spec


def _unrated(router: RouterSpec) -> bool:
    """Whether its groups are too small for how it rates them."""
    return router.group_score == "top2" and router.experts // router.groups < 2


def _check_choices(spec: DecoderSpec, config: Config) -> None:
    for moe in spec.moe_layers.values():
        k, experts, groups = moe.router.top_k, moe.router.experts, moe.router.groups
        if not 0 < k <= experts or not 0 < moe.router.top_groups <= groups or experts % groups:
            raise unsupported(
                msg(
                    "This {family} model asks for {k} of {experts} experts in {groups} groups.",
                    family=config.family,
                    k=k,
                    experts=experts,
                    groups=groups,
                )
            )
        router = moe.router  # beyond its groups a router chooses among experts that all score the same
        if groups > 1 and (router.top_groups * (experts // groups) < k or _unrated(router)):
            raise unsupported(
                msg(
                    "This {family} model asks for {k} experts out of {top_groups} of {groups} groups of "
                    "{experts}: there are not enough.",
                    family=config.family,
                    k=k,
                    top_groups=router.top_groups,
                    groups=groups,
                    experts=experts // groups,
                )
            )
        if min(moe.experts.hidden, moe.experts.intermediate) < 1:
            raise unsupported(msg("This {family} model claims to have experts without weights.", family=config.family))
