"""Codes, scales and offsets of a matrix out of the tiles and forms of engine/store, in torch."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.store.coding import ROWS, SUPER, Coding
from engine.store.layout import ROWS_PER_TILE

SHIFT = {"byte": 7, "signed": 8}  # what turns the byte of a scale into the bits of a float16


def plane_codes(lines: Tensor, bits: int, rows: int, cols: int, group: int) -> Tensor:
    """One part's bits of every code, [rows, cols] uint8, from its packed lines (uint8, any device).

    rows and cols are the stored (padded) ones. engine/store/layout.py says where every bit lies.
    """
    per_byte = 8 // bits
    shape = (rows // ROWS_PER_TILE, cols // group, group // (4 * per_byte), ROWS_PER_TILE, 4)
    tiles = lines[: rows * cols * bits // 8].view(shape)
    parts = [(tiles >> (bits * s)) & (2**bits - 1) for s in range(per_byte)]
    codes = torch.stack(parts, dim=3)  # [block, group, line, s, row, j]
    return codes.permute(0, 4, 1, 2, 3, 5).reshape(rows, cols)


def unpack_scales(
    data: Tensor, form: str, rows: int, cols: int, group: int, dtype: torch.dtype = torch.float32
) -> tuple[Tensor, Tensor | None]:
    """Scale and offset [rows, cols / group] in `dtype`; no offset where the form has none.

    data: uint8, the section or more of it. rows, cols: as stored, padding included.
    """
    blocks, groups = rows // ROWS, cols // group

    def by_row(values: Tensor, count: int) -> Tensor:
        """[blocks, count, 16] -> [rows, count]"""
        return values.permute(0, 2, 1).reshape(rows, count).to(dtype)

    if form == "pair":
        lines = data[: blocks * groups * 64].view(torch.float16).view(blocks, groups, 2, ROWS)
        return by_row(lines[:, :, 0], groups), by_row(lines[:, :, 1], groups)
    if form == "half":
        return by_row(data[: blocks * groups * 32].view(torch.float16).view(blocks, groups, ROWS), groups), None
    if form != "super":
        bits = data[: blocks * groups * ROWS].to(torch.int32) << SHIFT[form]
        bits = torch.where(bits > 0x7FFF, bits - 0x10000, bits).to(torch.int16)
        return by_row(bits.view(torch.float16).view(blocks, groups, ROWS), groups), None
    supers = -(-cols // SUPER)
    block = data[: blocks * (64 * supers + 32 * groups)].view(blocks, 64 * supers + 32 * groups)
    wide = block[:, : 64 * supers].contiguous().view(torch.float16).view(blocks, supers, 2, ROWS)
    fine = block[:, 64 * supers :].reshape(blocks, groups, 2, ROWS)
    each = [
        by_row(fine[:, :, i], groups) * by_row(wide[:, :, i], supers).repeat_interleave(SUPER // group, 1)[:, :groups]
        for i in (0, 1)
    ]
    return each[0], -each[1]


def levels_of(codes: Tensor, coding: Coding, tier: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """What codes of `tier` bits stand for, level - zero, in the shape of `codes` (uint8)."""
    table = coding.table_of(tier)
    levels = codes.to(dtype) if not table else torch.tensor(table, dtype=dtype, device=codes.device)[codes.int()]
    return levels - coding.zero_of(tier)
