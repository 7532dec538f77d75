"""Loads the C library. It is part of every installation; without it nothing of the engine works."""

from __future__ import annotations

import ctypes
import logging
import os
from functools import lru_cache
from pathlib import Path

import psutil

from engine.errors import Kind, UnderhillError
from engine.native.build import SOURCES, library_name
from engine.translatable import Translatable, msg

_log = logging.getLogger(__name__)
# Raised with every change of a structure or signature that both sides know; see the comment in load_library.
ABI = 30  # UH_ABI in underhill_kernels.h
ISAS = ("portable", "avx2", "avxvnni", "avx512", "avx512vnni", "neon")  # as in the C enum, the best last
NAMES = {
    "portable": msg("plain C"),
    "avx2": "AVX2",
    "avxvnni": "AVX-VNNI",
    "avx512": "AVX-512",
    "avx512vnni": "AVX-512 VNNI",
    "neon": "NEON",
}


def library_path() -> Path:
    """Where the build puts it."""
    return SOURCES / library_name(os.name == "nt")


@lru_cache(maxsize=4)
def load_library(path: Path | None = None) -> ctypes.CDLL:
    """The library. Its callers set the signatures of the functions that they call. path: default, `library_path`.

    Python's lock is free during a call, so that reads and computing overlap with what other threads run. Raises
    UnderhillError where it was not built, or is another system's or version's.
    """
    path = path or library_path()
    if not path.exists():
        raise _unusable(
            Kind.MISSING_FILE, msg("Underhill's native library was not built ({name} is missing).", name=path.name)
        )
    try:
        # dlopen of a path that is loaded already gives the same library: CDLL and PyDLL share its state.
        library = ctypes.CDLL(str(path))
        found = library.uh_abi()
    except (OSError, AttributeError) as error:
        text = msg("Underhill's native library cannot be loaded ({error}).", error=str(error))
        raise _unusable(Kind.BROKEN_FILE, text) from error
    if found != ABI:
        # ctypes checks no signature: a call of another version's function would read and write anywhere
        text = msg("Underhill's native library is of another version ({found}, not {abi}).", found=found, abi=ABI)
        raise _unusable(Kind.BROKEN_FILE, text)
    return library


def _unusable(kind: Kind, sentence: Translatable) -> UnderhillError:
    _log.error("%s In a source tree, build it: python -m engine.native.build", sentence)
    return UnderhillError(kind, sentence, msg("Reinstall Underhill."))


@lru_cache(maxsize=4)
def load_holding_lock(path: Path | None = None) -> ctypes.PyDLL:
    """The library again, for calls that keep Python's lock, as functions of some microseconds should.

    To have the lock back may take longer than such a call; and state that is used under the lock alone needs no other.
    Never for what waits: every thread would wait with it. Raises UnderhillError. path: see load_library.
    """
    load_library(path)
    return ctypes.PyDLL(str(path or library_path()))


def default_threads() -> int:
    """Physical cores, as far as this process may use them: a second thread on a core only gets in the way."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # psutil gives None where it cannot tell (some containers), and knows nothing of an affinity or a container's share.
    return max(1, min(psutil.cpu_count(logical=False) or allowed, allowed))


def isas(path: Path | None = None) -> tuple[str, ...]:
    """The instruction sets that this processor has, the best last. Raises UnderhillError."""
    found = load_library(path).uh_isas()
    return tuple(name for level, name in enumerate(ISAS) if found >> level & 1)


def kernels_in_use(threads: int, path: Path | None = None) -> Translatable:
    """Which kernels compute, in a plain sentence."""
    return msg(
        "Native kernels ({names}), {threads} {threads2}.",
        names=NAMES[isas(path)[-1]],
        threads=threads,
        threads2=msg("thread") if threads == 1 else msg("threads"),
    )


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

    @property
    def planes(self) -> int:
        """Parts that the codes of a matrix in tiles lie in: those of a table and those of 6 bits in two."""
        return self.kind if self.kind <= 3 else 2
