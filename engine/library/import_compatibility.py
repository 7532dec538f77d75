"""Import compatibility of a checkpoint or GGUF file: what it is and whether it can be imported, from headers alone."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.convert.expert_plan import find_experts
from engine.errors import UnderhillError, as_error
from engine.formats import gguf_header
from engine.formats.checkpoint import CONFIG, Checkpoint
from engine.formats.families import COMPATIBLE, EXPERT_COUNT_KEYS, FAMILIES, check_quantization, text_config
from engine.formats.gguf_header import read_gguf_header
from engine.formats.gguf_names import ARCHITECTURES
from engine.formats.opening import open_source, unpacked
from engine.formats.packed_mlx import is_mlx
from engine.library.entries import FoundModel
from engine.library.home import LONGEST, checked_name
from engine.limits import COMPANION_BYTES
from engine.planning.fit import Fit
from engine.regular_file import is_regular, read_text
from engine.translatable import NO_TEXT, Translatable, msg

MOST_NAME = LONGEST - 10  # bytes of a name, to which something may be added


Rate = Callable[[Mapping[str, Any], str, int], Fit | None]  # (config, name, parameters) -> how it would run here


def unrated(config: Mapping[str, Any], name: str, parameters: int) -> Fit | None:
    """Nobody asked how it would run."""
    return None


def gguf(found: FoundModel, rate: Rate = unrated) -> FoundModel | None:
    """What is known before, with what the file's header says. None for what is no language model at all."""
    path = Path(found.path)
    try:
        metadata = read_gguf_header(path, arrays=False).metadata
    except UnderhillError as error:
        return replace(found, why_not=error.sentence)
    architecture = str(metadata.get("general.architecture", ""))
    if architecture == "clip":  # the eyes of another model
        return None
    experts = metadata.get(f"{architecture}.expert_count", 0)
    found = replace(
        found,
        architecture=architecture,
        quantization=_file_type(metadata),
        experts=experts if type(experts) is int else 0,
        template=isinstance(metadata.get("tokenizer.chat_template"), str),
    )
    if architecture in ARCHITECTURES and not found.experts:
        return replace(found, why_not=_DENSE)
    if architecture not in ARCHITECTURES:
        why = msg("{architecture} models aren't supported from GGUF.", architecture=architecture or msg("unnamed"))
        return replace(found, why_not=why if found.experts else _DENSE)
    return _rated(found, rate)


def checkpoint(found: FoundModel, rate: Rate = unrated) -> FoundModel | None:
    """The same of a folder with a config.json. None where it names no kind of model."""
    path = Path(found.path)
    try:
        opened = Checkpoint.open(path)
    except UnderhillError as error:
        return replace(found, why_not=error.sentence) if any(path.glob("*.safetensors")) else None
    config = opened.config
    model_type, counted = str(config["model_type"]), expert_count(text_config(config))
    found = replace(
        found,
        architecture=model_type,
        quantization=quantization_of(config, opened.entries),
        experts=counted,
        template=(path / "chat_template.jinja").is_file() or _template_in(path / "tokenizer_config.json"),
    )
    if model_type not in FAMILIES:  # asking transformers about it would build the model
        if model_type in COMPATIBLE and counted:
            try:
                check_quantization(unpacked(opened).config)
            except UnderhillError as error:
                return replace(found, why_not=error.sentence)
            total = sum(math.prod(entry.shape) for entry in opened.entries.values())
            return replace(found, can_open=True, fit=rate(config, found.title, total))
        return replace(
            found,
            why_not=msg("{model_type} models aren't supported.", model_type=model_type) if counted else _DENSE,
        )
    return _rated(found, rate)


def _rated(found: FoundModel, rate: Rate) -> FoundModel:
    try:
        source = open_source(Path(found.path))
        find_experts(source)
        fit = rate(source.config, found.title, sum(math.prod(entry.shape) for entry in source.entries.values()))
    except Exception as error:  # a strange file must not hide the others
        return replace(found, why_not=as_error(error).sentence)
    return replace(found, can_open=True, fit=fit)


def quantization_of(config: Mapping[str, Any], names: Mapping[str, Any]) -> str:
    """By what a checkpoint was quantized: a word; '' where it was not. names: its tensors."""
    if is_mlx(config, names):
        return "mlx"
    settings = config.get("quantization_config")
    return str(settings.get("quant_method") or "") if isinstance(settings, dict) else ""


def is_checkpoint(folder: Path) -> bool:
    """Whether a folder looks like a checkpoint."""
    return is_regular(folder / CONFIG)


def first_part(path: Path) -> tuple[bool, int, Translatable]:
    """Of a GGUF file: (whether a list should show it, bytes of all its parts, what is wrong with them)."""
    try:
        parts = gguf_header.parts(path)
        return path == parts[0], sum(p.stat().st_size for p in parts), NO_TEXT
    except UnderhillError as error:
        return True, path.stat().st_size, error.sentence


def library_name(title: str) -> str:
    """A name for the library, made of what another app calls a model."""
    name = re.sub(r'[<>:"/\\|?*\x00-\x1f\ud800-\udfff]+', "-", title).encode()[:MOST_NAME].decode(errors="ignore")
    name = name.strip().strip(" .-") or "model"
    for called in (name, f"{name} model"):
        with suppress(UnderhillError):
            return checked_name(called)
    return f"The {name} model"  # one that is another thing on Windows, whatever follows it


_DENSE = msg("Dense model. Only Mixture-of-Experts models are supported.")


def _file_type(metadata: Mapping[str, Any]) -> str:
    from gguf import LlamaFileType

    try:
        return LlamaFileType(metadata["general.file_type"]).name.removeprefix("MOSTLY_").removeprefix("ALL_")
    except (KeyError, ValueError):
        return ""


def expert_count(config: Mapping[str, Any]) -> int:
    """Experts of a layer, by a config; 0 where it counts none."""
    value = next((config[key] for key in EXPERT_COUNT_KEYS if config.get(key)), 0)
    value = max((v for v in value if type(v) is int), default=0) if isinstance(value, list) else value
    return value if type(value) is int and value > 0 else 0


def _template_in(file: Path) -> bool:
    try:
        return '"chat_template"' in read_text(file, COMPANION_BYTES)
    except (OSError, UnicodeDecodeError):
        return False
