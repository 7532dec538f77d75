"""What the native encoder does, in torch: the oracle of engine/kernels/encode.py, and the decoder of its records."""

from __future__ import annotations

import math
import mmap
import struct
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.kernels.encode import RULE, NotFinite
from engine.quantization.exact import refit
from engine.quantization.planes import BIAS, Bytes
from engine.quantization.tiles import levels_of, unpack_codes, unpack_scales
from engine.record.layout import HEADER_BYTES, LINE, MAGIC, ROWS_PER_TILE, ExpertSpec, Part, Section
from engine.translatable import msg
from tests.engine.quantization import hqq_reference as hqq

Buffer = bytes | bytearray | memoryview | mmap.mmap | Bytes
BLOCK = 32767  # weights per block: they fit the cache, and torch does not split so few over threads
LARGEST = RULE.largest


@dataclass(frozen=True)
class TierFit:
    """What decodes the codes of one tier: ``w = unit * (scale * code + offset)``.

    scale, offset: [rows, groups] float16. squared_error: sum of (w - decoded) ** 2 over the matrix.
    """

    scale: Tensor
    offset: Tensor
    squared_error: float


@dataclass(frozen=True)
class QuantizedMatrix:
    """One matrix as codes [rows, cols] uint8 of the top tier, and a Fit per tier. squared_norm: sum of w ** 2."""

    codes: Tensor
    unit: float
    fits: dict[int, TierFit]
    squared_norm: float


def quantize_matrix(w: Tensor, tiers: tuple[int, ...], group: int) -> QuantizedMatrix:
    """Quantize w [rows, cols] in groups of `group` columns; the last group of a row may be narrower.

    tiers: bits per code, coarse first; the last is that of the stored codes. Raises NotFinite.
    """
    rows, cols = w.shape
    low, high = torch.aminmax(w)
    peak = max(-float(low), float(high))
    if not (math.isfinite(low) and math.isfinite(high)):
        raise NotFinite("not finite")
    unit = 2.0 ** max(math.ceil(math.log2(peak)) - LARGEST, -126) if peak > 0 else 1.0
    groups = -(-cols // group)
    codes = torch.empty(rows, cols, dtype=torch.uint8)
    scales = {t: torch.empty(rows, groups, dtype=torch.float16) for t in tiers}
    offsets = {t: torch.empty(rows, groups, dtype=torch.float16) for t in tiers}
    errors = dict.fromkeys(tiers, 0.0)
    norm = 0.0
    whole = cols - cols % group
    for left, right, width in ((0, whole, group), (whole, cols, cols - whole)):
        if left == right:
            continue
        first, count = left // group, (right - left) // width
        step = max(1, BLOCK // (right - left))
        for top in range(0, rows, step):
            band = slice(top, min(top + step, rows))
            block = w[band, left:right].to(torch.float32, copy=True).div_(unit).reshape(-1, width)
            q, _, _ = hqq.solve(block, tiers[-1], unit)
            finest = refit(block, q)
            q = nearest(block, q, *finest, tiers[-1])
            codes[band, left:right] = q.reshape(-1, right - left)
            norm += float(block.square().sum(dtype=torch.float64))
            for tier in tiers:
                coarse = q if tier == tiers[-1] else (q * 0.5 ** (tiers[-1] - tier)).floor_()
                scale, offset = finest if tier == tiers[-1] else refit(block, coarse)
                scales[tier][band, first : first + count] = scale.reshape(-1, count)
                offsets[tier][band, first : first + count] = offset.reshape(-1, count)
                residual = torch.addcmul(offset.float(), coarse, scale.float()).sub_(block)
                errors[tier] += float(residual.square_().sum(dtype=torch.float64))
    fits = {t: TierFit(scales[t], offsets[t], errors[t] * unit * unit) for t in tiers}
    return QuantizedMatrix(codes, unit, fits, norm * unit * unit)


def nearest(w: Tensor, codes: Tensor, scale: Tensor, offset: Tensor, bits: int) -> Tensor:
    """The codes that decode nearest to w [N, group], with scale and offset [N, 1] as they are stored.

    No weight is farther off than with other codes, whatever the norm: this makes good what rounding scale and offset to
    float16 lost. A group with scale 0 keeps its codes.
    """
    inverse = torch.where(scale > 0, 1.0 / scale.float(), 0.0)
    found = (w - offset.float()).mul_(inverse).clamp_(0.0, float(2**bits - 1)).round_()
    return torch.where(scale > 0, found, codes)


def decode_expert(data: Buffer, spec: ExpertSpec, tier: int) -> dict[str, Tensor]:
    """The matrices (and biases) of an expert at `tier`, float32; the oracle of the kernels.

    data: the record, or as much of it as reaches to the end of what the tier needs. Raises UnderhillError(BROKEN_FILE)
    when it is too short or not a record of this shape.
    """
    layout, head = spec.layout, spec.layout.head
    last = layout.parts[layout.parts_for(tier)[-1]]
    record = np.frombuffer(data, np.uint8)
    units = _units(record, spec, last.offset + last.nbytes)
    result: dict[str, Tensor] = {}
    for m, unit in zip(spec.matrices, units, strict=True):
        if spec.raw:
            flat = _get(record, head, head.sections[m.name]).view(_raw_dtype(spec))[: m.rows * m.cols]
            result[m.name] = flat.reshape(m.rows, m.cols).float()
            continue
        rows, cols = spec.padded(m)
        codes = torch.zeros(rows, cols, dtype=torch.uint8)
        for bits, part in zip(spec.plane_bits(m), layout.codes_for(tier)):
            codes = (codes << bits) | unpack_codes(_get(record, part, part.sections[m.name]), rows, cols, bits)
        params, coding = layout.params_for(tier), spec.coding(m)
        if coding is not None:
            section = _get(record, params, params.sections[m.name])
            scale, shift = unpack_scales(section, coding.form_of(tier), rows, cols, coding.group)
            w = levels_of(codes, coding, tier).view(rows, -1, coding.group).mul_(scale.unsqueeze(2))
            w = (w if shift is None else w.add_(shift.unsqueeze(2))).mul_(unit)
            result[m.name] = w.reshape(rows, cols)[: m.rows, : m.cols].contiguous()
            continue
        scale, offset = unpack_params(_get(record, params, params.sections[m.name]), rows, cols // spec.group)
        grouped = codes.reshape(rows, -1, spec.group).float()
        w = torch.addcmul(offset.float().unsqueeze(2), grouped, scale.float().unsqueeze(2)).mul_(unit)
        result[m.name] = w.reshape(rows, cols)[: m.rows, : m.cols].contiguous()
    for m in spec.matrices if spec.has_bias else ():
        result[m.name + BIAS] = _get(record, head, head.biases[m.name]).view(torch.float32)[: m.rows]
    return result


def _raw_dtype(spec: ExpertSpec) -> torch.dtype:
    return torch.bfloat16 if spec.top == 16 else torch.float32


def _get(record: Bytes, part: Part, section: Section) -> Tensor:
    """A copy of a section, uint8."""
    start = part.offset + section.offset
    return torch.from_numpy(record[start : start + section.nbytes].copy())


def _units(record: Bytes, spec: ExpertSpec, needed: int) -> tuple[float, ...]:
    """The units from the header, after checking that the record is one."""
    n, at = len(spec.matrices), spec.layout.head.offset
    if record.nbytes >= needed:
        magic, _, _, count, *units = struct.unpack_from(f"<4I{n}f", record[at : at + HEADER_BYTES].tobytes())
        if magic == MAGIC and count == n:
            return tuple(units)
    raise UnderhillError(
        Kind.BROKEN_FILE,
        msg(
            "This is not an expert record of the expected shape ({nbytes} bytes, {needed} needed).",
            nbytes=record.nbytes,
            needed=needed,
        ),
        msg("Verify the model, and import it again if it is damaged."),
    )


def pack_params(scale: Tensor, offset: Tensor) -> Tensor:
    """Scale and offset [rows, groups] float16 as parameter lines, a flat uint8 tensor. rows is a multiple of 16."""
    rows, groups = scale.shape
    both = torch.stack((scale, offset)).reshape(2, rows // ROWS_PER_TILE, ROWS_PER_TILE, groups)
    return both.permute(1, 3, 0, 2).contiguous().view(torch.uint8).reshape(-1)


def unpack_params(data: Tensor, rows: int, groups: int) -> tuple[Tensor, Tensor]:
    """The inverse of pack_params: (scale, offset), each [rows, groups] float16."""
    lines = data.view(torch.float16).reshape(rows // ROWS_PER_TILE, groups, 2, LINE // 4)
    scale, offset = lines.permute(2, 0, 3, 1).reshape(2, rows, groups)
    return scale, offset
