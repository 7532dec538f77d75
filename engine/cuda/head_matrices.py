"""Products on the card of matrices of which every head has its own (mixer_ops.each), all heads in one launch.

Each head's part of a matrix lies there as the one matrix of an expert, which the head's vector alone has chosen.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import c_uint64
from dataclasses import dataclass

from engine.cuda.commands import CommandList
from engine.cuda.device import CardDevice
from engine.cuda.matrices import ROWS, CardMatrices, supports
from engine.cuda.operands import BLOCK, Operands, Vectors
from engine.kernels.dense import sections_of
from engine.kernels.native import EXPERT, matrix_layout
from engine.native.library import MatrixView
from engine.native.op_graph import Op

_HEAD = 64  # bytes in front of a head's codes: the unit, float32
_SLOT = 4  # bytes of the number of a head's vector


@dataclass(frozen=True)
class _Placed:
    """A matrix on the card. experts, slots: addresses of the list of heads, and of the numbers of their vectors."""

    layout: ctypes.Structure
    experts: int
    slots: int


def nbytes_by_head(view: MatrixView, heads: int) -> int:
    """That it takes on the card."""
    return heads * (_HEAD + sum(nbytes for _, nbytes in sections_of(_one(view, heads))) + EXPERT.size + _SLOT)


def _one(view: MatrixView, heads: int) -> MatrixView:
    """The first head's part of a matrix."""
    one = MatrixView.from_buffer_copy(view)
    one.rows = view.rows // heads
    return one


class HeadMatrices:
    """Those of one model that lie in tiles. Used by the thread that runs the model."""

    def __init__(
        self, device: CardDevice, ptx: bytes, ops: Sequence[Op], matrices: CardMatrices, *,
        room: Callable[[int], int], exact: bool,
    ) -> None:  # fmt: skip
        """ops: OpKind.EACH, at least one of tiles. room: makes room on the card. exact: activations in float32, not
        in 8 bits. Raises CardError."""
        packed = [op for op in ops if supports(op.view)]
        heads = max(op.number("heads") for op in packed)
        wide = max(op.view.groups * op.view.group for op in packed)
        self._operands = Operands(device, ptx, heads, wide, exact=exact)
        self._down = device.kernel(ptx, "uh_down_exact" if exact else "uh_down_1")
        self._room, self._matrices = room, matrices
        self._held: dict[int, _Placed] = {}

    def multiply(self, commands: CommandList, op: Op, x: int, y: int) -> None:
        """Have out computed of x, both at addresses of the card. Raises CardError, where the matrix is brought over."""
        view, heads = op.view, op.number("heads")
        key = ctypes.addressof(view)
        held = self._held.get(key) or self._held.setdefault(key, self._place(view, heads))
        stored = view.groups * view.group
        ready = self._operands.take(commands, Vectors(x, op.number("x_step"), view.cols, stored, view.group, heads))
        grid = (-(-view.rows // heads // ROWS), heads, 1)
        places = (held.layout, c_uint64(held.experts), c_uint64(held.slots), *ready, c_uint64(y))
        commands.launch(self._down, grid, BLOCK, places)

    def _place(self, view: MatrixView, heads: int) -> _Placed:
        one = _one(view, heads)
        sources, sizes = zip(*sections_of(one), strict=True)
        each, at = _HEAD + sum(sizes), [_HEAD + sum(sizes[:n]) for n in range(len(sizes))]
        nbytes = nbytes_by_head(view, heads)
        block, made = self._room(nbytes), bytearray(nbytes)
        start, experts = ctypes.addressof((ctypes.c_char * nbytes).from_buffer(made)), heads * each
        slots = experts + heads * EXPERT.size
        for head in range(heads):
            own = head * each
            made[own : own + 4] = bytes(ctypes.c_float(view.unit))
            for offset, size, source in zip(at, sizes, sources, strict=True):
                ctypes.memmove(start + own + offset, source + head * size, size)
            EXPERT.pack_into(made, experts + head * EXPERT.size, *[block + own] * 4, view.planes, head, 1, 0)
            made[slots + head * _SLOT : slots + (head + 1) * _SLOT] = head.to_bytes(_SLOT, "little")
        self._matrices.send(block, start, nbytes)
        return _Placed(matrix_layout(one, at[:-1], at[-1], -1, 0), block + experts, block + slots)
