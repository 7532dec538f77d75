"""The tiles of a plane, bit for bit as the layout's drawing says."""

from __future__ import annotations

import pytest
import torch

from engine.quantization.tiles import pack_codes, unpack_codes
from tests.engine.quantization.reference import pack_params, unpack_params

ROWS, COLS, GROUP = 48, 192, 64


@pytest.mark.parametrize(("shift", "bits"), [(6, 2), (4, 2), (0, 4), (2, 2), (0, 2)])
def test_every_bit_lies_where_the_drawing_says(shift: int, bits: int) -> None:
    codes = torch.randint(0, 256, (ROWS, COLS), dtype=torch.uint8)
    data = pack_codes(codes, shift, bits, GROUP).tolist()
    per_byte = 8 // bits
    tile_bytes = 16 * GROUP * bits // 8
    for row in range(ROWS):
        for col in range(COLS):
            tile = (row // 16) * (COLS // GROUP) + col // GROUP
            n, within = divmod(col % GROUP, 4 * per_byte)
            s, j = divmod(within, 4)
            byte = data[tile * tile_bytes + 64 * n + 4 * (row % 16) + j]
            want = (int(codes[row, col]) >> shift) & (2**bits - 1)
            assert (byte >> (bits * s)) & (2**bits - 1) == want


@pytest.mark.parametrize("bits", [2, 4])
@pytest.mark.parametrize("group", [16, 32, 64, 128])
def test_unpacking_undoes_packing(bits: int, group: int) -> None:
    codes = torch.randint(0, 2**bits, (32, 256), dtype=torch.uint8)
    assert torch.equal(unpack_codes(pack_codes(codes, 0, bits, group), 32, 256, bits), codes)


def test_parameter_lines() -> None:
    scale, offset = torch.randn(32, 3).half(), torch.randn(32, 3).half()
    data = pack_params(scale, offset)
    lines = data.view(torch.float16).reshape(2, 3, 32)  # row blocks, groups, 16 scales then 16 offsets
    assert torch.equal(lines[1, 2, :16], scale[16:, 2])
    assert torch.equal(lines[0, 1, 16:], offset[:16, 1])
    back = unpack_params(data, 32, 3)
    assert torch.equal(back[0], scale)
    assert torch.equal(back[1], offset)
