"""Where other apps keep their models, on Linux, Windows and macOS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.regular_file import read_json, read_text

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
