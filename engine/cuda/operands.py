"""Vectors made ready for a matrix on the card: in 8 bits, or in float32 padded to whole groups."""

from __future__ import annotations

from ctypes import c_int32, c_int64, c_uint64
from typing import NamedTuple

from engine.cuda.commands import CommandList
from engine.cuda.device import CardDevice

BLOCK = 128  # threads of every kernel's blocks
GROUPS = 4  # of a row's groups, that a block of uh_quantize takes
SMALLEST_GROUP = 16
# Relative to the norm of a row. Kernels sum in the order of the processor's own with VNNI, to the last bit; other
# processors sum in another order, and a wrong index or scale is off by whole numbers.
TOLERANCE = 1e-4


class Vectors(NamedTuple):
    """float32 vectors [rows, cols] at an address of the card, `stride` values from one to the next.

    stored: columns of the matrix that they meet, padding included, in groups of `group`.
    """

    x: int
    stride: int
    cols: int
    stored: int
    group: int
    rows: int


class Operands:
    """Room on the card for `rows` vectors of at most `wide` columns, padding included. exact: in float32.

    nbytes: that it takes.
    """

    def __init__(self, device: CardDevice, ptx: bytes, rows: int, wide: int, *, exact: bool) -> None:
        """Raises CardError."""
        self._name, per_code = ("uh_pad", 4) if exact else ("uh_quantize", 1)
        self._function = device.kernel(ptx, self._name)
        # As the kernels take them: codes and sums, between them the scales of 8 bits.
        of_groups = 4 * rows * -(-wide // SMALLEST_GROUP)
        sizes = (per_code * rows * wide, *[of_groups] * (1 if exact else 2))
        self.nbytes, self._places = sum(sizes), tuple(c_uint64(device.memory(nbytes)) for nbytes in sizes)

    def take(self, commands: CommandList, vectors: Vectors) -> tuple[c_uint64, ...]:
        """Have these made ready; returns where they are then, as kernels are told."""
        x, stride, cols, stored, group, rows = vectors
        sizes = c_int64(stride), c_int32(cols), c_int32(stored), c_int32(group), c_int32(rows)
        grid = (-(-(stored // group) // GROUPS), rows, 1)
        commands.launch(self._function, grid, BLOCK, (c_uint64(x), *sizes, *self._places))
        return self._places
