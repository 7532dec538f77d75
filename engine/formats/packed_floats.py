"""Matrices of 4-bit floats: NVFP4 and MXFP4 as compressed-tensors and NVIDIA's ModelOpt write them.

A code is an E2M1 of OCP Microscaling Formats 1.0, two to a byte, the lower nibble first. NVFP4: an E4M3 scale for 16
inputs, and one float32 for the whole matrix. MXFP4: a power of two for 32 inputs; DeepSeek-V4 has its experts in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from engine.formats.packed_integers import PackedRows, Packing, float8, unknown
from engine.formats.source import Form
from engine.quantization.grouped import E2M1_TIMES, GroupedCodes, ordered_e2m1
from engine.record.coding import Coding
from engine.translatable import msg

NVFP4_GROUP, MXFP4_GROUP = 16, 32  # columns that share a scale: E4M3 and E8M0
MXFP4_BIAS = 127  # of E8M0, a bare exponent
# OCP Microscaling Formats 1.0: E2M1, sign in the highest bit.
MXFP4_VALUES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)
NVFP4, MXFP4 = "nvfp4-pack-quantized", "mxfp4-pack-quantized"
_CACHES = ("k_scale", "v_scale", "kv_scale", "q_scale")  # of keys and values, which are kept otherwise here
_MODELOPT = ("NVFP4", "W4A16_NVFP4", "FP8", "MIXED_PRECISION")


def compressed_floats(form: str) -> Packing:
    """compressed-tensors: weight_packed [out, in / 2], weight_scale [out, groups]; NVFP4's are divided by one more."""
    if form == MXFP4:
        return _packing("compressed-tensors MXFP4", 4.25, "weight_packed", MXFP4_GROUP, "U8", lambda m: 1.0)
    more = ("weight_global_scale", "input_global_scale")

    def unit(m: PackedRows) -> float:
        return 1 / _one(m, "weight_global_scale")

    return _packing("compressed-tensors NVFP4", 4.5, "weight_packed", NVFP4_GROUP, "F8_E4M3", unit, more=more)


def modelopt(settings: Mapping[str, Any]) -> tuple[Packing, ...]:
    """ModelOpt: weight [out, in / 2] bytes, weight_scale [out, groups], times weight_scale_2; FP8 has one scale.

    Which of the two a matrix is shows its type. Raises UnderhillError(UNSUPPORTED_MODEL) for its other algorithms.
    """
    algorithm = str(settings.get("quant_algo") or "NVFP4")
    if algorithm not in _MODELOPT:
        raise unknown("ModelOpt", msg("as {algorithm}", algorithm=algorithm))

    def unit(m: PackedRows) -> float:
        if m.has("pre_quant_scale"):
            raise unknown("ModelOpt", msg("with scales for what a layer is given"))
        return _one(m, "weight_scale_2")

    more = ("weight_scale_2", "input_scale")
    four = _packing("ModelOpt NVFP4", 4.5, "weight", NVFP4_GROUP, "F8_E4M3", unit, more=more, unused=_CACHES)
    return four, float8({"weight_block_size": [1, 1]})


def deepseek_fp4() -> Packing:
    """DeepSeek-V4: weight [out, in / 2] signed bytes, scale [out, groups] in E8M0."""
    return _packing("MXFP4", 4.25, "weight", MXFP4_GROUP, "F8_E8M0", lambda m: 1.0, scale="scale", dtype="I8")


def _packing(
    name: str, bits: float, main: str, group: int, scale_type: str,
    unit: Callable[[PackedRows], float], *, more: tuple[str, ...] = (), unused: tuple[str, ...] = (),
    scale: str = "weight_scale", dtype: str = "U8",
) -> Packing:  # fmt: skip
    """unit: what all scales of a matrix are multiplied with."""

    def shape(m: PackedRows) -> tuple[int, int]:
        out, packed = m.dims(main)
        if m.dims(scale) != (out, packed * 2 // group) or m.dtype(scale) != scale_type:
            raise m.broken(msg("its scales have another shape or type"))
        return out, packed * 2

    def read(m: PackedRows, start: int, stop: int) -> tuple[Tensor, Tensor]:
        """(nibbles [outputs, in], scales [outputs, groups], the unit not among them)"""
        codes, scales = m.get(main, (start, stop)).view(torch.uint8), m.get(scale, (start, stop))
        nibbles = torch.stack((codes & 15, codes >> 4), -1).flatten(1)
        return nibbles, scales.float() if scale_type != "U8" else powers_of_two(scales)

    def decode(m: PackedRows, start: int, stop: int) -> Tensor:
        nibbles, scales = read(m, start, stop)
        return torch.tensor(MXFP4_VALUES)[nibbles.int()].mul_((scales * unit(m)).repeat_interleave(group, 1))

    def grouped(m: PackedRows, start: int, stop: int) -> GroupedCodes:
        nibbles, scales = read(m, start, stop)
        each = unit(m) / E2M1_TIMES
        return GroupedCodes(coding, ordered_e2m1(nibbles), scales * each, None, each)

    coding = Coding(4, group, "byte", "e2m1")
    return Packing(
        form=Form(name, bits),
        main=main,
        companions=(scale, *more),
        decode=decode,
        shape=shape,
        dtype=dtype,
        unused=unused,
        coding=lambda m: coding,
        codes=grouped,
    )


def powers_of_two(exponents: Tensor) -> Tensor:
    """Of bytes that are exponents plus 127."""
    return torch.ldexp(torch.ones(exponents.shape), exponents.int() - MXFP4_BIAS)


def _one(m: PackedRows, ending: str) -> float:
    found = m.get(ending).float()
    if found.numel() != 1 or not bool(found.isfinite() & (found != 0)):
        raise m.broken(msg("{ending} is not one number", ending=ending))
    return float(found)


def mxfp4(blocks: Tensor, scales: Tensor) -> Tensor:
    """MXFP4 to bf16 [rows, groups * 32], exactly.

    blocks: [rows, groups, 16] uint8, even elements in the low nibbles. scales: [rows, groups] uint8, exponent + 127.
    """
    values = torch.tensor(MXFP4_VALUES, dtype=torch.float32)
    nibbles = torch.stack((blocks & 15, blocks >> 4), dim=-1).flatten(-2)
    powers = torch.ldexp(torch.ones(scales.shape), scales.to(torch.int32) - MXFP4_BIAS)
    return (values[nibbles.int()] * powers.unsqueeze(-1)).flatten(-2).to(torch.bfloat16)
