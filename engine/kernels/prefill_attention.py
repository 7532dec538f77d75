"""Attention of many tokens at once by the native kernels, and the finishing of its queries, keys and values."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch
from torch import Tensor

from engine.kernels.attending import Attending, KeptRows
from engine.kernels.native import NativeKernel
from engine.kernels.scratch_pool import SCRATCH
from engine.native.kv_rows import BITS, row_width
from engine.native.op_graph import NORMS, Heads


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
        *((name, ctypes.c_void_p) for name in ("q", "sinks", "out")),
        ("piece", ctypes.POINTER(_Piece)),
        *((name, ctypes.c_int64) for name in ("q_stride", "start", "window")),
        *((name, ctypes.c_int32) for name in ("pieces", "bits", "tokens", "heads", "kv_heads", "dim")),
        ("scale", ctypes.c_float),
    )


def prefill_attention(
    kernel: NativeKernel,
    q: Tensor,
    pieces: Sequence[tuple[Tensor, ...]],
    scale: float,
    window: int | None = None,
    sinks: Tensor | None = None,
    *,
    kept: KeptRows | None = None,
) -> Tensor:
    """Each of the last T tokens over all up to itself, or the last `window` of those. Returns [T, heads * dim] float32.

    q: [T, heads, dim] float32, its heads lying together. pieces: keys and values [kv_heads, n, dim] each, float32 or
    bf16, or rows of 8 bits (native/kv_rows.py), those of a head lying together; their last T are those of the tokens.
    sinks: [heads] float32. kept: whose last rows the pieces are, for a device that has them, too. Within 1e-5 of
    float64 on what the keys and values hold. Raises ValueError, UnderhillError(OUT_OF_MEMORY).
    """
    tokens, heads, dim = q.shape
    kv_heads, dtype = pieces[0][0].shape[0], pieces[0][0].dtype
    rows, width = sum(keys.shape[1] for keys, _ in pieces), row_width(dim, dtype)
    if q.dtype != torch.float32 or q.stride()[1:] != (dim, 1) or dtype not in BITS or heads % kv_heads or rows < tokens:
        raise ValueError(
            f"q {q.dtype} {tuple(q.shape)} cannot be attended to {rows} rows of {kv_heads} heads in {dtype}"
        )
    if sinks is not None and (sinks.dtype != torch.float32 or sinks.shape != (heads,) or not sinks.is_contiguous()):
        raise ValueError(f"sinks are {sinks.dtype} {tuple(sinks.shape)}; expected float32 {(heads,)}")
    made = (_Piece * len(pieces))()
    for piece, (keys, values) in zip(made, pieces):
        for tensor in (keys, values):
            if tensor.dtype != dtype or tensor.shape != (kv_heads, keys.shape[1], width) or tensor.device.type != "cpu":
                raise ValueError(f"keys and values are not alike: {tensor.dtype} {tuple(tensor.shape)}")
            # uh_kv_piece has one stride for both, and rows that follow one another.
            if tensor.stride()[1:] != (width, 1) or tensor.stride(0) != keys.stride(0):
                raise ValueError("the rows of one head must lie together, in keys as in values")
        piece.keys, piece.values, piece.stride, piece.rows = (
            keys.data_ptr(), values.data_ptr(), keys.stride(0) * keys.itemsize, keys.shape[1],
        )  # fmt: skip
    out = SCRATCH.floats(tokens, heads * dim)
    call = None if kept is None else Attending(q, kept, kept.length - rows, window or 0, sinks, scale, out)
    if call is not None and kernel.attends is not None and kernel.attends(call):
        return out
    kernel.prefill_attention(
        _Span(
            # `made` is kept by the structure (a ctypes pointer), q, keys, values and sinks by the caller, until the
            # call returns.
            q.data_ptr(), None if sinks is None else sinks.data_ptr(), out.data_ptr(), made, q.stride(0), rows - tokens,
            window or 0, len(pieces), BITS[dtype], tokens, heads, kv_heads, dim, scale,
        )
    )  # fmt: skip
    return out


# uh_heads of underhill_kernels.h, field by field. Its addresses are of tensors that the caller has for the call.
class _Heads(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("x", "values", "q_scale", "k_scale", "cosines", "sines")),
        ("stride", ctypes.c_int64),
        ("value_stride", ctypes.c_int64),
        ("eps", ctypes.c_float),
        ("limit", ctypes.c_float),
        *((name, ctypes.c_int32) for name in ("tokens", "heads", "kv_heads", "dim", "norm", "norm_last", "half")),
        *((name, ctypes.c_int32) for name in ("interleaved", "norm_values", "reuse_keys", "clips")),
    )


def finish_heads(kernel: NativeKernel, spec: Heads, x: Tensor, values: Tensor) -> None:
    """Those of T tokens. x: [T, >= (heads + kv_heads) * dim] float32, queries and then keys; values: float32
    [T, kv_heads * dim]. Both are written over. Within 1e-5 of float64. Raises ValueError.
    """
    heads, kv_heads, dim = spec.heads, spec.kv_heads, spec.dim
    tokens, wide = len(x), kv_heads * dim
    for name, tensor, least in (("x", x, (heads + kv_heads) * dim), ("values", values, wide)):
        rows = tensor.dim() == 2 and len(tensor) == tokens and tensor.shape[1] >= least and tensor.stride(1) == 1
        if not rows or tensor.dtype != torch.float32 or tensor.device.type != "cpu":
            raise ValueError(f"{name} is {tensor.dtype} {tuple(tensor.shape)}; expected float32 [{tokens}, >= {least}]")
    each = spec.norm == "head"
    _checked("q_scale", spec.q_scale, (dim if each else heads * dim,), spec.norm is not None)
    _checked("k_scale", spec.k_scale, (dim if each else wide,), spec.norm is not None)
    cosines, sines = spec.rope or (None, None)
    half = 0 if cosines is None else cosines.shape[-1]
    _checked("cosines", cosines, (tokens, half), spec.rope is not None)
    _checked("sines", sines, (tokens, half), spec.rope is not None)
    if 2 * half > dim:
        raise ValueError(f"a head of {dim} cannot be turned in {2 * half} dimensions")
    kernel.heads_many(
        _Heads(
            x.data_ptr(), values.data_ptr(), _address(spec.q_scale), _address(spec.k_scale), _address(cosines),
            _address(sines), x.stride(0), values.stride(0), spec.eps, spec.clip or 0.0, tokens, heads, kv_heads, dim,
            NORMS.index(spec.norm), spec.norm_last, half, spec.interleaved, spec.norm_values, spec.reuse_keys,
            spec.clip is not None,
        )
    )  # fmt: skip


def _checked(name: str, tensor: Tensor | None, shape: tuple[int, ...], needed: bool) -> None:
    if tensor is None:
        if needed:
            raise ValueError(f"{name} is missing")
    elif tensor.dtype != torch.float32 or tuple(tensor.shape) != shape or not tensor.is_contiguous():
        raise ValueError(f"{name} is {tensor.dtype} {tuple(tensor.shape)}; expected float32 {shape}")


def _address(tensor: Tensor | None) -> int | None:
    return None if tensor is None else tensor.data_ptr()
