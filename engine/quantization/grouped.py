"""A matrix that came quantized, as it came: codes in groups that share a scale. What readers of packed sources return.

The seam between the readers of engine/formats and the record of an expert: a reader that can say what a source
holds in the terms of engine/record/coding.py returns GroupedCodes, and the store keeps just these: no weight is
quantized a second time.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.quantization.tiles import levels_of
from engine.record.coding import LEVELS, NF4_TIMES, SUPER, Coding


@dataclass(frozen=True, eq=False)
class Fine:
    """The scales of the form 'super': scale = wide * small, offset = -wide_offset * small_offset.

    small, small_offset: uint8 [rows, groups]; wide, wide_offset: [rows, ceil(cols / 256)], exact in float16.
    """

    small: Tensor
    small_offset: Tensor
    wide: Tensor
    wide_offset: Tensor

    def multiplied(self, group: int) -> tuple[Tensor, Tensor]:
        """Scale and offset [rows, groups] float32."""
        each, groups = SUPER // group, self.small.shape[1]
        wide, wide_offset = (t.float().repeat_interleave(each, 1)[:, :groups] for t in (self.wide, self.wide_offset))
        return wide * self.small, -(wide_offset * self.small_offset)


@dataclass(frozen=True, eq=False)
class GroupedCodes:
    """W [rows, cols] = scale * (level[code] - zero) + offset, group by group.

    codes: uint8 [rows, cols], in the order of what they stand for. scale: float32 [rows, cols / coding.group]; so is
    offset, of the form 'pair' alone. unit: what all scales of the form 'byte' are E4M3 multiples of, or powers of two.
    fine: of the form 'super', which has no `scale` and `offset` of its own (they are made here).
    """

    coding: Coding
    codes: Tensor
    scale: Tensor
    offset: Tensor | None = None
    unit: float = 1.0
    fine: Fine | None = None

    @classmethod
    def of_super(cls, coding: Coding, codes: Tensor, fine: Fine) -> GroupedCodes:
        """Codes whose scales are themselves quantized."""
        scale, offset = fine.multiplied(coding.group)
        return cls(coding, codes, scale, offset, 1.0, fine)

    @property
    def shape(self) -> tuple[int, int]:
        """[rows, cols]."""
        return self.codes.shape[0], self.codes.shape[1]

    def values(self) -> Tensor:
        """The weights as the source means them, float32 [rows, cols]."""
        rows, cols = self.shape
        tier = self.coding.bits
        meant = LEVELS[self.coding.levels].meant
        levels = torch.tensor(meant)[self.codes.int()] if meant else levels_of(self.codes, self.coding, tier)
        weights = levels.view(rows, -1, self.coding.group) * self.scale.unsqueeze(2)
        if self.offset is not None:
            weights = weights.add_(self.offset.unsqueeze(2))
        return weights.reshape(rows, cols)

    def rows(self, start: int, stop: int | None, step: int = 1) -> GroupedCodes:
        """Some of the rows."""
        own = slice(start, stop, step)
        fine = self.fine
        if fine is not None:
            fine = Fine(fine.small[own], fine.small_offset[own], fine.wide[own], fine.wide_offset[own])
        offset = None if self.offset is None else self.offset[own]
        return GroupedCodes(self.coding, self.codes[own], self.scale[own], offset, self.unit, fine)


def ordered_e2m1(nibbles: Tensor) -> Tensor:
    """Codes of the levels 'e2m1' for nibbles of E2M1 (sign in the highest bit): -6 is 0, -0 is 7, 0 is 8, 6 is 15."""
    return torch.where(nibbles < 8, nibbles + 8, 15 - nibbles).to(torch.uint8)


E2M1_TIMES = 2.0  # levels of 'e2m1' are doubled: a scale for E2M1 values is to be halved
NF4_SCALE = 1.0 / NF4_TIMES  # the same for NF4
