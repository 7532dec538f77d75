"""Matrices beside the experts on the card, for single tokens: one call of native code each (native/src/card.c)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import suppress
from ctypes import addressof, c_int32, c_int64, c_uint64, c_void_p
from functools import lru_cache
from typing import Any

from torch import Tensor

from engine.cuda.commands import CommandList
from engine.cuda.device import CardDevice
from engine.cuda.errors import CardError, refused
from engine.cuda.operands import BLOCK, Operands, Vectors
from engine.kernels.dense import sections_of
from engine.kernels.native import EXPERT, RAW, matrix_layout
from engine.native.library import MatrixView, load_library

ROWS = 64  # of a matrix, that a block computes
_EXPERT_AT, _SLOT_AT, _HEAD = 64, 128, 256  # in a matrix's block: its one expert, that one's slot; unit at 0; codes
_STAGED = 16 << 20  # bytes that are copied to the card at a time


class Products(ctypes.Structure):
    """What all that a card computes for op graphs shares."""

    # As uh_card_products.
    _fields_ = (
        *((name, c_void_p) for name in ("driver", "context", "stream", "done", "x", "y")),
        ("failed", c_int32),
        ("computed", c_int64),
    )


class _Matrix(ctypes.Structure):
    # As uh_card_matrix.
    _fields_ = (
        ("shared", c_void_p),
        ("commands", c_void_p),
        *((name, c_int32) for name in ("n", "rows", "cols")),
    )


def supports(view: MatrixView) -> bool:
    """Whether there are kernels for it: codes in tiles, those of its source too."""
    return view.kind not in RAW.values()


def nbytes_of(view: MatrixView) -> int:
    """That it takes on the card."""
    return _HEAD + sum(nbytes for _, nbytes in sections_of(view)) + (4 * view.rows if view.bias else 0)


def as_expert(view: MatrixView, block: int, rows: int) -> bytes:
    """A matrix in a block of the card, as kernels take an expert, whose down matrix meets so many rows."""
    return EXPERT.pack(block, block, block, block, view.planes, 0, rows, 0)


class CardMatrix:
    """One matrix on the card. address: what an op graph is told (OpGraph.put_on_card), valid while this lives."""

    def __init__(
        self, view: MatrixView, block: int, layout: ctypes.Structure, products: Products, commands: CommandList
    ) -> None:
        self.view, self.block, self.layout = view, block, layout
        self._kept = commands, (packed := commands.packed())
        self._products = products
        self._matrix = _Matrix(addressof(products), addressof(packed), len(packed), view.rows, view.cols)
        self.address = addressof(self._matrix)

    def product(self, x: Tensor, y: Tensor) -> None:
        """y [rows] = W x [cols], float32, contiguous, in ordinary memory. Raises CardError."""
        if not _native().uh_card_product(self.address, x.data_ptr(), y.data_ptr()):
            raise _error(self._products) or refused("uh_card_product", self._products.failed)


class CardMatrices:
    """The matrices of one model on one card. Used by the thread that runs the model; nothing else may use the card's
    compute stream meanwhile. exact: activations in float32, not in 8 bits.
    """

    def __init__(self, device: CardDevice, ptx: bytes, views: Sequence[MatrixView], *, exact: bool) -> None:
        """views: of all that may come, at least one. Raises CardError."""
        self._device = device
        rows, cols = (max(getattr(view, side) for view in views) for side in ("rows", "cols"))
        wide = max(view.groups * view.group for view in views)
        self._sent, self._came = device.pinned(max(4 * cols, _STAGED)), device.pinned(4 * rows)
        self._in, self._out = device.memory(4 * cols), device.memory(4 * rows)
        self._operands = Operands(device, ptx, 1, wide, exact=exact)
        self._down = device.kernel(ptx, "uh_down_exact" if exact else "uh_down_1")
        self.done = device.event()
        self.products = Products(
            ctypes.addressof(device.driver.submitter.driver), device.context, device.compute, self.done,
            self._sent, self._came,
        )  # fmt: skip
        self._blocks: dict[int, CardMatrix | None] = {}  # by address; None: it is being brought
        device.on_close(self._clear)

    @property
    def error(self) -> CardError | None:
        """What made the card fail; None: it works."""
        return _error(self.products)

    @property
    def computed(self) -> int:
        """Products since the beginning."""
        return int(self.products.computed)

    @property
    def placed(self) -> list[CardMatrix]:
        """All that lie there."""
        return [matrix for matrix in self._blocks.values() if matrix is not None]

    def stop(self, code: int = -1) -> None:
        """Compute nothing more: the processor does it from now on. code: what the driver returned, if that is why."""
        self.products.failed = self.products.failed or code

    def place(self, view: MatrixView) -> CardMatrix:
        """Bring a matrix to the card. Raises CardError, also where there is no room; nothing is held for it then."""
        driver = self._device.driver
        block = driver.allocate(nbytes_of(view))
        self._blocks[block] = None
        try:
            layout, commands = self._written(view, block), CommandList()
            commands.copy_in(self._in, self._sent, 4 * view.cols)
            self.multiply(commands, view, block, layout, self._in, self._out)
            commands.copy_out(self._came, self._out, 4 * view.rows)
            commands.record(self.done)
            commands.query(self.done)  # Windows' driver gathers work and hands it on only when it is asked about it
            self._blocks[block] = matrix = CardMatrix(view, block, layout, self.products, commands)
            return matrix
        except CardError:
            self._give(block)
            raise

    def remove(self, matrix: CardMatrix) -> None:
        """Give its memory back; no graph may have its address any more."""
        self._give(matrix.block)

    def _written(self, view: MatrixView, block: int) -> ctypes.Structure:
        """Brings it over; returns what kernels are told of it."""
        codes, at = [], _HEAD
        for address, nbytes in sections_of(view):
            self.send(block + at, address, nbytes)
            codes.append(at)
            at += nbytes
        params = codes.pop()
        if view.bias:
            self.send(block + at, view.bias, 4 * view.rows)
        layout = matrix_layout(view, codes, params, at if view.bias else -1, 0)
        head = bytearray(_HEAD)
        head[:4] = bytes(ctypes.c_float(view.unit))
        head[_EXPERT_AT : _EXPERT_AT + EXPERT.size] = as_expert(view, block, 1)
        self.send(block, addressof((ctypes.c_char * _HEAD).from_buffer(head)), _HEAD)
        return layout

    def multiply(
        self, commands: CommandList, view: MatrixView, block: int, layout: ctypes.Structure, x: int, y: int
    ) -> None:
        """Have y = W x computed, both float32 at addresses of the card. block, layout: of the CardMatrix."""
        stored = view.groups * view.group
        ready = self._operands.take(commands, Vectors(x, view.cols, view.cols, stored, view.group, 1))
        places: tuple[Any, ...] = (layout, c_uint64(block + _EXPERT_AT), c_uint64(block + _SLOT_AT), *ready)
        commands.launch(self._down, (-(-view.rows // ROWS), 1, 1), BLOCK, (*places, c_uint64(y)))

    def send(self, to: int, address: int, nbytes: int) -> None:
        """Copy from ordinary memory to the card; it is there when this returns. Raises CardError."""
        driver, stream = self._device.driver, self._device.copy
        for at, some in _pieces(nbytes):
            ctypes.memmove(self._sent, address + at, some)
            driver.copy_in(to + at, self._sent, some, stream)
            driver.synchronize(stream)

    def _give(self, block: int) -> None:
        del self._blocks[block]
        self._device.driver.free(block)

    def _clear(self) -> None:
        self.stop()
        for block in tuple(self._blocks):
            with suppress(CardError):
                self._give(block)


def _error(products: Products) -> CardError | None:
    return refused("uh_card_product", products.failed) if products.failed > 0 else None


def _pieces(nbytes: int) -> Iterator[tuple[int, int]]:
    for at in range(0, nbytes, _STAGED):
        yield at, min(_STAGED, nbytes - at)


@lru_cache(maxsize=1)
def _native() -> Any:
    library = load_library()
    library.uh_card_product.argtypes, library.uh_card_product.restype = (c_void_p, c_void_p, c_void_p), c_int32
    return library
