"""Matrices outside the expert records: raw, or packed into 4 or 8 bits from the weights of a checkpoint."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from engine.errors import damaged_checkpoint
from engine.kernels.native import RAW, SIX, NativeKernel
from engine.native.library import MatrixView
from engine.native.memory import Arena
from engine.record.coding import FORMS, params_bytes
from engine.record.layout import LINE, PLANE_BITS, ROWS_PER_TILE, aligned
from engine.translatable import msg

PLANES = {4: 2, 8: 3}  # of 2, 2 and 4 bits
LARGEST = 12  # weights are at most 2 ** LARGEST units, as in expert records
MOST_GROUP = 256  # columns, as in native/pack.c
BLOCK = 1 << 22  # weights of another type than bf16 and float32 that are converted at once


def group_of(cols: int) -> int:
    """Columns per group: 64, or 32 where the width is a multiple of no more."""
    return 32 if cols % 64 and not cols % 32 else 64


def packed_bytes(rows: int, cols: int, bits: int) -> int:
    """Bytes of a matrix packed into 4 or 8 bits, padding included."""
    group = group_of(cols)
    return sum(sections(rows, cols, bits, group))


def sections(rows: int, cols: int, bits: int, group: int) -> list[int]:
    """Bytes of each plane, and of the parameters."""
    weights = aligned(rows, ROWS_PER_TILE) * aligned(cols, group)
    codes = [weights * plane // 8 for plane in PLANE_BITS[: PLANES[bits]]]
    return [*codes, weights // group // ROWS_PER_TILE * LINE]


def sections_of(view: MatrixView) -> list[tuple[int, int]]:
    """Address and bytes of each part of the codes of a matrix in tiles, and of its scales at last."""
    rows, cols = aligned(view.rows, ROWS_PER_TILE), view.groups * view.group
    bits = (2, 4) if view.kind == SIX else PLANE_BITS[: view.planes]
    at = (view.codes[0], view.codes[2]) if view.kind == SIX else view.codes[: view.planes]
    codes = [(address, rows * cols * plane // 8) for address, plane in zip(at, bits, strict=True)]
    return [*codes, (view.params, params_bytes(FORMS[view.form], rows, cols, view.group))]


class PackedMatrix:
    """W [rows, cols] in the tiles of engine/record/layout.py, with the parameters of its one tier.

    Columns beyond `cols` have code 0; rows beyond `rows` are zeros. native/pack.c says how weights are fitted.
    """

    def __init__(
        self, weights: Sequence[Tensor], bits: int, kernel: NativeKernel, arena: Arena, group: int | None = None
    ) -> None:
        """weights: any floating type, [N, cols] each, stacked along their rows. bits: 4 or 8. group: see group_of.

        Raises UnderhillError: BROKEN_FILE for weights that are not finite; ValueError for a group that is not possible.
        """
        rows, cols = sum(part.shape[0] for part in weights), weights[0].shape[1]
        group = group or group_of(cols)
        if group % 16 or not 0 < group <= MOST_GROUP:
            raise ValueError(f"groups of {group} columns are not provided for")
        sizes = sections(rows, cols, bits, group)
        self._kernel = kernel
        self.data = arena.take(sum(sizes))
        self.view = MatrixView(
            unit=_unit(weights, kernel), rows=rows, cols=cols, groups=-(-cols // group), group=group, kind=PLANES[bits]
        )
        # The view points into `data`, which lives as long as this does.
        at = self.data.data_ptr()
        for plane, nbytes in enumerate(sizes[:-1]):
            self.view.codes[plane] = at
            at += nbytes
        self.view.params = at
        first = 0
        for block in _blocks(weights):
            kernel.pack(self.view, first, block)
            first += block.shape[0]

    def rows(self, ids: Tensor) -> Tensor:
        """Rows as float32 [N, cols]. ids: [N]."""
        out = torch.empty(len(ids), self.view.cols)
        self._kernel.rows(self.view, ids.tolist(), out)
        return out


def raw_view(weight: Tensor, bias: Tensor | None) -> MatrixView:
    """weight: [rows, cols] bf16 or float32. bias: [rows] float32. Both contiguous, in ordinary memory; else ValueError.

    The view holds addresses, not the tensors.
    """
    rows, cols = weight.shape
    if weight.dtype not in RAW or not _plain(weight):
        raise ValueError("weights must be contiguous bf16 or float32 in ordinary memory")
    view = MatrixView(unit=1.0, rows=rows, cols=cols, kind=RAW[weight.dtype])
    view.codes[0] = weight.data_ptr()
    set_bias(view, bias)
    return view


def set_bias(view: MatrixView, bias: Tensor | None) -> None:
    """Add a bias [rows], float32, contiguous, in ordinary memory; else ValueError. The view holds its address alone."""
    if bias is None:
        return
    if bias.dtype != torch.float32 or bias.shape != (view.rows,) or not _plain(bias):
        raise ValueError("a bias must be contiguous float32 of one value per row, in ordinary memory")
    view.bias = bias.data_ptr()


def _plain(tensor: Tensor) -> bool:
    return tensor.is_contiguous() and tensor.device.type == "cpu"


def _blocks(weights: Sequence[Tensor]) -> Iterator[Tensor]:
    """The same rows as contiguous bf16 or float32; what must be converted, piece by piece."""
    for part in weights:
        if part.dtype in RAW and _plain(part):
            yield part
        else:
            for block in part.split(max(1, BLOCK // part.shape[1])):
                yield block.to("cpu", torch.float32).contiguous()


def _unit(weights: Sequence[Tensor], kernel: NativeKernel) -> float:
    """A power of two that keeps float16 parameters out of the subnormal range."""
    peaks = [kernel.peak(block) for block in _blocks(weights)]
    if any(math.isnan(peak) for peak in peaks):
        raise damaged_checkpoint(msg("The model holds weights that are not finite numbers."))
    peak = max(peaks)
    return 2.0 ** max(math.ceil(math.log2(peak)) - LARGEST, -126) if peak > 0 else 1.0
