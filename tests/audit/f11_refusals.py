"""Refusals say what is so, and packed checkpoints of others are read: held against dequantizers written apart."""

from __future__ import annotations

import json
import struct
import tempfile
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from engine.convert.expert_plan import find_experts
from engine.convert.pieces import read_piece
from engine.errors import UnderhillError
from engine.formats.opening import open_source
from engine.formats.source import DecodedEntry
from tests.audit.finding import Finding
from tests.engine.formats.test_packed import KEPT, pack
from tests.engine.formats.test_packed_mlx import PARTS, as_mlx

READ = ("nvfp4", "mxfp4", "modelopt", "auto-round as GPTQ", "nf4", "nf4 twice", "bitsandbytes fp4", "hqq 4 bits")
SMALL = {"num_hidden_layers": 1, "num_experts": 2, "vocab_size": 96}
LARGEST = 1e-6  # of the largest weight: one rounding


def examine() -> Finding:
    """Each form through `open_source`, as an import opens it; and the sentences of what cannot be opened."""
    with tempfile.TemporaryDirectory() as folder:
        looked = {way: _looked(way, Path(folder) / way) for way in READ}
        errors = {way: error for way, (error, _) in looked.items()} | {"mlx 4 bits": _mlx(Path(folder) / "mlx")}
        kept = [way for way, (_, codes) in looked.items() if codes]
        said = _said(Path(folder))
    wanted = {
        "mlx": "quantized by MLX", "dense mlx": "model is dense", "type": "IQ4_K (of ik_llama.cpp)",
        "dense gguf": "model is dense", "picture": "Only text is read from documents",
    }  # fmt: skip
    true = {name: words in said[name] for name, words in wanted.items()}
    right = all(error <= LARGEST for error in errors.values()) and kept == [way for way in READ if way in KEPT]
    return Finding(right and all(true.values()), {"largest_errors": errors, "kept_codes": kept, "said": said})


def _looked(way: str, folder: Path) -> tuple[float, bool]:
    """(how far an expert's weight is off at most, whether all are handed on as codes that mean the same)"""
    _, meant = pack(folder, way, hidden=64, **SMALL)
    source = open_source(folder)
    largest, kept = 0.0, True
    for layer, experts in find_experts(source).layers.items():
        for e, pieces in enumerate(experts):
            for part in PARTS:
                name = f"model.layers.{layer}.mlp.experts.{e}.{part}_proj.weight"
                weight, entry = meant[name], source.entry(name)
                off = (read_piece(source, pieces.matrices[part]) - weight).abs().max() / weight.abs().max()
                largest = max(largest, float(off))
                coded = entry.coded if isinstance(entry, DecodedEntry) else None
                values = coded.grouped(0, len(weight)).values() if coded else torch.full_like(weight, torch.inf)
                kept = kept and bool((values - weight).abs().max() <= KEPT.get(way, 0.0) * weight.abs().max())
    return largest, kept


def _mlx(folder: Path) -> float:
    _, meant = as_mlx(folder, "qwen3_moe", **SMALL)
    source = open_source(folder)
    layers = find_experts(source).layers
    found = {
        f"{i} {p}": torch.stack([read_piece(source, e.matrices[p]) for e in layers[i]]) for i in layers for p in PARTS
    }
    return max(float((found[k] - meant[k]).abs().max() / meant[k].abs().max()) for k in found)


def _said(folder: Path) -> dict[str, str]:
    from app.attachments.reading import read

    mlx = _mlx_config(folder / "a", model_type="gpt_oss", num_local_experts=4)
    dense = _mlx_config(folder / "b", model_type="llama")
    picture = folder / "photo.jpg"
    picture.write_bytes(b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(9 << 20))
    return {
        "mlx": _sentence(open_source, mlx), "dense mlx": _sentence(open_source, dense),
        "dense gguf": _sentence(open_source, _gguf(folder / "d.gguf", 12)),
        "type": _sentence(open_source, _gguf(folder / "t.gguf", 139)), "picture": _sentence(read, picture),
    }  # fmt: skip


def _mlx_config(folder: Path, **config: Any) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(
        json.dumps({**config, "quantization": {"bits": 4, "group_size": 64}}), encoding="utf-8"
    )
    save_file({"model.layers.0.x.weight": torch.zeros(2, 2)}, folder / "model.safetensors")
    return folder


def _gguf(file: Path, kind: int) -> Path:
    """A llama without experts, with one tensor of this type."""

    def text(value: bytes) -> bytes:
        return struct.pack("<Q", len(value)) + value

    head = (
        b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + text(b"general.architecture") + struct.pack("<I", 8) + text(b"gemma3")
    )
    tensor = text(b"token_embd.weight") + struct.pack("<IQQIQ", 2, 256, 1, kind, 0)
    file.write_bytes(head + tensor + bytes(4096))
    return file


def _sentence(do: Any, path: Path) -> str:
    try:
        do(path)
    except UnderhillError as error:
        return error.sentence
    return ""
