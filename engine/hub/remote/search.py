"""Searching a hub for models that Underhill opens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from huggingface_hub.hf_api import ExpandModelProperty_T, ModelInfo

from engine.hub.remote.client import Hub
from engine.hub.remote.families import opens
from engine.hub.shown import HubModel
from engine.store import dtypes

LOOKED_AT = 500  # models that a hub is asked for, at most, to find `limit` that can be opened
_ASKED = ("config", "safetensors", "gated", "downloads", "likes", "tags", "lastModified", "sha")
_FOREIGN = {"mlx", "exl2", "exl3", "openvino", "onnx"}  # tags of weights in layouts that nobody else reads


def search(hub: Hub, words: str, limit: int = 20) -> tuple[HubModel, ...]:
    """Models whose names have these words, most downloaded first. Raises UnderhillError."""
    found: list[HubModel] = []
    with hub.asking() as api:
        listed = api.list_models(
            search=words,
            filter="safetensors",
            sort="downloads",
            limit=LOOKED_AT,
            expand=[name for name in get_args(ExpandModelProperty_T) if name in _ASKED],
        )
        for info in listed:
            found += _openable(info)
            if len(found) >= limit:
                break
    return tuple(found[:limit])


def _openable(info: ModelInfo) -> Iterator[HubModel]:
    config = info.config if isinstance(info.config, dict) else {}
    model_type, tags = config.get("model_type"), info.tags or []
    if not isinstance(model_type, str) or not opens(model_type) or _FOREIGN.intersection(tags):
        return
    weights = info.safetensors
    quantization: Any = config.get("quantization_config")
    yield HubModel(
        repo=info.id,
        title=info.id.rpartition("/")[2],
        model_type=model_type,
        parameters=weights.total if weights else 0,
        download_bytes=_nbytes(weights.parameters) if weights else 0,
        licence=next((tag.removeprefix("license:") for tag in tags if tag.startswith("license:")), ""),
        gated=bool(info.gated),
        quantized=str(quantization.get("quant_method", "")) if isinstance(quantization, dict) else "",
        downloads=info.downloads or 0,
        likes=info.likes or 0,
        updated=info.last_modified.date().isoformat() if info.last_modified else "",
        commit=info.sha or "",
    )


def _nbytes(parameters: dict[str, int]) -> int:
    """Bytes of so many numbers of each type; 0 where a type is not known."""
    if not all(name in dtypes.TORCH for name in parameters):
        return 0
    return sum(dtypes.nbytes(name, (count,)) for name, count in parameters.items())
