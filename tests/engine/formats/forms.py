"""One small model that can be chatted with, in every form of weights that is imported."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from gguf import GGMLQuantizationType as Type
from safetensors.torch import load, save_file
from torch import Tensor

from tests.engine.formats.chattable import VOCABULARY, write_chattable
from tests.engine.formats.gguf_model import Array, tiny, write
from tests.engine.formats.test_gguf_source import with_tokenizer

WIDTH = 256  # whole blocks of every type
GROUP = 64
SIZES: dict[str, Any] = {
    "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64,
    "max_position_embeddings": 512, **VOCABULARY,
}  # fmt: skip
EXPERTS = ("gate_proj.weight", "up_proj.weight", "down_proj.weight")


def plain(dtype: torch.dtype, folder: Path) -> None:
    write_chattable(tiny("qwen3moe", **SIZES, moe_intermediate_size=WIDTH, rope_parameters=None), folder, dtype=dtype)


def packed(
    settings: dict[str, Any], pack: Callable[[Tensor, torch.Generator], dict[str, Tensor]], folder: Path
) -> None:
    """Every expert replaced by random codes of this packing."""
    plain(torch.bfloat16, folder)
    tensors = load((folder / "model.safetensors").read_bytes())
    generator = torch.Generator().manual_seed(5)
    for name in [n for n in tensors if ".experts." in n]:
        stem = name.removesuffix(".weight")
        tensors |= {f"{stem}.{ending}": tensor for ending, tensor in pack(tensors.pop(name), generator).items()}
    _save(tensors, folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "quantization_config": settings}), encoding="utf-8")


def _float8(weight: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
    rows, columns = (n // 128 for n in weight.shape)
    scales = torch.rand(rows, columns, generator=generator) * 1e-3 + 1e-4
    return {"weight": (weight.float() * 1000).to(torch.float8_e4m3fn), "weight_scale_inv": scales}


def words(*shape: int, generator: torch.Generator) -> Tensor:
    return torch.randint(-(1 << 31), 1 << 31, shape, dtype=torch.int32, generator=generator)


def gptq(weight: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
    outputs, inputs = weight.shape
    return {
        "qweight": words(inputs // 8, outputs, generator=generator),
        "qzeros": words(inputs // GROUP, outputs // 8, generator=generator),
        "scales": (torch.rand(inputs // GROUP, outputs, generator=generator) * 0.01).half(),
        "g_idx": (torch.arange(inputs) // GROUP).int(),
    }


def _awq(weight: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
    outputs, inputs = weight.shape
    return {
        "qweight": words(inputs, outputs // 8, generator=generator),
        "qzeros": words(inputs // GROUP, outputs // 8, generator=generator),
        "scales": (torch.rand(inputs // GROUP, outputs, generator=generator) * 0.01).half(),
    }


def in_blocks(file: Path) -> dict[str, torch.Tensor]:
    """The tensors of a gpt-oss, its experts random blocks of MXFP4."""
    tensors = load(file.read_bytes())
    generator = torch.Generator().manual_seed(3)
    for name in [n for n in tensors if n.endswith(("gate_up_proj", "down_proj")) and ".experts." in n]:
        experts, inputs, outputs = tensors.pop(name).shape
        shape = (experts, outputs, inputs // 32, 16)
        tensors[f"{name}_blocks"] = torch.randint(0, 256, shape, dtype=torch.uint8, generator=generator)
        tensors[f"{name}_scales"] = torch.randint(118, 124, shape[:3], dtype=torch.uint8, generator=generator)
    return tensors


def _mxfp4(folder: Path) -> None:
    write_chattable(tiny("gpt-oss", **SIZES, intermediate_size=WIDTH), folder)
    _save(in_blocks(folder / "model.safetensors"), folder)


def as_gguf(kind: Type, folder: Path) -> None:
    """Experts of this type, all else in float32."""
    source = folder.with_name(f"{folder.name}-source")
    plain(torch.bfloat16, source)
    folder.mkdir()

    def type_of(name: str, array: Array) -> Type:
        return kind if "_exps" in name else Type.F32

    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    write(source, config, folder / f"model-{kind.name}.gguf", "qwen3moe", type_of, with_tokenizer)


def _save(tensors: dict[str, Tensor], folder: Path) -> None:
    """In two files, the second with what is not of experts."""
    (folder / "model.safetensors").unlink()
    for number in range(2):
        part = {n: t.contiguous() for n, t in tensors.items() if (".experts." in n) == (number == 0)}
        save_file(part, folder / f"model-{number:05}.safetensors")


FORMS: dict[str, Callable[[Path], None]] = {
    "bf16": partial(plain, torch.bfloat16),
    "fp32": partial(plain, torch.float32),
    "block FP8": partial(packed, {"quant_method": "fp8", "weight_block_size": [128, 128]}, _float8),
    "MXFP4": _mxfp4,
    "GPTQ": partial(packed, {"quant_method": "gptq", "bits": 4, "group_size": GROUP}, gptq),
    "AWQ": partial(packed, {"quant_method": "awq", "bits": 4, "group_size": GROUP, "version": "gemm"}, _awq),
    **{
        f"GGUF {kind.name}": partial(as_gguf, kind)
        for kind in (Type.F16, Type.Q8_0, Type.Q4_0, Type.Q2_K, Type.Q3_K, Type.Q4_K, Type.Q5_K, Type.Q6_K)
    },
}  # fmt: skip
