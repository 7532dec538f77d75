"""Queries, keys and values, finished natively where they lie between their projection and the attention."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from engine.kernels.native import NativeKernel
from engine.native.op_graph import NORMS, Heads


# uh_heads of underhill_kernels.h, field by field. Its addresses are of tensors that the caller has for the call.
class _Heads(ctypes.Structure):
    _fields_ = (
        ("x", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
        ("q_scale", ctypes.c_void_p),
        ("k_scale", ctypes.c_void_p),
        ("cosines", ctypes.c_void_p),
        ("sines", ctypes.c_void_p),
        ("stride", ctypes.c_int64),
        ("value_stride", ctypes.c_int64),
        ("eps", ctypes.c_float),
        ("limit", ctypes.c_float),
        ("tokens", ctypes.c_int32),
        ("heads", ctypes.c_int32),
        ("kv_heads", ctypes.c_int32),
        ("dim", ctypes.c_int32),
        ("norm", ctypes.c_int32),
        ("norm_last", ctypes.c_int32),
        ("half", ctypes.c_int32),
        ("interleaved", ctypes.c_int32),
        ("norm_values", ctypes.c_int32),
        ("reuse_keys", ctypes.c_int32),
        ("clips", ctypes.c_int32),
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
