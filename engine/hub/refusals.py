"""Why a model is not opened, in the words that every way to it uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.translatable import msg

_KEPT = (None, "fp8", "mxfp4")  # quantizations whose weights are read as they lie, with scales beside them


def dense_model(kind: str) -> UnderhillError:
    """UNSUPPORTED_MODEL for a model of this kind that has no routed experts."""
    return UnderhillError(
        Kind.UNSUPPORTED_MODEL,
        msg("This {kind} model is dense, not a Mixture-of-Experts model: it has no routed experts.", kind=kind),
        msg("Underhill runs Mixture-of-Experts models; choose one of those."),
    )


def check_quantization(config: Mapping[str, Any]) -> None:
    """Of a source that was unpacked already. Raises UnderhillError(UNSUPPORTED_MODEL) where another packing is left."""
    settings = config.get("quantization_config")
    method = settings.get("quant_method") if isinstance(settings, dict) else settings
    if method not in _KEPT:
        raise UnderhillError(
            Kind.UNSUPPORTED_MODEL,
            msg("This model is already quantized ({method}), in a way that Underhill does not read.", method=method),
            msg("Get the model in its original precision, as GGUF, or quantized by GPTQ or AWQ."),
        )
