"""The families the lean decoder knows: model_type of a config -> the module whose `spec` describes it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from engine.importing import ALONE
from engine.models.config import Config, unsupported
from engine.models.spec import DecoderSpec

MOST_LAYERS = 4096  # a config that claims more is no model, and would take hours to read

FAMILIES: dict[str, str] = {
    "deepseek_v2": "deepseek_v2",
    "deepseek_v3": "deepseek_v3",
    "dots1": "dots1",
    "ernie4_5_moe": "ernie4_5_moe",
    "flex_olmo": "flex_olmo",
    "gemma4": "gemma4",
    "gemma4_text": "gemma4",
    "glm4_moe": "glm4_moe",
    "glm4_moe_lite": "glm4_moe_lite",
    "gpt_oss": "gpt_oss",
    "granitemoe": "granitemoe",
    "granitemoeshared": "granitemoe",
    "hunyuan_v1_moe": "hunyuan_v1_moe",
    "hy_v3": "hy_v3",
    "lfm2_moe": "lfm2_moe",
    "minimax_m2": "minimax_m2",
    "mixtral": "mixtral",
    "olmoe": "olmoe",
    "phimoe": "phimoe",
    "qwen2_moe": "qwen2_moe",
    "qwen3_5_moe": "qwen3_5_moe",
    "qwen3_5_moe_text": "qwen3_5_moe",
    "qwen3_moe": "qwen3_moe",
    "qwen3_next": "qwen3_next",
    "solar_open": "solar_open",
}


def is_known(config: Mapping[str, Any]) -> bool:
    """Whether the lean decoder has a file for this config's family."""
    return str(config.get("model_type")) in FAMILIES


def read_spec(config: Mapping[str, Any]) -> DecoderSpec:
    """The decoder that a parsed config.json describes.

    UnderhillError(UNSUPPORTED_MODEL) for families without a file, dense models, and settings nobody taught Underhill.
    """
    family = str(config.get("model_type") or "")
    if family not in FAMILIES:
        raise unsupported(
            f"Underhill has no decoder of its own for {family!r} models."
            if family
            else "The model's config.json does not say which family it belongs to (model_type)."
        )
    if (layers := Config(config).integer("num_hidden_layers")) > MOST_LAYERS:
        raise unsupported(f"This {family} model claims to have {layers:,} layers.")
    with ALONE:
        room = import_module(f"{__name__}.{FAMILIES[family]}")
    spec: DecoderSpec = room.spec(dict(config))
    if not spec.moe_layers:
        raise unsupported(f"This {family} model is dense: it has no experts, which is all that Underhill is made for.")
    _check_choices(spec, Config(config))
    return spec


def _check_choices(spec: DecoderSpec, config: Config) -> None:
    for moe in spec.moe_layers.values():
        k, experts, groups = moe.router.top_k, moe.router.experts, moe.router.groups
        if not 0 < k <= experts or not 0 < moe.router.top_groups <= groups or experts % groups:
            raise unsupported(f"This {config.family} model asks for {k} of {experts} experts in {groups} groups.")
        if min(moe.experts.hidden, moe.experts.intermediate) < 1:
            raise unsupported(f"This {config.family} model claims to have experts without weights.")
