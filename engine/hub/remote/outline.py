"""What a model on a hub is, before any weight is fetched: its config and the headers of its safetensors files."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.hub.cards import experts_per_token
from engine.hub.checkpoint import CONFIG, INDEX, MOST_JSON, Checkpoint
from engine.hub.headers import Entry, header_length, parse_header
from engine.hub.importer import GROUPS
from engine.hub.layouts import find_experts
from engine.hub.mapping import ExpertPlan
from engine.hub.origin import LARGEST, is_small
from engine.hub.pieces import piece_shape
from engine.hub.remote.client import Hub
from engine.hub.remote.revision import RemoteFile, Revision, read_revision
from engine.hub.sources.opening import unpacked
from engine.hub.sources.source import Source, TensorInfo
from engine.store.layout import ExpertSpec

FIRST_LOOK = 256 << 10  # bytes of a shard that are asked for at first: most headers are shorter
AT_ONCE = 8  # shards looked at together
_EXPERT_BIAS = re.compile(r"(^|\.)experts\.\d+\..*\.bias$")


@dataclass(frozen=True)
class Outline:
    """A model that could be fetched and imported.

    files: what a download takes; weights: those of them that hold the weights, entries: what these hold, by name.
    experts: by MoE layer, how many and of what shape. dense: other weights, by name.
    """

    repo: str
    commit: str
    model_type: str
    licence: str
    gated: bool
    config: dict[str, Any] = field(repr=False)
    files: tuple[RemoteFile, ...] = field(repr=False)
    weights: tuple[RemoteFile, ...] = field(repr=False)
    entries: Mapping[str, Entry] = field(repr=False)
    experts: dict[int, tuple[int, ExpertSpec]] = field(repr=False)
    dense: Mapping[str, TensorInfo] = field(repr=False)

    @property
    def download_bytes(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def parameters(self) -> int:
        """Weights of the language model."""
        return self._dense + sum(count * spec.parameters for count, spec in self.experts.values())

    @property
    def active_parameters(self) -> int:
        """Weights that one token uses."""
        top_k = experts_per_token(self.config)
        return self._dense + sum(min(top_k, count) * spec.parameters for count, spec in self.experts.values())

    def store_bytes(self, top: int) -> int:
        """About how large the model is once imported with `top` bits."""
        specs = [
            (count, ExpertSpec(s.hidden, s.intermediate, top, s.group, s.has_gate, s.has_bias))
            for count, s in self.experts.values()
        ]
        return sum(e.nbytes for e in self.dense.values()) + sum(n * spec.layout.nbytes for n, spec in specs)

    @property
    def _dense(self) -> int:
        return sum(math.prod(e.shape) for e in self.dense.values())


def read_outline(hub: Hub, repo: str, revision: str = "main") -> Outline:
    """Look at a model. A few hundred kilobytes per shard are fetched, and no weights.

    Raises UnderhillError: what the hub raises, and what importing would raise of such a model: NOT_A_MODEL,
    UNSUPPORTED_MODEL, MISSING_FILE or BROKEN_FILE.
    """
    found = read_revision(hub, repo, revision)
    if CONFIG not in found.files:
        raise _no_weights(found, f"it has no {CONFIG}")
    config = _json(hub, found, CONFIG)
    if not isinstance(config.get("model_type"), str):
        raise UnderhillError(Kind.BROKEN_FILE, f"{CONFIG} of {repo} names no model_type.", "Choose another model.")
    index = _index(hub, found)
    shards = _shards(found, index)
    with ThreadPoolExecutor(AT_ONCE, "outline") as pool:
        headers = list(pool.map(lambda shard: _header(hub, found, shard), shards))
    entries = _indexed(found, index, dict(zip([shard.name for shard in shards], headers, strict=True)))
    source = unpacked(Checkpoint(Path(repo), config, without_zeros(entries)))
    plan = find_experts(source)
    return Outline(
        repo,
        found.commit,
        config["model_type"],
        found.licence,
        found.gated,
        config,
        _wanted(found, shards),
        shards,
        entries,
        _experts(source, plan),
        {name: source.entry(name) for name in plan.dense},
    )


def without_zeros(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """Without the biases that some packers give every matrix: that they are zeros is only seen in the weights."""
    packed = {name.removesuffix(".qweight") for name in entries if name.endswith(".qweight")}
    return {n: e for n, e in entries.items() if not _EXPERT_BIAS.search(n) or n[:-5] not in packed}


def _index(hub: Hub, found: Revision) -> dict[str, str]:
    """The shard of each tensor, where the repository has a list of that."""
    if INDEX not in found.files:
        return {}
    named = _json(hub, found, INDEX).get("weight_map")
    if not isinstance(named, dict):
        raise UnderhillError(
            Kind.BROKEN_FILE, f"{INDEX} of {found.repo} is damaged.", "Choose another copy of the model."
        )
    return {str(name): str(shard) for name, shard in named.items()}


def _shards(found: Revision, index: Mapping[str, str]) -> tuple[RemoteFile, ...]:
    """The files that hold the weights; a repository may have the same weights in other files too."""
    if index:
        names = sorted(set(index.values()))
    elif "model.safetensors" in found.files:
        names = ["model.safetensors"]
    else:
        names = sorted(n for n in found.files if n.endswith(".safetensors") and not n.startswith("consolidated"))
    if not names:
        raise _no_weights(found, "it has no safetensors files")
    for name in names:
        if name not in found.files:
            raise UnderhillError(
                Kind.MISSING_FILE, f"{found.repo} lacks its file {name}.", "Choose another copy of it."
            )
    return tuple(found.files[name] for name in names)


def _indexed(found: Revision, index: Mapping[str, str], headers: Mapping[str, dict[str, Entry]]) -> dict[str, Entry]:
    """The tensors, where there is an index those that it names, as of a folder."""
    if not index:
        return {name: entry for header in headers.values() for name, entry in header.items()}
    for name, shard in index.items():
        if name not in headers[shard]:
            raise UnderhillError(
                Kind.BROKEN_FILE,
                f"{shard} of {found.repo} lacks the tensor {name} that {INDEX} promises.",
                "Choose another copy of the model.",
            )
    return {name: headers[shard][name] for name, shard in index.items()}


def _wanted(found: Revision, shards: tuple[RemoteFile, ...]) -> tuple[RemoteFile, ...]:
    """What an import reads: small files first, then the shards."""
    small = [f for f in found.files.values() if (is_small(f.name) or f.name == INDEX) and f.size <= LARGEST]
    return (*sorted(small, key=lambda f: f.name), *shards)


def _header(hub: Hub, found: Revision, shard: RemoteFile) -> dict[str, Entry]:
    path = Path(found.repo) / shard.name
    start = hub.read(found.repo, found.commit, shard.name, 0, min(FIRST_LOOK, shard.size))
    length = header_length(path, shard.size, start)
    text = start[8 : 8 + length]
    if len(text) < length:
        text += hub.read(found.repo, found.commit, shard.name, 8 + len(text), 8 + length)
    return parse_header(path, shard.size, text)


def _experts(source: Source, plan: ExpertPlan) -> dict[int, tuple[int, ExpertSpec]]:
    shapes = {i: piece_shape(source, experts[0].matrices["up"]) for i, experts in plan.layers.items()}
    if any(len(shape) != 2 for shape in shapes.values()):
        raise UnderhillError(Kind.BROKEN_FILE, "The experts of this model are not matrices.", "Choose another model.")
    group = next((g for g in GROUPS if all(n % g == 0 for s in shapes.values() for n in s)), GROUPS[-1])
    try:
        return {
            i: (len(plan.layers[i]), ExpertSpec(cols, rows, 8, group, plan.has_gate, plan.has_bias))
            for i, (rows, cols) in shapes.items()
        }
    except ValueError as cause:
        raise UnderhillError(
            Kind.UNSUPPORTED_MODEL, f"The experts cannot be stored: {cause}.", "Choose another model."
        ) from cause


def _json(hub: Hub, found: Revision, name: str) -> dict[str, Any]:
    if found.files[name].size > MOST_JSON:
        raise UnderhillError(Kind.BROKEN_FILE, f"{name} of {found.repo} is impossibly long.", "Choose another model.")
    try:
        value = json.loads(hub.read(found.repo, found.commit, name))
    except (ValueError, RecursionError) as cause:
        raise UnderhillError(
            Kind.BROKEN_FILE, f"{name} of {found.repo} is not readable.", "Choose another model."
        ) from cause
    if not isinstance(value, dict):
        raise UnderhillError(Kind.BROKEN_FILE, f"{name} of {found.repo} is not an object.", "Choose another model.")
    return value


def _no_weights(found: Revision, why: str) -> UnderhillError:
    return UnderhillError(
        Kind.NOT_A_MODEL,
        f"{found.repo} is not a model that can be imported: {why}.",
        "Look for the same model in safetensors format.",
    )
