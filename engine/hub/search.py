"""Search a hub for models that can be opened, as safetensors or else as GGUF, and cache their configs on disk."""

from __future__ import annotations

import hashlib
import heapq
import json
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

from huggingface_hub import HfApi
from huggingface_hub.hf_api import ExpandModelProperty_T, ModelInfo

from engine.errors import UnderhillError
from engine.filesystem import replace_file
from engine.formats.checkpoint import CONFIG
from engine.formats.families import opens
from engine.formats.gguf_names import ARCHITECTURES
from engine.formats.gguf_source import GLANCE, glanced_config
from engine.formats.packed_mlx import reads_mlx
from engine.hub.client import Hub
from engine.hub.revision import is_gguf
from engine.hub.uses import stated_uses
from engine.library.entries import HubModel
from engine.limits import CONFIG_BYTES, PARAMETERS
from engine.regular_file import parse_json, read_json
from engine.store import dtypes

AT_ONCE = 8  # fetched together


def read_configs(hub: Hub, models: Iterable[HubModel], folder: Path) -> dict[str, dict[str, Any]]:
    """The config.json of each model at its commit, by repository, of those that have one that can be had.

    Of a model that is GGUF alone, what the first kilobytes of a file say of it.
    folder: where they are kept. Of what cannot be had (a licence to accept, a cut) nothing is said here: whoever asks
    for such a model by name hears it.
    """
    wanted = [model for model in models if model.commit]
    found = {model.repo: cached_config(folder, hub.endpoint, model) for model in wanted}
    missing = [model for model in wanted if found[model.repo] is None]
    if missing:
        with ThreadPoolExecutor(AT_ONCE, "configs") as pool:
            found |= pool.map(lambda model: (model.repo, _fetched(hub, model, folder)), missing)
    return {repo: config for repo, config in found.items() if config is not None}


def _fetched(hub: Hub, model: HubModel, folder: Path) -> dict[str, Any] | None:
    with suppress(UnderhillError, ValueError):
        if model.gguf:
            data = hub.read(model.repo, model.commit, model.gguf, 0, GLANCE)
            config = glanced_config(Path(model.gguf), data)
        else:
            config = parse_json(hub.read(model.repo, model.commit, CONFIG, most=CONFIG_BYTES))
        if isinstance(config, dict):
            keep_config(folder, hub.endpoint, model.repo, model.commit, config)
            return config
    return None


def keep_config(folder: Path, endpoint: str, repo: str, commit: str, config: dict[str, Any]) -> None:
    """Remember the config of a model; where nothing can be written, it is fetched again the next time."""
    data = json.dumps({"repo": repo, "commit": commit, "config": config}).encode()
    if len(data) <= CONFIG_BYTES:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            replace_file(cached_config_file(folder, endpoint, repo), data)


def cached_config(folder: Path, endpoint: str, model: HubModel) -> dict[str, Any] | None:
    """Return a model's config.json as it was kept for this revision, or None."""
    with suppress(OSError, ValueError):
        match read_json(cached_config_file(folder, endpoint, model.repo)):
            case {"repo": model.repo, "commit": model.commit, "config": dict(config)}:
                return config
    return None


def cached_config_file(folder: Path, endpoint: str, repo: str) -> Path:
    """One for each model of each hub, whatever characters are in its name."""
    return folder / (hashlib.sha256(f"{endpoint} {repo}".encode()).hexdigest()[:32] + ".json")


LOOKED_AT = 500  # models of a format that a hub is asked for, at most, to find `limit` that can be opened
_ASKED = ("config", "gated", "downloads", "likes", "tags", "lastModified", "sha")
_FOREIGN = {"exl2", "exl3", "openvino", "onnx"}  # tags of weights in layouts that nobody else reads
GGUF = "gguf"  # HubModel.quantized, and the tag of such files
_MLX = "mlx"  # tag of those that MLX wrote
_MIXTRAL = re.compile(r"mixtral|moe|\d+x\d", re.IGNORECASE)


def search(hub: Hub, words: str, limit: int = 20) -> tuple[HubModel, ...]:
    """Models whose names have these words, most downloaded first. Raises UnderhillError."""
    found: list[HubModel] = []
    with hub.asking() as api:
        listed = heapq.merge(
            _listed(hub, api, words, "safetensors", "safetensors"),
            _listed(hub, api, words, GGUF, "gguf", "siblings"),
            key=lambda pair: -(pair[1].downloads or 0),
        )
        for kind, info in listed:
            found += _openable(info) if kind == "safetensors" else _openable_gguf(info)
            if len(found) >= limit:
                break
    return tuple(found[:limit])


def _listed(hub: Hub, api: HfApi, words: str, kind: str, *more: str) -> Iterator[tuple[str, ModelInfo]]:
    """Repositories with files of this kind, most downloaded first. more: properties that are asked for.

    Not begun once the hub was told to stay offline: what was found by then is all.
    """
    if hub.offline:
        return
    listed = api.list_models(
        search=words,
        filter=kind,
        sort="downloads",
        limit=LOOKED_AT,
        expand=[name for name in get_args(ExpandModelProperty_T) if name in (*_ASKED, *more)],
    )
    for info in listed:
        yield kind, info


def _openable(info: ModelInfo) -> Iterator[HubModel]:
    config = _config(info)
    model_type = config.get("model_type")
    tags = info.tags or []
    if not isinstance(model_type, str) or not opens(model_type) or _FOREIGN.intersection(tags):
        return
    if _MLX in tags and not reads_mlx(model_type):
        return
    weights = info.safetensors
    quantization: Any = config.get("quantization_config")
    method = quantization.get("quant_method") if isinstance(quantization, dict) else None
    yield _model(
        info,
        model_type,
        weights.total if weights else 0,
        download_bytes=_nbytes(weights.parameters) if weights else 0,
        quantized=str(method or "") or (_MLX if _MLX in tags else ""),
    )


def _openable_gguf(info: ModelInfo) -> Iterator[HubModel]:
    """Of a repository without safetensors. The hub says of a GGUF file its architecture, not whether it has experts."""
    if "safetensors" in (info.tags or []):
        return
    names = [sibling.rfilename for sibling in info.siblings or ()]
    files = sorted(name for name in names if is_gguf(name))
    header = info.gguf if isinstance(info.gguf, dict) else {}
    total, architecture = header.get("total"), str(header.get("architecture"))
    model_type = _config(info).get("model_type")
    if not files:
        return
    parameters = total if type(total) is int and 0 < total <= PARAMETERS else 0
    if CONFIG in names and isinstance(model_type, str) and opens(model_type):
        yield _model(info, model_type, parameters, quantized=GGUF)
    elif architecture in ARCHITECTURES and (architecture != "llama" or _MIXTRAL.search(info.id)):
        yield _model(info, architecture, parameters, quantized=GGUF, gguf=files[0])


def _model(
    info: ModelInfo, model_type: str, parameters: int, *, quantized: str, download_bytes: int = 0, gguf: str = ""
) -> HubModel:
    tags = info.tags or []
    return HubModel(
        repo=info.id,
        title=info.id.rpartition("/")[2],
        model_type=model_type,
        parameters=parameters,
        download_bytes=download_bytes,
        licence=next((tag.removeprefix("license:") for tag in tags if tag.startswith("license:")), ""),
        gated=bool(info.gated),
        quantized=quantized,
        downloads=info.downloads or 0,
        likes=info.likes or 0,
        updated=info.last_modified.date().isoformat() if info.last_modified else "",
        commit=info.sha if isinstance(info.sha, str) else "",
        gguf=gguf,
        good_at=stated_uses(info),
    )


def _config(info: ModelInfo) -> dict[str, Any]:
    return info.config if isinstance(info.config, dict) else {}


def _nbytes(parameters: dict[str, int]) -> int:
    """Bytes of so many numbers of each type; 0 where a type is not known."""
    if not all(name in dtypes.TORCH for name in parameters):
        return 0
    return sum(dtypes.nbytes(name, (count,)) for name, count in parameters.items())
