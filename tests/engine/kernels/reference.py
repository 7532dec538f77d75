"""The torch reference of experts: the numeric oracle of the native kernels, in any floating dtype."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from engine.experts.execution.requests import slots_by_expert
from engine.kernels.activation import Activation
from engine.kernels.call import Parts, Work, check_call
from engine.quantization.tiles import levels_of, unpack_scales
from engine.record.layout import HEADER_BYTES, ROWS_PER_TILE, UNITS_AT, ExpertSpec, MatrixSpec


def plane_codes(lines: Tensor, bits: int, rows: int, cols: int, group: int) -> Tensor:
    """One part's bits of every code, [rows, cols] uint8, from its packed lines (uint8, any device).

    rows and cols are the stored (padded) ones. engine/record/layout.py says where every bit lies.
    """
    per_byte = 8 // bits
    shape = (rows // ROWS_PER_TILE, cols // group, group // (4 * per_byte), ROWS_PER_TILE, 4)
    tiles = lines[: rows * cols * bits // 8].view(shape)
    parts = [(tiles >> (bits * s)) & (2**bits - 1) for s in range(per_byte)]
    codes = torch.stack(parts, dim=3)  # [block, group, line, s, row, j]
    return codes.permute(0, 4, 1, 2, 3, 5).reshape(rows, cols)


def decode_matrix(spec: ExpertSpec, expert: Parts, name: str, dtype: torch.dtype = torch.float32) -> Tensor:
    """The weights W [rows, cols] of matrix `name` at the expert's tier, computed in `dtype`."""
    index, m = next((i, m) for i, m in enumerate(spec.matrices) if m.name == name)
    layout, head = spec.layout, expert.parts[spec.layout.head.index]
    if spec.raw:
        section = layout.head.sections[name]
        kind = torch.float32 if spec.top == 32 else torch.bfloat16
        raw = head[section.offset : section.offset + m.rows * m.cols * spec.top // 8]
        return raw.view(kind).view(m.rows, m.cols).to(dtype)
    rows, cols = spec.padded(m)
    codes = torch.zeros((rows, cols), dtype=torch.uint8, device=head.device)
    group = spec.group_of(m)
    for bits, part in zip(spec.plane_bits(m), layout.codes_for(expert.tier)):
        section = part.sections[name]
        lines = expert.parts[part.index][section.offset : section.offset + section.nbytes]
        codes = (codes << bits) | plane_codes(lines, bits, rows, cols, group)
    finest = layout.params_for(expert.tier)
    section = finest.sections[name]
    data = expert.parts[finest.index][section.offset : section.offset + section.nbytes]
    coding = spec.coding(m)
    scale, offset = unpack_scales(
        data, "pair" if coding is None else coding.form_of(expert.tier), rows, cols, group, dtype
    )
    levels = codes.to(dtype) if coding is None else levels_of(codes, coding, expert.tier, dtype)
    weights = scale.unsqueeze(2) * levels.view(rows, cols // group, group)
    if offset is not None:
        weights = weights + offset.unsqueeze(2)
    unit = head[UNITS_AT:HEADER_BYTES].view(torch.float32)[index].to(dtype)
    return (unit * weights).reshape(rows, cols)[: m.rows, : m.cols]


def _bias(spec: ExpertSpec, expert: Parts, m: MatrixSpec, dtype: torch.dtype) -> Tensor | None:
    head = spec.layout.head
    section = head.biases.get(m.name)
    if section is None:
        return None
    return expert.parts[head.index][section.offset : section.offset + 4 * m.rows].view(torch.float32).to(dtype)


def expert_forward(spec: ExpertSpec, activation: Activation, expert: Parts, x: Tensor) -> Tensor:
    """One expert on x [N, H]; computed in the dtype of x, on the device of the parts. Returns [N, H]."""
    projected: dict[str, Tensor] = {}
    for m in spec.matrices[:-1]:
        weights = decode_matrix(spec, expert, m.name, x.dtype)
        projected[m.name] = torch.nn.functional.linear(x, weights, _bias(spec, expert, m, x.dtype))
    h = activation.apply(projected.get("gate"), projected["up"])
    down = spec.matrices[-1]
    return torch.nn.functional.linear(
        h, decode_matrix(spec, expert, "down", x.dtype), _bias(spec, expert, down, x.dtype)
    )


class TorchKernel:
    """What a NativeKernel computes, in the dtype of x."""

    def run(
        self, spec: ExpertSpec, activation: Activation, work: Sequence[Work], x: Tensor, k: int, out: Tensor
    ) -> None:
        """See NativeKernel.run."""
        check_call(spec, activation, work, x, k, out)
        for item in work:
            slots = torch.tensor(item.slots, dtype=torch.int64)
            out[slots] = expert_forward(spec, activation, item.expert, x[slots // k])

    def combine(self, out: Tensor, weights: Tensor) -> Tensor:
        """See NativeKernel.combine."""
        tokens, k = weights.shape
        slots = out.view(tokens, k, -1)
        y = torch.zeros((tokens, out.shape[1]), dtype=out.dtype)
        for rank in range(k):
            weight = weights[:, rank, None].to(out.dtype)
            y += torch.where(weight != 0, weight * slots[:, rank], 0.0)
        return y


def moe_forward(
    x: Tensor, ids: Tensor, weights: Tensor, experts: Mapping[int, Parts], spec: ExpertSpec, activation: Activation
) -> Tensor:
    """A whole MoE layer in the dtype of x (float64 makes it the oracle of the others).

    x: [T, H], ids and weights: [T, K], experts: by id, each at its own tier. Returns [T, H], added in the order of k.
    """
    kernel, k = TorchKernel(), ids.shape[1]
    out = x.new_zeros((x.shape[0] * k, spec.hidden))
    work = [Work(experts[expert], slots) for expert, slots in slots_by_expert(ids.flatten().tolist()).items()]
    kernel.run(spec, activation, work, x, k, out)
    return kernel.combine(out, weights)
