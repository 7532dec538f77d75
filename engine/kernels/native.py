"""The native kernels: a plain C library, loaded with ctypes, which releases Python's lock during every call."""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from array import array
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import psutil
import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.kernels.activation import KINDS, Activation
from engine.kernels.build import SOURCES, library_name
from engine.kernels.call import Work, check_call
from engine.kernels.reference import UNITS_AT
from engine.store.layout import ExpertSpec

ABI = 2  # UH_ABI in underhill_kernels.h
ISAS = ("portable", "avx2", "avx512")  # as in the C enum
_MATRICES = ("gate", "up", "down")
_EXPERT = struct.Struct("=QQQiiii")  # uh_expert


class _Matrix(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_int32 * 4),
        ("codes", ctypes.c_int64 * 3),
        ("params", ctypes.c_int64 * 3),
        ("bias", ctypes.c_int64),
        ("unit", ctypes.c_int64),
    )


class _Layout(ctypes.Structure):
    _fields_ = (
        ("hidden", ctypes.c_int32),
        ("intermediate", ctypes.c_int32),
        ("group", ctypes.c_int32),
        ("top", ctypes.c_int32),
        ("has_gate", ctypes.c_int32),
        ("activation", ctypes.c_int32),
        ("alpha", ctypes.c_float),
        ("limit", ctypes.c_float),
        ("up_limit", ctypes.c_float),
        ("matrix", _Matrix * 3),
    )


@lru_cache(maxsize=64)
def _layout(spec: ExpertSpec, activation: Activation) -> _Layout:
    layout = _Layout(
        spec.hidden, spec.intermediate, spec.group, spec.top, spec.has_gate, KINDS.index(activation.kind),
        activation.alpha, activation.limit, activation.up_limit,
    )  # fmt: skip
    for index, m in enumerate(spec.matrices):
        at = layout.matrix[_MATRICES.index(m.name)]
        at.size[:] = (m.rows, m.cols, *spec.padded(m))
        for plane in spec.layout.planes:
            at.codes[plane.index] = plane.codes[m.name].offset
            if not spec.raw:
                at.params[plane.index] = plane.params[m.name].offset
        bias = spec.layout.planes[0].biases.get(m.name)
        at.bias = -1 if bias is None else bias.offset
        at.unit = UNITS_AT + 4 * index
    return layout


class NativeMissing(RuntimeError):
    """The library is not there, or cannot be used here; the message says why."""


@lru_cache(maxsize=4)
def load_library(path: Path | None = None) -> ctypes.CDLL:
    """The library with its signatures set. Raises NativeMissing. path: default, where the build puts it."""
    path = path or SOURCES / library_name(os.name == "nt")
    if not path.exists():
        raise NativeMissing(f"the native library was not built ({path.name} is missing)")
    try:
        library = ctypes.CDLL(str(path))
        found = library.uh_abi()
    except (OSError, AttributeError) as error:
        raise NativeMissing(f"the native library cannot be loaded ({error})") from error
    if found != ABI:
        raise NativeMissing(f"the native library is of another version ({found}, not {ABI}): build it again")
    pointer, i32 = ctypes.c_void_p, ctypes.c_int32
    library.uh_open.argtypes, library.uh_open.restype = (ctypes.c_int, ctypes.c_int), pointer
    library.uh_close.argtypes, library.uh_close.restype = (pointer,), None
    library.uh_run.argtypes = (
        pointer, ctypes.POINTER(_Layout), ctypes.c_char_p, i32, pointer, i32, i32, pointer, i32, pointer,
    )  # fmt: skip
    library.uh_combine.argtypes, library.uh_combine.restype = (pointer, *[pointer] * 3, i32, i32, i32), None
    library.uh_read.argtypes, library.uh_read.restype = (pointer, pointer, ctypes.c_int64), ctypes.c_uint64
    return library


def default_threads() -> int:
    """Physical cores, as far as this process may use them: a second thread on a core only gets in the way."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(psutil.cpu_count(logical=False) or allowed, allowed))


class NativeKernel:
    """The Kernel of the C library, with its own threads. Calls from several Python threads take turns.

    It serves one token and many alike. With AVX-512 it was faster up to 256 tokens per expert than torch's float32
    product on weights decoded beforehand; with AVX2 the two are near each other only before that decoding is counted
    (tests/benchmarks/kernel.py). So there is no second way for long prompts.

    threads: None takes the physical cores. isa: None takes the best that the processor has. Raises NativeMissing, or
    UnderhillError(OUT_OF_MEMORY) when the threads cannot be had.
    """

    def __init__(self, threads: int | None = None, isa: str | None = None, path: Path | None = None) -> None:
        self._library = load_library(path)
        best = self._library.uh_best_isa()
        level = best if isa is None else ISAS.index(isa)
        if level > best:
            raise NativeMissing(f"this processor has no {ISAS[level]} instructions")
        self.isa = ISAS[level]
        self.name = f"native ({self.isa})"
        self.threads = default_threads() if threads is None else threads
        self._context: int | None = self._library.uh_open(self.threads, level)
        if self._context is None:
            raise UnderhillError(Kind.OUT_OF_MEMORY, "The compute threads could not be started.", "Use fewer threads.")
        self._lock = threading.Lock()

    def run(
        self, spec: ExpertSpec, activation: Activation, work: Sequence[Work], x: Tensor, k: int, out: Tensor
    ) -> None:
        """See Kernel.run. Raises UnderhillError(OUT_OF_MEMORY) when there is no room for scratch."""
        check_call(spec, activation, work, x, k, out)
        if x.dtype != torch.float32:
            raise ValueError(f"x is {x.dtype}; the native kernels take float32")
        slots = array("i")
        experts = bytearray()
        for item in work:
            addresses = item.expert.addresses
            if not addresses:
                raise ValueError("the native kernels need experts in ordinary memory")
            count = len(item.slots)
            a, b, c = (*addresses, 0, 0)[:3]
            experts += _EXPERT.pack(a, b, c, len(addresses), len(slots), count, 0)
            slots.extend(item.slots)
        if not work:
            return
        with self._lock:
            failed = self._library.uh_run(
                self._context, _layout(spec, activation), bytes(experts), len(work), slots.buffer_info()[0], len(slots),
                k, x.data_ptr(), x.shape[0], out.data_ptr(),
            )  # fmt: skip
        if failed:
            raise UnderhillError(Kind.OUT_OF_MEMORY, "No memory is left to compute in.", "Lower the memory ceiling.")

    def combine(self, out: Tensor, weights: Tensor) -> Tensor:
        """See Kernel.combine."""
        tokens, k = weights.shape
        weights = weights.to(torch.float32).contiguous()
        if out.dtype != torch.float32 or not out.is_contiguous() or out.dim() != 2 or out.shape[0] != tokens * k:
            raise ValueError(f"out is {out.dtype} {tuple(out.shape)}; expected float32 with {tokens * k} rows")
        y = torch.empty((tokens, out.shape[1]), dtype=torch.float32)
        with self._lock:
            self._library.uh_combine(
                self._context, weights.data_ptr(), out.data_ptr(), y.data_ptr(), tokens, k, out.shape[1]
            )
        return y

    def read(self, data: Tensor) -> int:
        """Read every byte of a contiguous uint8 tensor once with all threads; a checksum. For measuring the roof."""
        if data.dtype != torch.uint8 or not data.is_contiguous() or data.device.type != "cpu":
            raise ValueError("only contiguous bytes in ordinary memory can be read")
        with self._lock:
            return self._library.uh_read(self._context, data.data_ptr(), data.numel())

    def close(self) -> None:
        """See Kernel.close. Safe to call twice."""
        with self._lock:
            context, self._context = self._context, None
        if context is not None:
            self._library.uh_close(context)
