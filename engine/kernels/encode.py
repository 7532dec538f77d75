"""Quantizes matrices into the tiles of expert records, by native code with Python's lock free."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.native.library import ISAS, isas, load_library
from engine.record.layout import LINE, PLANE_BITS, ROWS_PER_TILE, aligned
from engine.translatable import msg

KINDS = {torch.float16: 11, torch.bfloat16: 16, torch.float32: 32}  # as in encode.h
MOST_GROUP = 256  # columns: UH_MOST_ENCODED_GROUP, the length of arrays in encode_tile.h
_NO_MEMORY, _NOT_FINITE = -1, -2  # what uh_encode returns


class NotFinite(ValueError):
    """A weight is NaN or infinite."""


class Rule(ctypes.Structure):
    """uh_rule: the numbers of half-quadratic quantization."""

    _fields_ = (
        *((name, ctypes.c_double) for name in ("lp_norm", "beta", "kappa")),
        ("iterations", ctypes.c_int32),
        ("patience", ctypes.c_int32),
        ("flat", ctypes.c_float),
        ("largest", ctypes.c_int32),
    )


# HQQ's own constants (Badri and Shaji, 2023): p of the norm, the first beta of the proximal step and its growth, and
# steps; of ours, a group leaves after so many that did not help it, one that spans less than `flat` is constant, and
# weights are scaled to at most 2 ** largest, so that float16 holds steps a millionth of the largest offset. Any other
# number gives other records.
RULE = Rule(lp_norm=0.7, beta=10.0, kappa=1.01, iterations=20, patience=5, flat=1e-30, largest=12)


# uh_encoding, field by field as in encode.h; C writes unit, norm and errors.
class _Encoding(ctypes.Structure):
    _fields_ = (
        ("weights", ctypes.c_void_p),
        ("codes", ctypes.c_void_p * 3),
        ("params", ctypes.c_void_p * 3),
        *((name, ctypes.c_int32) for name in ("kind", "rows", "cols", "group", "tiers")),
        ("unit", ctypes.c_float),
        ("norm", ctypes.c_double),
        ("errors", ctypes.c_double * 3),
    )


@dataclass(frozen=True)
class Encoded:
    """What a matrix became: its unit, sum of w ** 2, and sum of (w - decoded) ** 2 by tier, coarse first."""

    unit: float
    squared_norm: float
    squared_errors: tuple[float, ...]


class NativeEncoder:
    """uh_encode on the best instruction set, or on `isa`. Any number of threads may call it."""

    def __init__(self, isa: str | None = None, path: Path | None = None) -> None:
        self._encode = load_library(path).uh_encode
        # CDLL: no interpreter's lock meanwhile, so that an import quantizes on several threads. All scratch is the
        # call's own.
        self._encode.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        self._isa = ISAS.index(isas(path)[-1] if isa is None else isa)
        if ISAS[self._isa] not in isas(path):
            raise ValueError(f"this processor has no {isa} instructions")

    def encode(self, w: Tensor, group: int, codes: Sequence[Tensor], params: Sequence[Tensor]) -> Encoded:
        """Quantize w [rows, cols] into tiles: codes and params are the sections of each tier, coarse first.

        w: float16, bf16 or float32, any strides (what is not contiguous is copied). Sections: uint8, contiguous, of
        exactly the length that engine/record/layout.py gives them. Raises NotFinite (then nothing was
        written), ValueError when something has another shape, UnderhillError(OUT_OF_MEMORY).
        """
        rows, cols = w.shape
        if w.dtype not in KINDS or w.device.type != "cpu" or not w.numel():
            raise ValueError(f"{w.dtype} {tuple(w.shape)} on {w.device} cannot be encoded")
        if not 0 < group <= MOST_GROUP or group % 16:
            raise ValueError(f"groups of {group} columns cannot be encoded")
        if len(codes) != len(params) or not 1 <= len(codes) <= len(PLANE_BITS):
            raise ValueError(f"{len(codes)} parts of codes and {len(params)} of parameters")
        stored_rows, stored_cols = aligned(rows, ROWS_PER_TILE), aligned(cols, group)
        for bits, plane, lines in zip(PLANE_BITS, codes, params):
            _check(plane, stored_rows * stored_cols * bits // 8)
            _check(lines, stored_rows // ROWS_PER_TILE * (stored_cols // group) * LINE)
        w = w.contiguous()
        # Addresses alone: w, codes and params are this frame's until the call has returned.
        e = _Encoding(w.data_ptr(), kind=KINDS[w.dtype], rows=rows, cols=cols, group=group, tiers=len(codes))
        e.codes[: len(codes)] = [t.data_ptr() for t in codes]
        e.params[: len(params)] = [t.data_ptr() for t in params]
        failed = self._encode(self._isa, ctypes.byref(RULE), ctypes.byref(e))
        if failed == _NOT_FINITE:
            raise NotFinite("not finite")
        if failed == _NO_MEMORY:
            raise UnderhillError(Kind.OUT_OF_MEMORY, msg("Not enough memory to quantize."), msg("Close other apps."))
        return Encoded(e.unit, e.norm, tuple(e.errors[: len(codes)]))


def _check(section: Tensor, nbytes: int) -> None:
    if section.dtype != torch.uint8 or not section.is_contiguous() or section.device.type != "cpu":
        raise ValueError("a section is contiguous bytes in ordinary memory")
    if section.numel() != nbytes:
        raise ValueError(f"a section of {section.numel()} bytes, expected {nbytes}")
