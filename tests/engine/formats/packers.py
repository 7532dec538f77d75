"""Matrices packed number by number into 4-bit floats, bitsandbytes' and HQQ's forms, and what they then mean."""

from __future__ import annotations

import json
import math
from typing import Any

import torch
from torch import Tensor

FP4 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
# QLoRA (Dettmers et al., 2023), appendix E: the values of NF4.
NF4 = (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
)  # fmt: skip
BNB_FP4 = (0.0, 0.0052083333, 0.6666667, 1.0, 0.3333333, 0.5, 0.1666667, 0.25)  # and the same again, negative


def nearest(value: float, values: tuple[float, ...]) -> int:
    return min(range(len(values)), key=lambda i: abs(values[i] - value))


def _fp4(weight: Tensor, group: int, scale_of: Any) -> tuple[list[list[int]], list[list[float]], Tensor]:
    """(codes, the scale of each group, what they mean); scale_of: what a group's largest value makes its scale."""
    signed = (*FP4, *(-v for v in FP4))
    codes, scales, meant = [], [], []
    for r, row in enumerate(weight.tolist()):
        codes.append([0] * len(row))
        scales.append([])
        for at in range(0, len(row), group):
            scale = scale_of(max(abs(v) for v in row[at : at + group]) / 6)
            scales[-1].append(scale)
            for c in range(at, at + group):
                codes[r][c] = nearest(row[c] / scale, signed) if scale else 0
                meant.append(signed[codes[r][c]] * scale)
    return codes, scales, torch.tensor(meant, dtype=weight.dtype).view(weight.shape)


def _bytes(codes: list[list[int]], low_first: bool = True) -> Tensor:
    low, high = (0, 4) if low_first else (4, 0)
    return torch.tensor(
        [[row[i] << low | row[i + 1] << high for i in range(0, len(row), 2)] for row in codes], dtype=torch.uint8
    )


def nvfp4(weight: Tensor, modelopt: bool = False) -> Any:
    """E4M3 scales beside a global one, which modelopt multiplies with and compressed-tensors divides by."""
    weight = weight.float()
    factor = 448 * 6 / float(weight.abs().max())
    factor = float(torch.tensor(1 / factor)) if modelopt else float(torch.tensor(factor))

    def rounded(scale: float) -> float:
        stored = torch.tensor(scale / factor if modelopt else scale * factor).to(torch.float8_e4m3fn).float()
        return float(stored * factor if modelopt else stored / factor)

    codes, scales, meant = _fp4(weight, 16, rounded)
    found = torch.tensor(scales)
    stored = (found / factor if modelopt else found * factor).to(torch.float8_e4m3fn)
    if modelopt:
        names = {"weight_scale": stored, "weight_scale_2": torch.tensor(factor), "input_scale": torch.tensor(0.5)}
        return {"weight": _bytes(codes), **names}, meant
    names = {"weight_scale": stored, "weight_global_scale": torch.tensor([factor])}
    return {"weight_packed": _bytes(codes), **names, "input_global_scale": torch.ones(1)}, meant


def mxfp4(weight: Tensor) -> Any:
    codes, scales, meant = _fp4(weight.float(), 32, lambda s: 2.0 ** math.ceil(math.log2(s)) if s else 1.0)
    powers = torch.tensor([[int(math.log2(s)) + 127 for s in row] for row in scales], dtype=torch.uint8)
    return {"weight_packed": _bytes(codes), "weight_scale": powers}, meant


def bitsandbytes(weight: Tensor, kind: str = "nf4", nested: bool = False, block: int = 64) -> Any:
    """Blocks of the numbers of a matrix one after the other; nested: their factors in 8 bits themselves."""
    values = NF4 if kind == "nf4" else (*BNB_FP4, *(-v for v in BNB_FP4))
    flat = weight.float().flatten().tolist()
    factors = [max(abs(v) for v in flat[at : at + block]) for at in range(0, len(flat), block)]
    found: dict[str, Tensor] = {}
    state: dict[str, Any] = {"quant_type": kind, "blocksize": block, "dtype": "bfloat16", "shape": list(weight.shape)}
    if nested:
        table = [(i - 127) / 128 for i in range(256)]
        offset = sum(factors) / len(factors)
        outer = [max(abs(f - offset) for f in factors[at : at + 4]) or 1.0 for at in range(0, len(factors), 4)]
        eight = [nearest((f - offset) / outer[i // 4], tuple(table)) for i, f in enumerate(factors)]
        factors = [table[q] * outer[i // 4] + offset for i, q in enumerate(eight)]
        state |= {"nested_blocksize": 4, "nested_offset": offset, "nested_dtype": "float32"}
        found["weight.absmax"] = torch.tensor(eight, dtype=torch.uint8)
        found["weight.nested_absmax"] = torch.tensor(outer)
        found["weight.nested_quant_map"] = torch.tensor(table)
    else:
        found["weight.absmax"] = torch.tensor(factors)
    codes = [nearest(v / factors[i // block], values) for i, v in enumerate(flat)]
    meant = torch.tensor([values[q] * factors[i // block] for i, q in enumerate(codes)]).reshape(weight.shape)
    found["weight"] = _bytes([codes], low_first=False).reshape(-1, 1)
    found["weight.quant_map"] = torch.tensor(values)
    text = json.dumps(state).encode()
    found[f"weight.quant_state.bitsandbytes__{kind}"] = torch.tensor(list(text), dtype=torch.uint8)
    return found, meant


def hqq(weight: Tensor, bits: int = 4, axis: int = 1) -> Any:
    """As the hqq package itself packs it, saves it and decodes it."""
    from hqq.core.quantize import BaseQuantizeConfig, HQQLinear

    linear = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    linear.weight.data = weight.float().clone()
    settings = BaseQuantizeConfig(nbits=bits, group_size=16, axis=axis)
    made = HQQLinear(linear, settings, compute_dtype=torch.float32, device="cpu")
    return {k: v.clone() for k, v in made.state_dict().items()}, made.dequantize().float()


def mlx(weight: Tensor, bits: int = 4, group: int = 32) -> Any:
    """Codes one after the other in the bits of a row, put there bit by bit."""
    rows, scales, biases, codes = [], [], [], []
    top = (1 << bits) - 1
    for row in weight.float().tolist():
        stream, s, b = 0, [], []
        for c, value in enumerate(row):
            if c % group == 0:
                low, high = min(row[c : c + group]), max(row[c : c + group])
                s.append(float(torch.tensor((high - low) / top).bfloat16()) or 1.0)
                b.append(float(torch.tensor(low).bfloat16()))
            code = min(top, max(0, round((value - b[-1]) / s[-1])))
            stream |= code << (bits * c)
            codes.append(code)
        rows.append(list(stream.to_bytes(len(row) * bits // 8, "little")))
        scales.append(s)
        biases.append(b)
    words = torch.tensor(rows, dtype=torch.uint8).view(torch.uint32)
    each_scale, each_bias = (torch.tensor(found).repeat_interleave(group, 1) for found in (scales, biases))
    return {
        "weight": words,
        "scales": torch.tensor(scales).bfloat16(),
        "biases": torch.tensor(biases).bfloat16(),
    }, (torch.tensor(codes).float().view(weight.shape) * each_scale + each_bias).to(weight.dtype)
