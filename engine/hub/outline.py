"""Looking at a model on a hub: its config and the headers of its files, and no weights."""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine import limits
from engine.errors import Kind, UnderhillError
from engine.formats.checkpoint import CONFIG, INDEX, Checkpoint
from engine.formats.opening import unpacked
from engine.formats.origin import is_small
from engine.formats.safetensors_header import SafetensorsEntry, header_length, parse_header
from engine.hub import errors
from engine.hub.client import Hub
from engine.hub.gguf_outline import gguf_outline
from engine.hub.model_outline import Outline, outline_of
from engine.hub.peek import looked_at
from engine.hub.revision import RemoteFile, Revision, read_revision
from engine.regular_file import parse_json
from engine.translatable import Translatable, msg

__all__ = ["Outline", "read_outline", "without_zeros"]

FIRST_LOOK = 256 << 10  # bytes of a shard that are asked for at first: most headers are shorter
AT_ONCE = 8  # shards looked at together
_EXPERT_BIAS = re.compile(r"(^|\.)experts\.\d+\..*\.bias$")

_PACKED = (
    ".qweight",
    ".weight_packed",
    ".W_q",
    ".weight.absmax",
    ".weight_scale_2",
)  # each stands beside packed weights


def read_outline(hub: Hub, repo: str, revision: str = "main", gguf: str = "", top: int = 0) -> Outline:
    """Look at a model. A few hundred kilobytes per shard are fetched, and no weights.

    gguf: part of the name of the GGUF model to take, of a repository with several; '' takes safetensors where there are
    some, else what suits a store of `top` bits.
    Raises UnderhillError: BAD_REQUEST where `gguf` names none or several; what the hub raises, and what importing would
    raise of such a model: NOT_A_MODEL, UNSUPPORTED_MODEL, MISSING_FILE or BROKEN_FILE.
    """
    found = read_revision(hub, repo, revision)
    if gguf and not found.ggufs:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("{repo} has no GGUF files, so none called {gguf}.", repo=repo, gguf=gguf),
            msg("Ask for it without naming one."),
        )
    if found.ggufs and (gguf or not any(name.endswith(".safetensors") for name in found.files)):
        return gguf_outline(hub, found, gguf, top)
    if CONFIG not in found.files:
        raise _no_weights(found, msg("it has no {config}", config=CONFIG))
    config = _json(hub, found, CONFIG, limits.CONFIG_BYTES)
    if not isinstance(config.get("model_type"), str):
        raise UnderhillError(
            Kind.BROKEN_FILE,
            msg("{config} of {repo} names no model_type.", config=CONFIG, repo=repo),
            msg("Choose another model."),
        )
    limits.check_config(config)
    index = _index(hub, found)
    shards = _shards(found, index)
    with ThreadPoolExecutor(AT_ONCE, "outline") as pool:
        headers = list(pool.map(lambda shard: _header(hub, found, shard), shards))
    names = [shard.name for shard in shards]
    entries = _indexed(found, index, dict(zip(names, (parsed for parsed, _ in headers), strict=True)))
    source = unpacked(Checkpoint(Path(repo), config, without_zeros(entries)))
    heads = dict(zip(names, (head for _, head in headers), strict=True))
    # a packed config leaves out how it was packed
    return replace(outline_of(found, source, _wanted(found, shards), shards, heads, entries), config=config)


def without_zeros(entries: Mapping[str, SafetensorsEntry]) -> dict[str, SafetensorsEntry]:
    """Without the biases that some packers give every matrix: that they are zeros is only seen in the weights."""
    packed = {name.removesuffix(end) for name in entries for end in _PACKED if name.endswith(end)}
    return {n: e for n, e in entries.items() if not _EXPERT_BIAS.search(n) or n[:-5] not in packed}


def _index(hub: Hub, found: Revision) -> dict[str, str]:
    """The shard of each tensor, where the repository has a list of that."""
    if INDEX not in found.files:
        return {}
    named = _json(hub, found, INDEX, limits.INDEX_BYTES).get("weight_map")
    if not isinstance(named, dict):
        raise UnderhillError(
            Kind.BROKEN_FILE,
            msg("{index} of {repo} is damaged.", index=INDEX, repo=found.repo),
            msg("Choose another copy of the model."),
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
        raise _no_weights(found, msg("it has no safetensors files"))
    for name in names:
        if name not in found.files:
            raise UnderhillError(
                Kind.MISSING_FILE,
                msg("{repo} lacks its file {name}.", repo=found.repo, name=name),
                msg("Choose another copy of it."),
            )
    return tuple(found.files[name] for name in names)


def _indexed(
    found: Revision, index: Mapping[str, str], headers: Mapping[str, dict[str, SafetensorsEntry]]
) -> dict[str, SafetensorsEntry]:
    """The tensors, where there is an index those that it names, as of a folder."""
    if not index:
        return {name: entry for header in headers.values() for name, entry in header.items()}
    for name, shard in index.items():
        if name not in headers[shard]:
            raise UnderhillError(
                Kind.BROKEN_FILE,
                msg(
                    "{shard} of {repo} lacks the tensor {name} that {index} promises.",
                    shard=shard,
                    repo=found.repo,
                    name=name,
                    index=INDEX,
                ),
                msg("Choose another copy of the model."),
            )
    return {name: headers[shard][name] for name, shard in index.items()}


def _wanted(found: Revision, shards: tuple[RemoteFile, ...]) -> tuple[RemoteFile, ...]:
    """What an import reads: small files first, then the shards."""
    small = [
        f for f in found.files.values() if (is_small(f.name) or f.name == INDEX) and f.size <= limits.COMPANION_BYTES
    ]
    return (*sorted(small, key=lambda f: f.name), *shards)


def _header(hub: Hub, found: Revision, shard: RemoteFile) -> tuple[dict[str, SafetensorsEntry], bytes]:
    """What it holds, and the bytes that say so."""
    return looked_at(lambda: _read_header(hub, found, shard))


def _read_header(hub: Hub, found: Revision, shard: RemoteFile) -> tuple[dict[str, SafetensorsEntry], bytes]:
    path = Path(found.repo) / shard.name
    start = hub.read(found.repo, found.commit, shard.name, 0, min(FIRST_LOOK, shard.size))
    length = header_length(path, shard.size, start)
    text = start[8 : 8 + length]
    if len(text) < length:
        text += hub.read(found.repo, found.commit, shard.name, 8 + len(text), 8 + length)
    return parse_header(path, shard.size, text), start[:8] + text


def _json(hub: Hub, found: Revision, name: str, max_bytes: int) -> dict[str, Any]:
    if found.files[name].size > max_bytes:
        raise UnderhillError(
            Kind.BROKEN_FILE,
            msg("{name} of {repo} is impossibly long.", name=name, repo=found.repo),
            msg("Choose another model."),
        )
    try:
        value = parse_json(_right(hub, found, found.files[name]))
    except ValueError as cause:
        raise UnderhillError(
            Kind.BROKEN_FILE,
            msg("{name} of {repo} is not readable.", name=name, repo=found.repo),
            msg("Choose another model."),
        ) from cause
    if not isinstance(value, dict):
        raise UnderhillError(
            Kind.BROKEN_FILE,
            msg("{name} of {repo} is not an object.", name=name, repo=found.repo),
            msg("Choose another model."),
        )
    return value


def _right(hub: Hub, found: Revision, file: RemoteFile) -> bytes:
    """All of a small file, as the hub's checksum says that it is."""
    for _ in range(2):  # damaged on the way, it comes once more
        data = hub.read(found.repo, found.commit, file.path, most=file.size)
        (digest := file.digest()).update(data)
        if file.checksum in ("", digest.hexdigest()):
            return data
    raise errors.damaged_there(msg("{name} of {repo} arrives damaged.", name=file.name, repo=found.repo))


def _no_weights(found: Revision, why: Translatable) -> UnderhillError:
    return UnderhillError(
        Kind.NOT_A_MODEL,
        msg("{repo} is not a model that can be imported: {why}.", repo=found.repo, why=why),
        msg("Look for another repository of the same model, with safetensors or GGUF files."),
    )
