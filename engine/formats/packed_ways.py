"""Which packing a checkpoint has, by what its config says of it and by the names of its tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.formats.packed_flat import bitsandbytes, hqq
from engine.formats.packed_floats import MXFP4, NVFP4, compressed_floats, deepseek_fp4, modelopt
from engine.formats.packed_integers import Packing, awq, compressed, float8, gptq, unknown
from engine.translatable import msg

_FLOAT8 = ("float-quantized", "naive-quantized")


def packings(config: Mapping[str, Any], names: Mapping[str, Any]) -> tuple[Packing, ...]:
    """The ways in which matrices of a checkpoint are packed; none where they are not, or as the usual float8.

    names: its tensors. Raises UnderhillError(UNSUPPORTED_MODEL) for a kind of a known packing that is not read.
    """
    settings = config.get("quantization_config")
    settings = settings if isinstance(settings, Mapping) else {}
    method = settings.get("quant_method")
    if method is None and any(name.endswith(".weight_scale_2") for name in names):
        method = "modelopt"  # whose own file says it, beside config.json
    if method == "fp8" and any(name.endswith(".scale") for name in names):  # DeepSeek-V4, its experts in 4 bits or 8
        return (deepseek_fp4(), float8(settings))
    if method == "fp8" and settings.get("weight_block_size") == [128, 128]:
        return ()
    return _WAYS[method](settings) if method in _WAYS else ()


def _compressed(settings: Mapping[str, Any]) -> tuple[Packing, ...]:
    """One for each format that the groups of layers have."""
    groups = settings.get("config_groups")
    own = [g for g in groups.values() if isinstance(g, Mapping)] if isinstance(groups, Mapping) else []
    forms: dict[Any, dict[str, Any]] = {}
    for group in own:
        form = group.get("format") or settings.get("format")
        forms.setdefault(form, {})[str(len(forms))] = group
    if not forms:
        forms = {settings.get("format"): {}}
    return tuple(_one({**settings, "format": form, "config_groups": some}) for form, some in forms.items())


def _one(settings: Mapping[str, Any]) -> Packing:
    form = settings["format"]
    if form in (NVFP4, MXFP4):
        return compressed_floats(form)
    return float8(settings) if form in _FLOAT8 else compressed(settings)


def _auto_round(settings: Mapping[str, Any]) -> tuple[Packing, ...]:
    """AutoRound writes what another quantizer would: which one it says in its packing_format."""
    form = str(settings.get("packing_format") or settings.get("backend") or "")
    if "awq" in form:
        return (awq({**settings, "version": "gemm"}),)
    if "gptq" in form:
        return (gptq({**settings, "checkpoint_format": "gptq"}),)
    raise unknown("AutoRound", msg("in the format {form}", form=repr(form)))


_WAYS: dict[str, Callable[[Mapping[str, Any]], tuple[Packing, ...]]] = {
    "auto-round": _auto_round,
    "awq": lambda settings: (awq(settings),),
    "bitsandbytes": lambda settings: (bitsandbytes(settings),),
    "compressed-tensors": _compressed,
    "fp8": lambda settings: (float8(settings),),
    "gptq": lambda settings: (gptq(settings),),
    "hqq": lambda settings: (hqq(settings),),
    "intel/auto-round": _auto_round,
    "modelopt": modelopt,
    "modelopt_fp4": modelopt,
}
