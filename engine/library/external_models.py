"""Models of other apps on this computer, on Linux, Windows and macOS: found and inspected, and never changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.convert.importer import Report
from engine.formats.gguf_header import SUFFIX, model_name
from engine.library import import_compatibility
from engine.library.entries import FoundModel
from engine.regular_file import read_json, read_text
from engine.translatable import msg

HUGGING_FACE, OLLAMA, FILES = "hugging_face", "ollama", "files"  # how a place is laid out


@dataclass(frozen=True)
class Place:
    """A folder that may or may not be there. layout: one of the above; FILES is any tree of GGUF and safetensors."""

    app: str
    layout: str
    path: Path


def places(system: str, environment: Mapping[str, str], home: Path) -> tuple[Place, ...]:
    """All places on such a system ('linux', 'win32', 'darwin'), each once. Looks into LM Studio's settings."""
    found = (
        *_hugging_face_places(environment, home),
        *_lm_studio(home),
        *_ollama_places(system, environment, home),
        *_jan(system, environment, home),
        *(Place("GPT4All", FILES, p / "nomic.ai" / "GPT4All") for p in _data(system, environment, home)),
        *_llama_cpp(system, environment, home),
    )
    return tuple({place.path: place for place in found}.values())


def _hugging_face_places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    base = Path(environment.get("XDG_CACHE_HOME") or home / ".cache")
    top = Path(environment.get("HF_HOME") or base / "huggingface")
    own = environment.get("HF_HUB_CACHE") or environment.get("HUGGINGFACE_HUB_CACHE")
    yield Place("Hugging Face", HUGGING_FACE, _expanded(own, home) if own else _expanded(str(top), home) / "hub")


def _lm_studio(home: Path) -> Iterator[Place]:
    top = home / ".lmstudio"
    with suppress(OSError, UnicodeDecodeError):
        pointed = read_text(home / ".lmstudio-home-pointer").strip()
        top = Path(pointed) if pointed else top
    yield Place("LM Studio", FILES, top / "models")
    yield Place("LM Studio", FILES, home / ".cache" / "lm-studio" / "models")
    with suppress(OSError, ValueError, KeyError, TypeError):
        chosen = read_json(top / "settings.json")["downloadsFolder"]
        yield Place("LM Studio", FILES, Path(chosen))


def _ollama_places(system: str, environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    if environment.get("OLLAMA_MODELS"):
        yield Place("Ollama", OLLAMA, _expanded(environment["OLLAMA_MODELS"], home))
    yield Place("Ollama", OLLAMA, home / ".ollama" / "models")
    if system == "linux":  # where it runs as a service
        yield Place("Ollama", OLLAMA, Path("/usr/share/ollama/.ollama/models"))


def _jan(system: str, environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    tops = {
        "win32": [Path(environment.get("APPDATA") or home / "AppData" / "Roaming")],
        "darwin": [home / "Library" / "Application Support"],
    }.get(system, [*_data(system, environment, home), Path(environment.get("XDG_CONFIG_HOME") or home / ".config")])
    for top in tops:
        for inner in ("llamacpp/models", "cortexcpp/models", "models"):
            yield Place("Jan", FILES, top / "Jan" / "data" / inner)
    yield Place("Jan", FILES, home / "jan" / "models")


def _llama_cpp(system: str, environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    if environment.get("LLAMA_CACHE"):
        yield Place("llama.cpp", FILES, _expanded(environment["LLAMA_CACHE"], home))
    cache = {
        "win32": Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local"),
        "darwin": home / "Library" / "Caches",
    }.get(system, Path(environment.get("XDG_CACHE_HOME") or home / ".cache"))
    yield Place("llama.cpp", FILES, cache / "llama.cpp")


def _data(system: str, environment: Mapping[str, str], home: Path) -> list[Path]:
    """Where apps keep data of this user."""
    return {
        "win32": [Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local")],
        "darwin": [home / "Library" / "Application Support"],
    }.get(system, [Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")])


def _expanded(path: str, home: Path) -> Path:
    return home / path[2:] if path[:2] in ("~/", "~\\") else Path(path)


MOST = 20_000  # files looked at in one place
DEEPEST = 6  # folders
_MODEL = "application/vnd.ollama.image.model"
_TEMPLATE = "application/vnd.ollama.image.template"


def find(
    report: Report, where: Sequence[Place] | None = None, rate: import_compatibility.Rate = import_compatibility.unrated
) -> tuple[FoundModel, ...]:
    """What other apps have, those that can be opened first, the largest first. report may raise to stop.

    where: None looks in the usual places of this system. Folders that may not be read are passed over. rate: says how
    one would run here.
    """
    if where is None:
        where = places(sys.platform, os.environ, Path.home())
    seen: set[Path] = set()
    candidates: list[FoundModel] = []
    for place in where:
        with suppress(OSError):  # unplugged, or not ours to read
            for item in _candidates(place):
                real = Path(item.path).resolve()
                # Resolved: the Hugging Face cache links snapshots to blobs, and LM Studio may point into it.
                if real not in seen:
                    seen.add(real)
                    candidates.append(item)
    found: list[FoundModel] = []
    for n, item in enumerate(candidates):
        report(msg("Checking {title}", title=item.title), n, len(candidates))
        judged = item
        if not item.why_not:
            with suppress(OSError):  # gone meanwhile
                judge = import_compatibility.gguf if item.format == "gguf" else import_compatibility.checkpoint
                known = judge(item, rate)
                if known is None:
                    continue
                judged = known
        found.append(replace(judged, template=judged.template or item.template))
    return tuple(sorted(found, key=lambda f: (not f.can_open, -f.nbytes, f.title)))


def _candidates(place: Place) -> Iterator[FoundModel]:
    if place.layout == HUGGING_FACE:
        yield from _hugging_face(place)
    elif place.layout == OLLAMA:
        yield from _ollama(place)
    else:
        yield from _tree(place)


def _hugging_face(place: Place) -> Iterator[FoundModel]:
    """Every snapshot of every repository: models--OWNER--NAME/snapshots/REVISION."""
    for repository in sorted(place.path.glob("models--*")):
        repo = repository.name.removeprefix("models--").replace("--", "/", 1)
        for snapshot in sorted(p for p in (repository / "snapshots").glob("*") if p.is_dir()):
            files = sorted(p for p in snapshot.rglob("*" + SUFFIX) if p.is_file())
            for file in files:
                item = _gguf(place.app, f"{repo} {model_name(file)}", file)
                if item is not None:
                    yield replace(item, repo=repo, revision=snapshot.name)
            if import_compatibility.is_checkpoint(snapshot) and not files:
                yield replace(_folder(place.app, repo, snapshot), repo=repo, revision=snapshot.name)


def _ollama(place: Place) -> Iterator[FoundModel]:
    """Manifests name blobs: manifests/REGISTRY/OWNER/NAME/TAG -> blobs/sha256-…"""
    top = place.path / "manifests"
    for file in sorted(p for p in top.glob("*/*/*/*") if p.is_file()):
        registry, owner, name, tag = file.relative_to(top).parts
        title = f"{name}:{tag}" if owner == "library" else f"{owner}/{name}:{tag}"
        layers = _layers(file)
        for layer in layers:
            if layer.get("mediaType") != _MODEL:
                continue
            # Without slashes: the digest is text of a file of others, and must not lead out of the folder.
            blob = place.path / "blobs" / str(layer.get("digest", "")).replace(":", "-", 1).replace("/", "")
            if blob.is_file():
                item = _gguf(place.app, title, blob)
                if item is not None:
                    template = any(other.get("mediaType") == _TEMPLATE for other in layers)
                    yield replace(item, repo=f"{registry}/{owner}/{name}", revision=tag, template=template)


def _tree(place: Place) -> Iterator[FoundModel]:
    """GGUF files and checkpoints anywhere below a folder."""
    count = 0
    for folder, inner, names in os.walk(place.path):
        here = Path(folder)
        depth = len(here.relative_to(place.path).parts)
        inner[:] = [] if depth >= DEEPEST else sorted(d for d in inner if not d.startswith("."))
        count += len(names)
        # A place may be somebody's whole disk (LM Studio's folder is theirs to choose).
        if count > MOST:
            return
        for name in sorted(names):
            if name.lower().endswith(SUFFIX):
                title = here.name if name.lower() == "model" + SUFFIX else model_name(Path(name))
                item = _gguf(place.app, title, here / name)
                if item is not None:
                    yield item
        if import_compatibility.is_checkpoint(here) and any(name.endswith(".safetensors") for name in names):
            yield _folder(place.app, here.name, here)


def _gguf(app: str, title: str, file: Path) -> FoundModel | None:
    try:
        shown, nbytes, wrong = import_compatibility.first_part(file)
    except OSError:  # a link to what is not there
        return None
    if not shown:
        return None
    return FoundModel(
        app=app,
        title=title,
        name=import_compatibility.library_name(title),
        path=str(file),
        format="gguf",
        nbytes=nbytes,
        why_not=wrong,
    )


def _folder(app: str, title: str, folder: Path) -> FoundModel:
    nbytes = 0
    for file in folder.iterdir():
        with suppress(OSError):  # a link to what is not there
            nbytes += file.stat().st_size
    return FoundModel(
        app=app,
        title=title,
        name=import_compatibility.library_name(title),
        path=str(folder),
        format="safetensors",
        nbytes=nbytes,
    )


def _layers(manifest: Path) -> list[dict[str, Any]]:
    try:
        layers = read_json(manifest)["layers"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [layer for layer in layers if isinstance(layer, dict)] if isinstance(layers, list) else []
