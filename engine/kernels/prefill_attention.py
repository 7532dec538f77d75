"""Attention of many tokens at once by the native kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch
from torch import Tensor

from engine.kernels.native import NativeKernel
from engine.kernels.scratch_pool import SCRATCH

BITS = {torch.float32: 32, torch.bfloat16: 16}  # as C calls its types of rows


# uh_kv_piece and uh_prefill of underhill_kernels.h, field by field.
class _Piece(ctypes.Structure):
    _fields_ = (
        ("keys", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
        ("stride", ctypes.c_int64),
        ("rows", ctypes.c_int64),
    )


class _Span(ctypes.Structure):
    _fields_ = (
        ("q", ctypes.c_void_p),
        ("sinks", ctypes.c_void_p),
        ("out", ctypes.c_void_p),
        ("piece", ctypes.POINTER(_Piece)),
        ("q_stride", ctypes.c_int64),
        ("start", ctypes.c_int64),
        ("window", ctypes.c_int64),
        ("pieces", ctypes.c_int32),
        ("bits", ctypes.c_int32),
        ("tokens", ctypes.c_int32),
        ("heads", ctypes.c_int32),
        ("kv_heads", ctypes.c_int32),
        ("dim", ctypes.c_int32),
        ("scale", ctypes.c_float),
    )


def prefill_attention(
    kernel: NativeKernel,
    q: Tensor,
    pieces: Sequence[tuple[Tensor, ...]],
    scale: float,
    window: int | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """Each of the last T tokens over all up to itself, or the last `window` of those. Returns [T, heads * dim] float32.

    q: [T, heads, dim] float32, its heads lying together. pieces: keys and values [kv_heads, n, dim] each, float32 or
    bf16, the rows of a head lying together; their last T rows are those of the tokens. sinks: [heads] float32. Within
    1e-5 of float64 on what the keys and values hold. Raises ValueError, UnderhillError(OUT_OF_MEMORY).
    """
    tokens, heads, dim = q.shape
    kv_heads, dtype = pieces[0][0].shape[0], pieces[0][0].dtype
    rows = sum(keys.shape[1] for keys, _ in pieces)
    if q.dtype != torch.float32 or q.stride()[1:] != (dim, 1) or dtype not in BITS or heads % kv_heads or rows < tokens:
        raise ValueError(
            f"q {q.dtype} {tuple(q.shape)} cannot be attended to {rows} rows of {kv_heads} heads in {dtype}"
        )
    if sinks is not None and (sinks.dtype != torch.float32 or sinks.shape != (heads,) or not sinks.is_contiguous()):
        raise ValueError(f"sinks are {sinks.dtype} {tuple(sinks.shape)}; expected float32 {(heads,)}")
    made = (_Piece * len(pieces))()
    for piece, (keys, values) in zip(made, pieces):
        for tensor in (keys, values):
            if tensor.dtype != dtype or tensor.shape != (kv_heads, keys.shape[1], dim) or tensor.device.type != "cpu":
                raise ValueError(f"keys and values are not alike: {tensor.dtype} {tuple(tensor.shape)}")
            if tensor.stride()[1:] != (dim, 1) or tensor.stride(0) != keys.stride(0):
                raise ValueError("the rows of one head must lie together, in keys as in values")
        piece.keys, piece.values, piece.stride, piece.rows = (
            keys.data_ptr(), values.data_ptr(), keys.stride(0), keys.shape[1],
        )  # fmt: skip
    out = SCRATCH.floats(tokens, heads * dim)
    kernel.prefill_attention(
        _Span(
            # `made` is kept by the structure (a ctypes pointer), q, keys, values and sinks by the caller, until the
            # call returns.
            q.data_ptr(), None if sinks is None else sinks.data_ptr(), out.data_ptr(), made, q.stride(0), rows - tokens,
            window or 0, len(pieces), BITS[dtype], tokens, heads, kv_heads, dim, scale,
        )
    )  # fmt: skip
    return out
