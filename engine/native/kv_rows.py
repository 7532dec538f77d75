"""Rows of keys and values in 8 bits: native/src/kv_rows.h has their format."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from engine.native.library import load_library

GROUP = 32  # numbers to a scale: UH_KV_GROUP
BITS = {torch.float32: 32, torch.bfloat16: 16, torch.int8: 8}  # as C calls its types of rows


def row_width(dim: int, dtype: torch.dtype) -> int:
    """Elements of that dtype that a row of `dim` numbers takes."""
    return dim + 2 * -(-dim // GROUP) if dtype == torch.int8 else dim


@lru_cache(maxsize=1)
def _packer() -> Any:
    pack = load_library().uh_pack_kv_rows
    pack.argtypes, pack.restype = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p), None
    return pack


def pack_rows(rows: Tensor) -> Tensor:
    """Rows [..., dim] as int8 [..., row_width]: each number within half of a 127th of the largest of its group, and a
    256th of that. A group that has an infinity or a NaN becomes NaN."""
    dim = rows.shape[-1]
    plain = rows.float().contiguous()
    packed = torch.empty(*rows.shape[:-1], row_width(dim, torch.int8), dtype=torch.int8)
    _packer()(plain.data_ptr(), plain.numel() // dim, dim, packed.data_ptr())
    return packed


def unpack_rows(packed: Tensor, dim: int) -> Tensor:
    """What rows [..., row_width] hold, float32 [..., dim]."""
    scales = packed[..., dim:].contiguous().view(torch.bfloat16).float()
    return packed[..., :dim].float() * scales.repeat_interleave(GROUP, -1)[..., :dim]
