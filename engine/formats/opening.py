"""Open whatever a person points at, a folder or a file, as a source of weights.

Checkpoints whose matrices are packed small numbers with scales (GPTQ, NVFP4, HQQ, MLX …) are read as if they were not;
which packing one has, its config and the names of its tensors say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.formats import gguf_header
from engine.formats.checkpoint import CONFIG, Checkpoint, small_files
from engine.formats.gguf_source import GgufSource
from engine.formats.packed_flat import bitsandbytes, hqq
from engine.formats.packed_floats import MXFP4, NVFP4, compressed_floats, deepseek_fp4, modelopt
from engine.formats.packed_integers import PackedRows, Packing, awq, compressed, float8, gptq, unknown
from engine.formats.packed_mlx import is_mlx, mlx_entries
from engine.formats.source import (
    DecodedEntry,
    DecodedSource,
    Form,
    TensorInfo,
    WeightSource,
)
from engine.translatable import msg

_FLOAT8 = ("float-quantized", "naive-quantized")


def packings(config: Mapping[str, Any], names: Mapping[str, Any]) -> tuple[Packing, ...]:
    """The ways in which matrices of a checkpoint are packed; none where they are not, or as the usual float8.

    names: its tensors. Raises UnderhillError(UNSUPPORTED_MODEL) for a kind of a known packing that is not read.
    """
    settings = config.get("quantization_config")
    settings = settings if isinstance(settings, Mapping) else {}
    method = settings.get("quant_method")
    if method is None and any(name.endswith(".weight_scale_2") for name in names):
        method = "modelopt"  # whose own file says it, beside config.json
    if method == "fp8" and any(name.endswith(".scale") for name in names):  # DeepSeek-V4, its experts in 4 bits or 8
        return (deepseek_fp4(), float8(settings))
    if method == "fp8" and settings.get("weight_block_size") == [128, 128]:
        return ()
    return _WAYS[method](settings) if method in _WAYS else ()


def _compressed(settings: Mapping[str, Any]) -> tuple[Packing, ...]:
    """One for each format that the groups of layers have."""
    groups = settings.get("config_groups")
    own = [g for g in groups.values() if isinstance(g, Mapping)] if isinstance(groups, Mapping) else []
    forms: dict[Any, dict[str, Any]] = {}
    for group in own:
        form = group.get("format") or settings.get("format")
        forms.setdefault(form, {})[str(len(forms))] = group
    if not forms:
        forms = {settings.get("format"): {}}
    return tuple(_one({**settings, "format": form, "config_groups": some}) for form, some in forms.items())


def _one(settings: Mapping[str, Any]) -> Packing:
    form = settings["format"]
    if form in (NVFP4, MXFP4):
        return compressed_floats(form)
    return float8(settings) if form in _FLOAT8 else compressed(settings)


def _auto_round(settings: Mapping[str, Any]) -> tuple[Packing, ...]:
    """AutoRound writes what another quantizer would: which one it says in its packing_format."""
    form = str(settings.get("packing_format") or settings.get("backend") or "")
    if "awq" in form:
        return (awq({**settings, "version": "gemm"}),)
    if "gptq" in form:
        return (gptq({**settings, "checkpoint_format": "gptq"}),)
    raise unknown("AutoRound", msg("in the format {form}", form=repr(form)))


_WAYS: dict[str, Callable[[Mapping[str, Any]], tuple[Packing, ...]]] = {
    "auto-round": _auto_round,
    "awq": lambda settings: (awq(settings),),
    "bitsandbytes": lambda settings: (bitsandbytes(settings),),
    "compressed-tensors": _compressed,
    "fp8": lambda settings: (float8(settings),),
    "gptq": lambda settings: (gptq(settings),),
    "hqq": lambda settings: (hqq(settings),),
    "intel/auto-round": _auto_round,
    "modelopt": modelopt,
    "modelopt_fp4": modelopt,
}


_EXPERT = re.compile(r"(^|\.)experts\.\d+\.")


class PackedCheckpoint(DecodedSource):
    """See Source. What is not packed comes out of the files as it lies there."""

    def __init__(
        self, checkpoint: Checkpoint, config: dict[str, Any], form: Form, entries: Mapping[str, TensorInfo]
    ) -> None:
        self.path = checkpoint.path
        self.config = config
        self.form = form
        super().__init__(entries, checkpoint)
        self._checkpoint = checkpoint

    @classmethod
    def of(cls, checkpoint: Checkpoint, packings: tuple[Packing, ...]) -> PackedCheckpoint:
        """The same checkpoint with its matrices unpacked. packings: at least one.

        Raises UnderhillError: UNSUPPORTED_MODEL for what is packed in another way, MISSING_FILE or BROKEN_FILE where
        what decodes a matrix is not there or does not fit it.
        """
        held = checkpoint.entries
        stems: dict[str, Packing] = {}
        for name, entry in held.items():
            stem, _, ending = name.rpartition(".")
            packing = next((p for p in packings if p.main == ending and p.dtype == entry.dtype), None)
            if packing is not None:
                stems[stem] = packing
        if not stems:
            raise UnderhillError(
                Kind.BROKEN_FILE,
                msg("config.json says that the weights are {name}, and none of them is.", name=packings[0].form.name),
                msg("Download the model again."),
            )
        gone = {f"{stem}.{ending}" for stem, p in stems.items() for ending in (p.main, *p.companions)}
        unused = tuple(f".{ending}" for p in packings for ending in p.unused)
        entries: dict[str, TensorInfo] = {
            name: entry for name, entry in held.items() if name not in gone and not name.endswith(unused or "\0")
        }
        for stem, packing in stems.items():
            rows = PackedRows(checkpoint, stem, packing)
            name = f"{stem}.weight"
            kind = "F32" if _EXPERT.search(name) else "BF16"
            entries[name] = DecodedEntry(name, kind, packing.shape(rows), rows, rows.coded())
        for name in [f"{stem}.bias" for stem in stems if f"{stem}.bias" in entries and _EXPERT.search(stem)]:
            if not bool(checkpoint.tensor(name).any()):  # some packers give every matrix a bias of zeros
                del entries[name]
        config = dict(checkpoint.config)
        method = (config.get("quantization_config") or {}).get("quant_method")
        if method != "fp8":  # experts of a layer in one float8 tensor stay so, and need what it says
            config.pop("quantization_config", None)
        return cls(checkpoint, config, packings[0].form, entries)

    @classmethod
    def of_mlx(cls, checkpoint: Checkpoint) -> PackedCheckpoint:
        """The same checkpoint, which MLX wrote, under the hub's names. Raises UnderhillError: see mlx_entries."""
        form, entries = mlx_entries(checkpoint)
        config = {k: v for k, v in checkpoint.config.items() if k not in ("quantization", "quantization_config")}
        return cls(checkpoint, config, form, entries)

    @property
    def files(self) -> tuple[Path, ...]:
        """The shards."""
        return self._checkpoint.files

    @property
    def originals(self) -> tuple[Path, ...]:
        """The shards and the small files."""
        return self._checkpoint.originals

    def companions(self) -> AbstractContextManager[tuple[Path, ...]]:
        """The small files, as they lie in the folder."""
        return self._checkpoint.companions()


def open_source(path: Path | str) -> WeightSource:
    """A folder of safetensors files with their config.json, a GGUF file (any part of a split one), or its folder.

    Raises UnderhillError: NOT_A_MODEL, UNSUPPORTED_MODEL, MISSING_FILE, BROKEN_FILE or DISK_ERROR.
    """
    path = Path(path)
    gguf = gguf_file(path)
    if gguf is not None:
        return GgufSource.open(gguf)
    return unpacked(Checkpoint.open(path))


def unpacked(checkpoint: Checkpoint) -> WeightSource:
    """A checkpoint as weights, where it holds them packed; itself otherwise.

    Raises UnderhillError: what PackedCheckpoint raises.
    """
    if is_mlx(checkpoint.config, checkpoint.entries):
        return PackedCheckpoint.of_mlx(checkpoint)
    found = packings(checkpoint.config, checkpoint.entries)
    return PackedCheckpoint.of(checkpoint, found) if found else checkpoint


def gguf_file(path: Path) -> Path | None:
    """The GGUF file that `path` is, or that a folder without a checkpoint of its own holds. None: it is none.

    Raises UnderhillError(BAD_REQUEST) when a folder holds several models as GGUF.
    """
    if path.is_dir():
        return None if (path / CONFIG).is_file() and any(path.glob("*.safetensors")) else gguf_header.only_model(path)
    return path if gguf_header.is_one(path) else None


def is_source(path: Path) -> bool:
    """Whether `path` looks like something to import, by its name and its files' names alone."""
    if path.is_dir():
        return (path / CONFIG).is_file() or any(path.glob("*" + gguf_header.SUFFIX))
    return path.is_file() and gguf_header.is_one(path)


def source_name(path: Path) -> str:
    """What a model made from `path` is called where nobody chose a name."""
    return path.resolve().name if path.is_dir() else gguf_header.model_name(path)


def source_files(path: Path) -> tuple[Path, ...]:
    """The originals of the source at `path`, by name alone: nothing is opened."""
    gguf = gguf_file(path)
    if gguf is not None:
        return gguf_header.parts(gguf)
    return (*sorted(path.glob("*.safetensors")), *small_files(path))
