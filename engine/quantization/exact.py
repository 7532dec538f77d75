"""A matrix that came quantized into its record: its own codes and scales, and a coarse expert of their top two bits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import pad

from engine.kernels.encode import NotFinite
from engine.quantization.grouped import Fine, GroupedCodes
from engine.quantization.tiles import SHIFT, levels_of, pack_codes
from engine.record.coding import ROWS, SUPER, Coding, dense_sections

LARGEST = 2.0**14  # what the largest weight becomes at most: scales of coarser codes are still float16
BYTES_MOST = 2.0**11  # the same for scales of a byte, which those of coarse codes exceed by less than 2^4
SMALL_MOST = 255  # of a scale of the form 'super'


@dataclass(frozen=True, eq=False)
class Scales:
    """Scales as they are stored: what they are, [rows, groups] float32, and their bytes for padded rows."""

    scale: Tensor
    offset: Tensor | None
    data: Tensor


@dataclass(frozen=True, eq=False)
class StoredCodes:
    """What a record keeps of a matrix. scales, squared_errors: by tier, 2 and then all bits.

    squared_errors are sums over (weight as stored - weight as the source means it)^2, squared_norm over the latter's.
    """

    unit: float
    codes: Tensor
    scales: tuple[Scales, Scales]
    squared_norm: float
    squared_errors: tuple[float, float]


def pack_matrix(grouped: GroupedCodes) -> StoredCodes:
    """Keep a matrix. Raises NotFinite where a scale is none, ValueError where its columns are no whole groups."""
    coding, (rows, cols) = grouped.coding, grouped.shape
    if cols % coding.group:
        raise ValueError(f"{cols} columns are no whole groups of {coding.group}")
    held = [t for t in (grouped.scale, grouped.offset) if t is not None]
    if not all(bool(t.isfinite().all()) for t in held):
        raise NotFinite
    unit = _unit(grouped)
    shape = (rows, cols // coding.group, coding.group)
    w = (grouped.values() / unit).view(shape)
    coarse_codes = levels_of(grouped.codes >> (coding.bits - 2), coding, 2).view(shape)
    fine = _fine_scales(grouped, unit)
    coarse = _coarse_scales(coding.form_of(2), w, coarse_codes)
    errors = []
    for levels, kept in ((coarse_codes, coarse), (levels_of(grouped.codes, coding, coding.bits).view(shape), fine)):
        off = levels.mul_(kept.scale.unsqueeze(2)).sub_(w)
        if kept.offset is not None:
            off.add_(kept.offset.unsqueeze(2))
        errors.append(float(off.square_().sum(dtype=torch.float64)) * unit * unit)
    norm = float(w.square_().sum(dtype=torch.float64)) * unit * unit
    return StoredCodes(unit, _padded(grouped.codes), (coarse, fine), norm, (errors[0], errors[1]))


def pack_dense(coding: Coding, rows: int, cols: int, blocks: Iterable[GroupedCodes]) -> Tensor:
    """A matrix beside the experts as it is stored, all bits of its codes alone: uint8, the sections of coding.py.

    blocks: its rows in order, each but the last a multiple of 16. Raises NotFinite where a scale is none.
    """
    sizes = dense_sections(coding, rows, cols)
    data = torch.zeros(sum(sizes), dtype=torch.uint8)
    line, upper, lower, params = data.split(sizes)
    scales: list[GroupedCodes] = []
    at = 0
    for block in blocks:
        codes = _padded(block.codes)
        for plane, shift, bits in ((upper, coding.bits - 2, 2), (lower, 0, coding.bits - 2)):
            packed = pack_codes(codes, shift, bits, coding.group)
            start = at * cols * bits // 8
            plane[start : start + len(packed)] = packed
        at += len(codes)
        scales.append(replace(block, codes=block.codes[:0]))
    whole = _together(scales)
    if not all(bool(t.isfinite().all()) for t in (whole.scale, whole.offset) if t is not None):
        raise NotFinite
    unit = _unit(whole)
    line[:4] = torch.tensor([unit]).view(torch.uint8)
    params[:] = _fine_scales(whole, unit).data
    return data


def _together(parts: list[GroupedCodes]) -> GroupedCodes:
    """The scales of blocks of rows as those of all."""

    def joined(values: list[Tensor | None]) -> Tensor | None:
        there = [value for value in values if value is not None]
        return torch.cat(there) if there else None

    first, fine = parts[0], [part.fine for part in parts if part.fine is not None]
    scale = joined([part.scale for part in parts])
    assert scale is not None
    return replace(
        first,
        scale=scale,
        offset=joined([part.offset for part in parts]),
        fine=Fine(*(torch.cat(each) for each in zip(*((f.small, f.small_offset, f.wide, f.wide_offset) for f in fine))))
        if fine
        else None,
    )


def _unit(grouped: GroupedCodes) -> float:
    """A power of two, times what the source multiplies all scales by, that keeps scales within their form's range."""
    if grouped.fine is not None:
        largest = max(float(grouped.fine.wide.abs().max()), float(grouped.fine.wide_offset.abs().max()))
        most = LARGEST / 2 ** (grouped.coding.bits + 8)  # of d and e, beside scales of a byte
    elif grouped.coding.form == "byte":
        largest, most = float((grouped.scale / grouped.unit).max()), BYTES_MOST
    else:
        table = grouped.coding.table_of(grouped.coding.bits)
        reach = max(table) if table else 2**grouped.coding.bits
        largest = max(float(t.abs().max()) for t in (grouped.scale, grouped.offset) if t is not None)
        most = LARGEST / reach
    if largest == 0.0:
        return grouped.unit
    return grouped.unit * 2.0 ** max(-120, math.ceil(math.log2(largest / most)))


def _fine_scales(grouped: GroupedCodes, unit: float) -> Scales:
    """The source's own."""
    if grouped.fine is not None:
        fine = grouped.fine
        return _super(fine.small, fine.small_offset, fine.wide / unit, fine.wide_offset / unit, grouped.coding.group)
    offset = None if grouped.offset is None else grouped.offset / unit
    return _stored(grouped.coding.form, grouped.scale / unit, offset)


def _coarse_scales(form: str, w: Tensor, codes: Tensor) -> Scales:
    """Those that keep the mean and spread of each group; with no offset, the mean square (refit says why).

    w, codes: [rows, groups, group], codes less their zero.
    """
    rows, groups, group = w.shape
    if form in ("pair", "super"):
        scale, offset = (t.view(rows, groups).float() for t in refit(w.reshape(-1, group), codes.reshape(-1, group)))
        return _stored(form, scale, offset) if form == "pair" else _rounded_super(scale, offset, group)
    along = torch.linalg.vecdot(w, codes)
    size = (w.square().sum(dim=2) / codes.square().sum(dim=2)).sqrt_()
    return _stored(form, size.clamp_max_(BYTES_MOST * 16) * along.sign() if form == "signed" else size, None)


def _rounded_super(scale: Tensor, offset: Tensor, group: int) -> Scales:
    """Scales and offsets, none of them of the other sign, in steps of a 255th of the largest of 256 columns."""
    groups, each = scale.shape[1], SUPER // group
    wides, smalls = [], []
    for values in (scale.clamp_min(0.0), (-offset).clamp_min(0.0)):
        blocks = pad(values, (0, -groups % each)).view(len(values), -1, each)
        wide = (blocks.amax(dim=2) / SMALL_MOST).half().float()
        step = torch.where(wide > 0, 1.0 / wide, 0.0).repeat_interleave(each, 1)[:, :groups]
        wides.append(wide)
        smalls.append((values * step).round_().clamp_(0, SMALL_MOST).to(torch.uint8))
    return _super(smalls[0], smalls[1], wides[0], wides[1], group)


def _stored(form: str, scale: Tensor, offset: Tensor | None) -> Scales:
    """Scales [rows, groups] rounded to a form of their own numbers."""
    if form == "pair":
        assert offset is not None
        halves = torch.stack([_by_tile(_padded(t.half())) for t in (scale, offset)], dim=2)
        return Scales(scale.half().float(), offset.half().float(), halves.reshape(-1).view(torch.uint8))
    half = scale.half()
    if form == "half":
        return Scales(half.float(), None, _by_tile(_padded(half)).reshape(-1).view(torch.uint8))
    shift = SHIFT[form]
    bits = half.view(torch.int16).to(torch.int32) & 0xFFFF
    rounded = bits + (1 << (shift - 1)) >> shift
    kept = _as_half(rounded << shift)
    return Scales(kept, None, _by_tile(_padded(rounded.to(torch.uint8))).reshape(-1))


def _as_half(bits: Tensor) -> Tensor:
    """The float16 of these bits (int32, 0 to 65535), as float32."""
    return torch.where(bits > 0x7FFF, bits - 0x10000, bits).to(torch.int16).view(torch.float16).float()


def _super(small: Tensor, small_offset: Tensor, wide: Tensor, wide_offset: Tensor, group: int) -> Scales:
    """The form 'super': see engine/record/coding.py."""
    wide, wide_offset = wide.half(), wide_offset.half()
    lines = torch.stack([_by_tile(_padded(t)) for t in (wide, wide_offset)], dim=2)
    tiles = torch.stack([_by_tile(_padded(t)) for t in (small, small_offset)], dim=2)
    blocks = len(lines)
    data = torch.cat((lines.reshape(blocks, -1).view(torch.uint8), tiles.reshape(blocks, -1)), dim=1)
    return Scales(*Fine(small, small_offset, wide, wide_offset).multiplied(group), data.reshape(-1))


def _padded(values: Tensor) -> Tensor:
    """[rows, n] with rows of zeros up to whole tiles."""
    return pad(values, (0, 0, 0, -len(values) % ROWS))


def _by_tile(values: Tensor) -> Tensor:
    """[rows, n] -> [blocks, n, 16]"""
    return values.view(-1, ROWS, values.shape[1]).permute(0, 2, 1).contiguous()


def refit(w: Tensor, codes: Tensor) -> tuple[Tensor, Tensor]:
    """Scale and offset [N, 1] float16 with which decoded groups have the mean and the spread of the original ones.

    w, codes: [N, group] float32. Least squares would give the same but for a factor: the correlation r of weights and
    codes, by which it shrinks what it cannot explain. At two bits that makes every expert's output some 6 % too small;
    dividing by r costs 1 % of weight error and saves a fifth of the divergence (docs/quantization.md). A group with
    one code gets scale 0, and every offset is fitted to its rounded scale.
    """
    mean_w, mean_code = w.mean(dim=1, keepdim=True), codes.mean(dim=1, keepdim=True)
    spread_w = (w - mean_w).square_().mean(dim=1, keepdim=True)
    spread_code = (codes - mean_code).square_().mean(dim=1, keepdim=True)
    scale = torch.where(spread_code > 0, (spread_w / spread_code.clamp_min(1e-6)).sqrt_(), 0.0).to(torch.float16)
    return scale, torch.addcmul(mean_w, scale.float(), mean_code, value=-1.0).to(torch.float16)
