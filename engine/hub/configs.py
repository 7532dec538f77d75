"""Configs of models on a hub: a few kilobytes each, kept on disk, and fetched again only for another revision."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from engine.errors import UnderhillError
from engine.formats.checkpoint import CONFIG
from engine.formats.gguf_glance import GLANCE, glanced_config
from engine.hub.client import Hub
from engine.library.entries import HubModel
from engine.limits import CONFIG_BYTES
from engine.regular_file import parse_json, read_json
from engine.store.atomic import replace_file

AT_ONCE = 8  # fetched together


def read_configs(hub: Hub, models: Iterable[HubModel], folder: Path) -> dict[str, dict[str, Any]]:
    """The config.json of each model at its commit, by repository, of those that have one that can be had.

    Of a model that is GGUF alone, what the first kilobytes of a file say of it.
    folder: where they are kept. Of what cannot be had (a licence to accept, a cut) nothing is said here: whoever asks
    for such a model by name hears it.
    """
    wanted = [model for model in models if model.commit]
    found = {model.repo: _kept(folder, hub.endpoint, model) for model in wanted}
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
            replace_file(_file(folder, endpoint, repo), data)


def _kept(folder: Path, endpoint: str, model: HubModel) -> dict[str, Any] | None:
    with suppress(OSError, ValueError):
        match read_json(_file(folder, endpoint, model.repo)):
            case {"repo": model.repo, "commit": model.commit, "config": dict(config)}:
                return config
    return None


def _file(folder: Path, endpoint: str, repo: str) -> Path:
    """One for each model of each hub, whatever characters are in its name."""
    return folder / (hashlib.sha256(f"{endpoint} {repo}".encode()).hexdigest()[:32] + ".json")
