"""A matrix outside the expert records, as the native kernels see it."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

RAW_KINDS = {torch.bfloat16: 16, torch.float32: 32}


class View(ctypes.Structure):
    """uh_view of native/rows.h: y [rows] = W [rows, cols] x + bias. Whoever made it keeps what it points to alive."""

    _fields_ = (
        ("codes", ctypes.c_void_p * 3),
        ("params", ctypes.c_void_p),
        ("bias", ctypes.c_void_p),
        ("unit", ctypes.c_float),
        ("rows", ctypes.c_int32),
        ("cols", ctypes.c_int32),
        ("groups", ctypes.c_int32),
        ("group", ctypes.c_int32),
        ("kind", ctypes.c_int32),
    )


def raw_view(weight: Tensor, bias: Tensor | None) -> View:
    """weight: [rows, cols] bf16 or float32. bias: [rows] float32. Both contiguous, in ordinary memory; else ValueError.

    The view holds addresses, not the tensors.
    """
    rows, cols = weight.shape
    if weight.dtype not in RAW_KINDS or not _plain(weight):
        raise ValueError("weights must be contiguous bf16 or float32 in ordinary memory")
    if bias is not None and (bias.dtype != torch.float32 or bias.shape != (rows,) or not _plain(bias)):
        raise ValueError("a bias must be contiguous float32 of one value per row, in ordinary memory")
    view = View(unit=1.0, rows=rows, cols=cols, kind=RAW_KINDS[weight.dtype])
    view.codes[0] = weight.data_ptr()
    view.bias = None if bias is None else bias.data_ptr()
    return view


def _plain(tensor: Tensor) -> bool:
    return tensor.is_contiguous() and tensor.device.type == "cpu"
