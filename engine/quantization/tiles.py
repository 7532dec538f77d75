"""The bytes of a part: codes and parameters in tiles of 16 rows by one group (engine/record/layout.py has the drawing).

The four bytes that a line gives to one row are handled as one 32-bit word, so packing is a few shifts over words.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from engine.record.coding import ROWS, SUPER, Coding
from engine.record.layout import ROWS_PER_TILE

SHIFT = {"byte": 7, "signed": 8}  # what turns the byte of a scale into the bits of a float16


def _repeated(byte: int) -> int:
    return byte * 0x01010101


def pack_codes(codes: Tensor, shift: int, bits: int, group: int) -> Tensor:
    """Bits shift .. shift + bits - 1 of codes [rows, cols] uint8 as the tiles of one part, a flat uint8 tensor.

    rows is a multiple of 16 and cols one of `group`.
    """
    rows, cols = codes.shape
    per_byte = 8 // bits
    words = codes.contiguous().numpy().view("<u4")
    words = words.reshape(rows // ROWS_PER_TILE, ROWS_PER_TILE, cols // (4 * per_byte), per_byte)
    mask = np.uint32(_repeated(2**bits - 1))
    packed = (words[..., 0] >> np.uint32(shift)) & mask
    for s in range(1, per_byte):
        packed |= ((words[..., s] >> np.uint32(shift)) & mask) << np.uint32(bits * s)
    return torch.from_numpy(np.ascontiguousarray(packed.transpose(0, 2, 1)).view(np.uint8).reshape(-1))


def unpack_codes(data: Tensor, rows: int, cols: int, bits: int) -> Tensor:
    """The inverse of pack_codes: codes [rows, cols] uint8 holding `bits` bits each."""
    per_byte = 8 // bits
    lines = data.numpy().view("<u4").reshape(rows // ROWS_PER_TILE, cols // (4 * per_byte), ROWS_PER_TILE)
    packed = lines.transpose(0, 2, 1)
    mask = np.uint32(_repeated(2**bits - 1))
    words = np.empty((*packed.shape, per_byte), dtype="<u4")
    for s in range(per_byte):
        np.bitwise_and(packed >> np.uint32(bits * s), mask, out=words[..., s])
    return torch.from_numpy(words.reshape(rows, cols // 4).view(np.uint8))


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
