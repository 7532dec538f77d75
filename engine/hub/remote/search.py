"""Searching a hub for models that Underhill opens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

from huggingface_hub.hf_api import ExpandModelProperty_T, ModelInfo

from engine.hub.remote.client import Hub
from engine.hub.remote.families import opens
from engine.store import dtypes

LOOKED_AT = 500  # models that a hub is asked for, at most, to find `limit` that can be opened
_ASKED = ("config", "safetensors", "gated", "downloads", "likes", "tags", "lastModified")
_FOREIGN = {"mlx", "exl2", "exl3", "openvino", "onnx"}  # tags of weights in layouts that nobody else reads


@dataclass(frozen=True)
class Found:
    """A model that a hub lists. parameters, download_bytes: 0 where the hub does not say. quantized: how, or ''.

    gated: it asks for an account that has accepted its licence.
    """

    repo: str
    model_type: str
    parameters: int
    download_bytes: int
    licence: str
    gated: bool
    quantized: str
    downloads: int
    likes: int
    updated: str  # YYYY-MM-DD, or ''


def search(hub: Hub, words: str, limit: int = 20) -> tuple[Found, ...]:
    """Models whose names have these words, most downloaded first. Raises UnderhillError."""
    found: list[Found] = []
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


def _openable(info: ModelInfo) -> Iterator[Found]:
    config = info.config if isinstance(info.config, dict) else {}
    model_type, tags = config.get("model_type"), info.tags or []
    if not isinstance(model_type, str) or not opens(model_type) or _FOREIGN.intersection(tags):
        return
    weights = info.safetensors
    quantization: Any = config.get("quantization_config")
    yield Found(
        repo=info.id,
        model_type=model_type,
        parameters=weights.total if weights else 0,
        download_bytes=_nbytes(weights.parameters) if weights else 0,
        licence=next((tag.removeprefix("license:") for tag in tags if tag.startswith("license:")), ""),
        gated=bool(info.gated),
        quantized=str(quantization.get("quant_method", "")) if isinstance(quantization, dict) else "",
        downloads=info.downloads or 0,
        likes=info.likes or 0,
        updated=info.last_modified.date().isoformat() if info.last_modified else "",
    )


def _nbytes(parameters: dict[str, int]) -> int:
    """Bytes of so many numbers of each type; 0 where a type is not known."""
    if not all(name in dtypes.TORCH for name in parameters):
        return 0
    return sum(dtypes.nbytes(name, (count,)) for name, count in parameters.items())
