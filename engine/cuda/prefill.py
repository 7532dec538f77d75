"""Prefill: a prompt's rows by the shared weights on the card, on its tensor cores, where that was seen to be faster.

Rows cross in pieces (pieces.py), with two sets of buffers.
"""

from __future__ import annotations

import ctypes
import logging
import statistics
import time
from collections.abc import Callable, Sequence
from ctypes import c_int32, c_int64, c_uint64
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from engine.cuda.commands import CommandList
from engine.cuda.device import CardDevice
from engine.cuda.errors import CardError
from engine.cuda.expert_kernels import GEMM_SLOTS
from engine.cuda.linears import refuse_others, worst_row
from engine.cuda.matrices import ROWS, CardMatrix, as_expert
from engine.cuda.operands import BLOCK, Operands, Vectors
from engine.cuda.pieces import RowPiece, in_pieces
from engine.kernels.native import NativeKernel
from engine.native.library import MatrixView

_log = logging.getLogger(__name__)
PIECE = 256  # rows that cross at a time, at most
FEW = 32  # rows of the smaller of two products that are measured
TURNS = 3  # of each, of which the middle counts
_SETS = 2  # of buffers
_ROOM = 8 << 20  # bytes of a piece's rows, on either side of a product
_HEAD = 256  # bytes before a piece's rows: the matrix as an expert with so many slots
_DOWN = 2  # which of an expert's matrices a dense one is run as


class SideCost(NamedTuple):
    """Seconds of a product: `once`, and `each` for every row."""

    once: float
    each: float


class Shape(NamedTuple):
    """What matrices have in common that take as long."""

    rows: int
    cols: int
    group: int
    kind: int
    form: int
    biased: bool


class CardPrefill:
    """Matrices that many rows at once meet on the card. nbytes: that it takes there beside them. count: of them.

    worst: the largest difference from the processor's products. least: rows of a product from which on the card
    computes it, by shape. computed: products since it was opened. error: what made the card fail; the processor
    computed the product that it was asked for. Used by the thread that runs the model.
    """

    def __init__(self, device: CardDevice, ptx: bytes, kernel: NativeKernel, matrices: Sequence[CardMatrix]) -> None:
        """Have those products of `kernel` computed there that are faster there: none where it takes activations in
        float32, for which there is no kernel on tensor cores. matrices: on the card for as long as it is open.

        Raises CardError where one differs from the processor, or the card fails.
        """
        self._device, self._kernel = device, kernel
        self.nbytes, self.count, self.computed, self.worst = 0, 0, 0, 0.0
        self.least: dict[Shape, int] = {}
        self.error: CardError | None = None
        self._resting = False
        self._registered: list[int] = []
        self._full: dict[tuple[int, int], CommandList] = {}  # of whole pieces, by block and stream
        fitting = [] if kernel.exact else [matrix for matrix in matrices if rows_of(matrix.view)]
        if not fitting:
            return
        self._gemm, self._slots = device.kernel(ptx, "uh_gemm"), device.memory(4 * PIECE)
        self._buffers = [_Buffers(device, ptx, [matrix.view for matrix in fitting]) for _ in range(_SETS)]
        self.nbytes = 4 * PIECE + sum(buffers.nbytes for buffers in self._buffers)
        self._send_slots()
        device.on_close(self.stop)
        by_shape: dict[Shape, list[CardMatrix]] = {}
        for matrix in fitting:
            by_shape.setdefault(_shape_of(matrix.view), []).append(matrix)
        for shape, alike in by_shape.items():
            self._prove(alike[0])
            least = least_rows(*measure(self, alike[0], kernel), most=_many(alike[0].view))
            if least is not None:
                self.least[shape] = least
                self._register(alike, least)
        _log.info("The card multiplies prompts with %d shared matrices: %s", self.count, self.least)

    def _send_slots(self) -> None:
        """0, 1, 2, …: row i gives row i, of every piece."""
        driver, (buffers, *_) = self._device.driver, self._buffers
        slots = np.arange(PIECE, dtype=np.int32)
        ctypes.memmove(buffers.sent, slots.ctypes.data, slots.nbytes)
        driver.copy_in(self._slots, buffers.sent, slots.nbytes, buffers.stream)
        driver.synchronize(buffers.stream)

    def _prove(self, matrix: CardMatrix) -> None:
        x, expected = _trial(matrix.view, _many(matrix.view))
        found = torch.empty_like(expected)
        self._kernel.linear(matrix.view, x, expected)
        self.multiply(matrix, x, found)
        self.worst = max(self.worst, worst_row(found, expected))
        refuse_others(self._device, self.worst)

    def _register(self, matrices: Sequence[CardMatrix], least: int) -> None:
        for matrix in matrices:
            key = int(matrix.view.codes[0] or 0)
            self._kernel.elsewhere[key] = partial(self._take, matrix, least)
            self._registered.append(key)
        self.count += len(matrices)

    def _take(self, matrix: CardMatrix, least: int, x: Tensor, y: Tensor) -> bool:
        """See NativeKernel.elsewhere."""
        if self._resting or x.shape[0] < least:
            return False
        try:
            self.multiply(matrix, x, y)
        except CardError as error:
            self.stop()
            self.error = error
            return False
        self.computed += 1
        return True

    def rest(self, resting: bool) -> None:
        """Leave products to the processor, or take them again."""
        self._resting = resting

    def stop(self) -> None:
        """From now on the processor computes all. Safe to call twice."""
        for key in self._registered:
            self._kernel.elsewhere.pop(key, None)
        self._registered, self._full, self.count = [], {}, 0

    # ---- a product --------------------------------------------------------------------------------------------------

    def multiply(self, matrix: CardMatrix, x: Tensor, y: Tensor) -> None:
        """y [T, rows] = x [T, cols] W^T + b, float32, contiguous, in ordinary memory. Raises CardError."""
        self._device.use()
        n, most = x.shape[0], rows_of(matrix.view)
        in_pieces(
            self._buffers, n, most,
            lambda piece: self._begin(piece, matrix, x),
            lambda piece: self._collect(piece, y),
        )  # fmt: skip

    def _begin(self, piece: RowPiece[_Buffers], matrix: CardMatrix, x: Tensor) -> None:
        """All of it is on its way when this returns."""
        view, (buffers, at, count) = matrix.view, piece
        head, width = as_expert(view, matrix.block, count), 4 * view.cols
        ctypes.memmove(buffers.sent, head, len(head))
        ctypes.memmove(buffers.sent + _HEAD, x.data_ptr() + at * width, count * width)
        self._device.driver.submit(self._commands(matrix, buffers, count), buffers.stream)

    def _collect(self, piece: RowPiece[_Buffers], y: Tensor) -> None:
        buffers, at, count = piece
        self._device.driver.wait_for(buffers.done)
        width = 4 * y.shape[1]
        ctypes.memmove(y.data_ptr() + at * width, buffers.came, count * width)

    def _commands(self, matrix: CardMatrix, buffers: _Buffers, count: int) -> CommandList:
        """What the card has to do: of whole pieces the same each time."""
        if count < rows_of(matrix.view):
            return self._written(matrix, buffers, count)
        key = matrix.block, buffers.stream
        return self._full.get(key) or self._full.setdefault(key, self._written(matrix, buffers, count))

    def _written(self, matrix: CardMatrix, buffers: _Buffers, count: int) -> CommandList:
        view, commands = matrix.view, CommandList()
        commands.copy_in(buffers.x, buffers.sent, _HEAD + 4 * count * view.cols)
        given = Vectors(buffers.x + _HEAD, view.cols, view.cols, view.groups * view.group, view.group, count)
        ready = buffers.operands.take(commands, given)
        places = c_uint64(buffers.x), c_uint64(self._slots), c_int32(1)
        grid = -(-view.rows // ROWS), 1, -(-count // GEMM_SLOTS)
        out = c_uint64(buffers.y), c_int64(view.rows)
        commands.launch(self._gemm, grid, BLOCK, (matrix.layout, c_int32(_DOWN), *places, *ready, *out))
        commands.copy_out(buffers.came, buffers.y, 4 * count * view.rows)
        commands.record(buffers.done)
        commands.query(buffers.done)  # Windows' driver gathers work and hands it on only when it is asked about it
        return commands


class _Buffers:
    """Room for a piece at a time, here (pinned) and there, with a stream. nbytes: there."""

    def __init__(self, device: CardDevice, ptx: bytes, views: Sequence[MatrixView]) -> None:
        """views: of all that may come. Raises CardError."""
        sent = max(4 * PIECE, *(_HEAD + 4 * rows_of(view) * view.cols for view in views))
        came = max(4 * rows_of(view) * view.rows for view in views)
        codes = max(rows_of(view) * view.groups * view.group for view in views)
        self.stream, self.done = device.stream(), device.event()
        self.sent, self.came = device.pinned(sent), device.pinned(came)
        self.x, self.y = device.memory(sent), device.memory(came)
        self.operands = Operands(device, ptx, 1, codes, exact=False)  # of all rows: they follow one another
        self.nbytes = sent + came + self.operands.nbytes


def rows_of(view: MatrixView) -> int:
    """Rows of a piece that meets this matrix, in whole blocks of the kernel; 0: the matrix is too wide, as heads are,
    of which a prompt needs one row."""
    return min(PIECE, _ROOM // (4 * max(view.rows, view.cols))) // GEMM_SLOTS * GEMM_SLOTS


def _shape_of(view: MatrixView) -> Shape:
    return Shape(view.rows, view.cols, view.group, view.kind, view.form, bool(view.bias))


def _many(view: MatrixView) -> int:
    """Rows of the larger product that is measured: two pieces, the second with a tail."""
    return rows_of(view) + GEMM_SLOTS + GEMM_SLOTS // 4 + 1


def _trial(view: MatrixView, count: int) -> tuple[Tensor, Tensor]:
    """Random rows, and room for what they give."""
    random = torch.Generator().manual_seed(view.rows)
    return torch.randn(count, view.cols, generator=random), torch.empty(count, view.rows)


# ---- who is faster ---------------------------------------------------------------------------------------------------


def measure(prefill: CardPrefill, matrix: CardMatrix, kernel: NativeKernel) -> tuple[SideCost, SideCost]:
    """What products with a matrix cost the card, and the processor. Raises CardError."""
    view = matrix.view
    sizes = FEW, _many(view)
    trials = [_trial(view, count) for count in sizes]

    def cost(compute: Callable[[Tensor, Tensor], object]) -> SideCost:
        few, many = (_seconds(compute, *trial) for trial in trials)
        each = (many - few) / (sizes[1] - sizes[0])
        return SideCost(few - FEW * each, each)

    return cost(partial(prefill.multiply, matrix)), cost(partial(kernel.linear, view))


def _seconds(compute: Callable[[Tensor, Tensor], object], x: Tensor, y: Tensor) -> float:
    turns = []
    for _ in range(TURNS):
        start = time.perf_counter()
        compute(x, y)
        turns.append(time.perf_counter() - start)
    return statistics.median(turns)


def least_rows(card: SideCost, host: SideCost, most: int) -> int | None:
    """Rows from which on the card is through sooner, at least two; None: not by `most`, as far as it was measured."""
    if card.each >= host.each:
        return None
    least = max(2, int((card.once - host.once) // (host.each - card.each)) + 1)
    return least if least <= most else None
