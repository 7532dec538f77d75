"""The bytes of a part: codes and parameters in tiles of 16 rows by one group (engine/store/layout.py has the drawing).

The four bytes that a line gives to one row are handled as one 32-bit word, so packing is a few shifts over words.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from engine.store.layout import LINE, ROWS_PER_TILE


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
