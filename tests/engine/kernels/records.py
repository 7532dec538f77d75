"""Expert records made of random bits, with parameters of a sensible size."""

from __future__ import annotations

import struct

import torch
from torch import Tensor

from engine.kernels.call import Parts
from engine.record.layout import MAGIC, ExpertSpec


def random_parts(spec: ExpertSpec, seed: int = 0) -> dict[int, Tensor]:
    """Every part of one expert: random codes (padding too, as a hostile file could have), small parameters."""
    random = torch.Generator().manual_seed(seed)
    parts = {}
    for part in spec.layout.parts:
        data = torch.randint(0, 256, (part.nbytes,), dtype=torch.uint8, generator=random)
        for m in spec.matrices if spec.raw else ():
            weights = torch.randn(m.rows * m.cols, generator=random) * 0.2
            fill(data, part.sections[m.name].offset, weights.to(torch.bfloat16 if spec.top == 16 else torch.float32))
        for section in part.sections.values() if part.name.startswith("P") else ():
            tier, values = int(part.name[1]), torch.randn(section.nbytes // 2, generator=random)
            values *= 0.3 if tier == 2 else 2.0 / 2**tier
            fill(data, section.offset, values.half())
        for section in part.biases.values():
            fill(data, section.offset, torch.randn(section.nbytes // 4, generator=random))
        if part is spec.layout.head:
            units = (0.5, 2.0, 1.0)[: len(spec.matrices)]
            header = struct.pack(f"<4I{len(units)}f", MAGIC, 0, 0, len(units), *units)
            fill(data, 0, torch.frombuffer(bytearray(header), dtype=torch.uint8))
        parts[part.index] = data
    zero_padding(spec, parts)
    return parts


def random_experts(spec: ExpertSpec, count: int, tiers: list[int], seed: int = 0) -> dict[int, Parts]:
    """Experts 0 .. count - 1; expert i runs at tiers[i % len(tiers)]."""
    return {i: Parts(spec, random_parts(spec, seed + i), tiers[i % len(tiers)]) for i in range(count)}


def fill(data: Tensor, offset: int, values: Tensor) -> None:
    """Write the bytes of `values` into `data` from `offset` on."""
    raw = values.contiguous().view(torch.uint8)
    data[offset : offset + len(raw)] = raw


def zero_padding(spec: ExpertSpec, parts: dict[int, Tensor]) -> None:
    """Zero scale and offset of rows that only pad; padding columns need none, as the input is padded with zeros."""
    for part in spec.layout.parts:
        for m in spec.matrices if part.name.startswith("P") else ():
            rows, cols = spec.padded(m)
            section = part.sections[m.name]
            params = parts[part.index][section.offset : section.offset + section.nbytes].view(torch.float16)
            params.view(rows // 16, cols // spec.group, 2, 16)[-1, :, :, m.rows - (rows - 16) :] = 0
