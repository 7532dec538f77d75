"""Quantized rows of a GGUF file as the codes that they are: ggml's blocks taken apart, none of them decoded.

The blocks are those of ggml-common.h (https://github.com/ggml-org/ggml). What a record makes of them is exact but for
IQ4_XS and Q6_K, whose products of two scales it rounds to float16.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.formats.gguf_rows import StoredRows
from engine.formats.packed_floats import MXFP4_BIAS
from engine.quantization.grouped import E2M1_TIMES, Fine, GroupedCodes, ordered_e2m1
from engine.store.coding import Coding

Blocks = NDArray[Any]  # [rows, blocks, bytes of a block]


@dataclass(frozen=True, eq=False)
class GgufCodes:
    """See CodedRows."""

    rows: StoredRows
    coding: Coding

    def grouped(self, start: int, stop: int) -> GroupedCodes:
        """See CodedRows."""
        size, take = _TYPES[self.rows.tensor.type][1:]
        data = self.rows.bytes(start, stop)
        return take(data.reshape(len(data), -1, size), self.coding)


def coded(rows: StoredRows) -> GgufCodes | None:
    """None for types that have no codes of 4, 5 or 6 bits."""
    known = _TYPES.get(rows.tensor.type)
    return None if known is None else GgufCodes(rows, known[0])


def _half(data: Blocks, at: int) -> Tensor:
    """The float16 at byte `at` of every block, [rows, blocks] float32."""
    return torch.from_numpy(np.ascontiguousarray(data[..., at : at + 2]).view("<f2")[..., 0].astype(np.float32))


def _codes(codes: Blocks) -> Tensor:
    """[rows, blocks, weights of a block] -> [rows, columns]"""
    return torch.from_numpy(np.ascontiguousarray(codes).reshape(len(codes), -1))


def _nibbles(packed: Blocks) -> Blocks:
    """Of each run of bytes along the last dimension: all lower halves, then all upper ones."""
    return np.concatenate((packed & 15, packed >> 4), axis=-1)


def _fifth(data: Blocks, at: int) -> Blocks:
    """The fifth bits of a block of 32, four bytes from `at` on: each 0 or 16."""
    bits = np.unpackbits(data[..., at : at + 4], axis=-1, bitorder="little")
    return bits << 4


def _q4_0(data: Blocks, coding: Coding) -> GroupedCodes:
    return GroupedCodes(coding, _codes(_nibbles(data[..., 2:])), _half(data, 0))


def _q4_1(data: Blocks, coding: Coding) -> GroupedCodes:
    return GroupedCodes(coding, _codes(_nibbles(data[..., 4:])), _half(data, 0), _half(data, 2))


def _q5_0(data: Blocks, coding: Coding) -> GroupedCodes:
    codes = (_nibbles(data[..., 6:]) | _fifth(data, 2)) + 16  # around 32 instead of 16
    return GroupedCodes(coding, _codes(codes), _half(data, 0))


def _q5_1(data: Blocks, coding: Coding) -> GroupedCodes:
    codes = _nibbles(data[..., 8:]) | _fifth(data, 4)
    return GroupedCodes(coding, _codes(codes), _half(data, 0), _half(data, 2))


def _mxfp4(data: Blocks, coding: Coding) -> GroupedCodes:
    powers = torch.from_numpy(data[..., 0].astype(np.int32)) - MXFP4_BIAS
    scale = torch.ldexp(torch.ones(powers.shape), powers) / E2M1_TIMES
    return GroupedCodes(coding, ordered_e2m1(_codes(_nibbles(data[..., 1:]))), scale)


def _k_scales(data: Blocks) -> tuple[Tensor, Tensor]:
    """Scales and minima of 6 bits, [rows, groups] each, packed in the 12 bytes from 4 on (ggml's get_scale_min_k4)."""
    low, middle, high = data[..., 4:8], data[..., 8:12], data[..., 12:16]
    scales = np.concatenate((low & 63, (high & 15) | (low >> 6 << 4)), axis=-1)
    minima = np.concatenate((middle & 63, (high >> 4) | (middle >> 6 << 4)), axis=-1)
    return _codes(scales), _codes(minima)


def _fine(data: Blocks) -> Fine:
    scales, minima = _k_scales(data)
    return Fine(scales, minima, _half(data, 0), _half(data, 2))


def _q4_k(data: Blocks, coding: Coding) -> GroupedCodes:
    packed = data[..., 16:].reshape(*data.shape[:2], 4, 32)
    return GroupedCodes.of_super(coding, _codes(_nibbles(packed)), _fine(data))


def _q5_k(data: Blocks, coding: Coding) -> GroupedCodes:
    packed = data[..., 48:].reshape(*data.shape[:2], 4, 32)
    fifth = (data[..., 16:48][..., None, :] >> np.arange(8, dtype=np.uint8)[:, None] & 1) << 4  # [.., 8 groups, 32]
    codes = _nibbles(packed).reshape(*data.shape[:2], 8, 32) | fifth
    return GroupedCodes.of_super(coding, _codes(codes), _fine(data))


def _q6_k(data: Blocks, coding: Coding) -> GroupedCodes:
    low = data[..., :128].reshape(*data.shape[:2], 2, 64)
    high = data[..., 128:192].reshape(*data.shape[:2], 2, 1, 32)
    upper = (high >> np.arange(0, 8, 2, dtype=np.uint8)[:, None] & 3) << 4  # [.., 2, 4, 32]
    codes = _nibbles(low).reshape(*data.shape[:2], 2, 4, 32) | upper
    small = torch.from_numpy(np.ascontiguousarray(data[..., 192:208]).view(np.int8).astype(np.float32))
    scale = (small * _half(data, 208).unsqueeze(2)).flatten(1)
    return GroupedCodes(coding, _codes(codes), scale)


def _iq4_nl(data: Blocks, coding: Coding) -> GroupedCodes:
    return GroupedCodes(coding, _codes(_nibbles(data[..., 2:])), _half(data, 0))


def _iq4_xs(data: Blocks, coding: Coding) -> GroupedCodes:
    low = data[..., 4:8, None] >> np.array([0, 4], np.uint8) & 15  # [.., 4, 2]
    both = data[..., 2].astype(np.uint16) | data[..., 3].astype(np.uint16) << 8
    high = both[..., None] >> np.arange(0, 16, 2, dtype=np.uint16) & 3
    small = (low.reshape(*data.shape[:2], 8) | high << 4).astype(np.float32) - 32
    scale = (torch.from_numpy(small) * _half(data, 0).unsqueeze(2)).flatten(1)
    packed = data[..., 8:].reshape(*data.shape[:2], 8, 16)
    return GroupedCodes(coding, _codes(_nibbles(packed)), scale)


# By ggml's number of a type: coding, bytes of a block, and what takes blocks apart.
_TYPES: dict[int, tuple[Coding, int, Callable[[Blocks, Coding], GroupedCodes]]] = {
    2: (Coding(4, 32, "half", "middle8"), 18, _q4_0),
    3: (Coding(4, 32, "pair", "plain"), 20, _q4_1),
    6: (Coding(6, 32, "half", "middle32"), 22, _q5_0),
    7: (Coding(6, 32, "pair", "plain"), 24, _q5_1),
    12: (Coding(4, 32, "super", "plain"), 144, _q4_k),
    13: (Coding(6, 32, "super", "plain"), 176, _q5_k),
    14: (Coding(6, 16, "half", "middle32"), 210, _q6_k),
    20: (Coding(4, 32, "half", "iq4_nl"), 18, _iq4_nl),
    23: (Coding(4, 32, "half", "iq4_nl"), 136, _iq4_xs),
    39: (Coding(4, 32, "byte", "e2m1"), 17, _mxfp4),
}
