"""A matrix beside the experts that keeps the codes of its source: what the store reads and the kernels multiply."""

from __future__ import annotations

import ctypes
from functools import cached_property

import torch
from torch import Tensor

from engine.kernels.native import SIX, kind_of
from engine.native.library import MatrixView
from engine.quantization.tiles import levels_of, unpack_codes, unpack_scales
from engine.record.coding import FORMS, ROWS, SUPER, Coding, dense_sections


class Coded:
    """W [rows, cols] in the tiles of engine/record/layout.py, all bits of its codes and their scales.

    data: uint8, the sections that engine/record/coding.py lists, contiguous, in ordinary memory.
    """

    def __init__(self, data: Tensor, coding: Coding, rows: int, cols: int) -> None:
        """Raises ValueError for data of another length."""
        if data.numel() != sum(dense_sections(coding, rows, cols)):
            raise ValueError(f"{data.numel()} bytes are not those of {rows} by {cols} codes")
        self.data, self.coding, self.shape = data, coding, (rows, cols)
        self._table = (ctypes.c_uint8 * 16)(*coding.table_of(coding.bits))

    @cached_property
    def view(self) -> MatrixView:
        """The matrix for native calls, valid as long as this object lives."""
        (rows, cols), coding = self.shape, self.coding
        kind, (line, upper, lower, _) = kind_of(coding), dense_sections(coding, rows, cols)
        view = MatrixView(
            unit=float(self.data[:4].view(torch.float32)), rows=rows, cols=cols, groups=cols // coding.group,
            group=coding.group, kind=kind, form=FORMS.index(coding.form), zero=coding.zero_of(coding.bits),
            # Table and data belong to this object, and the view is cached in it: neither outlives the other.
            table=ctypes.addressof(self._table),
        )  # fmt: skip
        at = self.data.data_ptr() + line
        view.codes[0], view.codes[2 if kind == SIX else 1] = at, at + upper
        view.params = at + upper + lower
        return view

    def taken(self, order: Tensor) -> Coded:
        """Some of its rows, or all in another order. order: int64 [N]."""
        (rows, cols), coding = self.shape, self.coding
        line, upper, lower, params = self.data.split(dense_sections(coding, rows, cols))
        groups, count = cols // coding.group, len(order)
        blocks, padded = -(-rows // ROWS), -(-count // ROWS)

        def moved(section: Tensor, lines: int) -> Tensor:
            """section: of every row block `lines` runs, of equal bytes for each row. [blocks of the result, n]"""
            each = section.reshape(blocks, lines, ROWS, -1).transpose(1, 2).flatten(0, 1)
            found = each.new_zeros(padded * ROWS, *each.shape[1:])
            found[:count] = each[order]
            return found.unflatten(0, (padded, ROWS)).transpose(1, 2).flatten(1)

        planes = [moved(plane, cols * bits // 32) for plane, bits in ((upper, 2), (lower, coding.bits - 2))]
        if coding.form == "super":
            wide = -(-cols // SUPER)
            both = params.view(blocks, -1).split((wide * 64, groups * 32), dim=1)
            scales = torch.cat([moved(part, 2 * n) for part, n in zip(both, (wide, groups), strict=True)], dim=1)
        else:
            scales = moved(params, 2 * groups if coding.form == "pair" else groups)
        return Coded(torch.cat([t.reshape(-1) for t in (line, *planes, scales)]), coding, count, cols)

    def values(self) -> Tensor:
        """Its weights, float32 [rows, cols]."""
        (rows, cols), coding = self.shape, self.coding
        line, upper, lower, params = self.data.split(dense_sections(coding, rows, cols))
        stored, group = -(-rows // ROWS) * ROWS, coding.group
        codes = unpack_codes(upper, stored, cols, 2) << (coding.bits - 2)
        codes |= unpack_codes(lower, stored, cols, coding.bits - 2)
        scale, offset = unpack_scales(params, coding.form, stored, cols, group)
        weights = levels_of(codes, coding, coding.bits).view(stored, -1, group).mul_(scale.unsqueeze(2))
        if offset is not None:
            weights += offset.unsqueeze(2)
        return weights.mul_(line[:4].view(torch.float32)).view(stored, cols)[:rows]
