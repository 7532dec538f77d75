"""Matrices as quantizers of each kind make them of Gaussian weights."""

from __future__ import annotations

import torch

from engine.quantization.grouped import E2M1_TIMES, Fine, GroupedCodes
from engine.record.coding import LEVELS, Coding
from engine.record.layout import ExpertSpec

HIDDEN, INNER = 512, 1024

# coding, bits per weight of the source, error of all bits that is allowed
KINDS: dict[str, tuple[Coding, float, float]] = {
    "Q4_0": (Coding(4, 32, "half", "middle8"), 4.5, 1e-6),
    "Q4_1": (Coding(4, 32, "pair", "plain"), 5.0, 1e-6),
    "Q4_K": (Coding(4, 32, "super", "plain"), 4.5, 1e-6),
    "IQ4_NL": (Coding(4, 32, "half", "iq4_nl"), 4.5, 1e-6),
    "MXFP4": (Coding(4, 32, "byte", "e2m1"), 4.25, 1e-6),
    "NVFP4": (Coding(4, 16, "byte", "e2m1"), 4.5, 1e-6),
    "NF4": (Coding(4, 64, "half", "nf4"), 4.5, 4e-3),
    "GPTQ": (Coding(4, 128, "pair", "plain"), 4 + 20 / 128, 1e-3),
    "W4A16": (Coding(4, 128, "half", "middle8"), 4 + 16 / 128, 1e-6),
    "Q6_K": (Coding(6, 16, "half", "middle32"), 6.5625, 1e-3),
    "Q5_K": (Coding(6, 32, "super", "plain"), 5.5, 1e-6),
}


def made(coding: Coding, rows: int, cols: int, seed: int = 0) -> GroupedCodes:
    """Codes as a quantizer of this kind would make them of Gaussian weights, with scales such as it has."""
    random = torch.Generator().manual_seed(seed)
    w = torch.randn(rows, cols // coding.group, coding.group, generator=random) * 0.02
    table = LEVELS[coding.levels].table or tuple(range(2**coding.bits))
    zero, levels = LEVELS[coding.levels].zero, torch.tensor(table, dtype=torch.float32)
    unit, offset, fine = 1.0, None, None
    if coding.levels == "plain":
        low, high = w.amin(2).clamp(max=0), w.amax(2).clamp(min=0)
        scale = (high - low) / (2**coding.bits - 1)
        if coding.form == "super":
            wide, wide_offset = (t.view(rows, -1, 256 // coding.group).amax(2) / 63 for t in (scale, -low))
            wide, wide_offset = wide.half().float(), wide_offset.half().float()
            each = 256 // coding.group
            small, small_offset = (
                (t / w2.repeat_interleave(each, 1)).round().clamp(0, 63).to(torch.uint8)
                for t, w2 in ((scale, wide), (-low, wide_offset))
            )
            fine = Fine(small, small_offset, wide, wide_offset)
            scale, offset = fine.multiplied(coding.group)
        elif coding.group == 32:  # Q4_1 has an offset of its own
            scale, offset = scale.half().float(), low.half().float()
        else:
            scale = scale.half().float()
            offset = (low / scale).round() * scale
    else:
        peak = w.abs().amax(2)
        scale = peak / (levels[-1] - zero)
        if coding.form == "byte" and coding.group == 32:
            scale = 2.0 ** (torch.log2(scale).floor()) / E2M1_TIMES * 2
        elif coding.form == "byte":
            unit = 0.0137
            scale = (scale / unit * 64).to(torch.float8_e4m3fn).float() * unit
            w = w * 64
        else:
            signs = torch.where(torch.rand(scale.shape, generator=random) < 0.5, -1.0, 1.0)  # as in Q4_0
            scale = scale.half().float() * signs
    target = w - (offset.unsqueeze(2) if offset is not None else 0.0)
    wanted = target / scale.unsqueeze(2) + zero
    codes = (wanted.unsqueeze(3) - levels).abs().argmin(3).to(torch.uint8).view(rows, cols)
    if fine is not None:
        return GroupedCodes.of_super(coding, codes, fine)
    return GroupedCodes(coding, codes, scale, offset, unit)


def expert(
    coding: Coding, seed: int = 0, hidden: int = HIDDEN, inner: int = INNER
) -> tuple[ExpertSpec, dict[str, GroupedCodes]]:
    spec = ExpertSpec(hidden, inner, 4, coding.group, codings=(coding,) * 3)
    return spec, {m.name: made(coding, m.rows, m.cols, seed + i) for i, m in enumerate(spec.matrices)}
