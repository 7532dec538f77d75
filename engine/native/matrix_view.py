"""One matrix as the native kernels see it."""

from __future__ import annotations

import ctypes


class MatrixView(ctypes.Structure):
    """One matrix, as uh_matrix_view in underhill_kernels.h says; whoever makes one keeps alive what it points to.

    kind: 1, 2, 3 are 2, 4, 8 bits in tiles; 16, 32 are rows of bf16 or float32. form, zero, table: of experts that keep
    codes of their own; else 0 and nothing.
    """

    # The order and types of uh_matrix_view: one that differs makes kernels read weights at a wrong address.
    _fields_ = (
        ("codes", ctypes.c_void_p * 3),
        ("params", ctypes.c_void_p),
        ("bias", ctypes.c_void_p),
        ("unit", ctypes.c_float),
        *((name, ctypes.c_int32) for name in ("rows", "cols", "groups", "group", "kind", "form")),
        ("zero", ctypes.c_float),
        ("table", ctypes.c_void_p),
    )
