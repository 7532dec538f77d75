"""Which kernel runs here, and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.kernels.call import Kernel
from engine.kernels.native import NativeKernel, NativeMissing, isas
from engine.kernels.reference import TorchKernel


@dataclass(frozen=True)
class Availability:
    """native: the library is there and usable. isa: what it would run on, or 'torch'. reason: a plain sentence."""

    native: bool
    isa: str
    reason: str


def available(path: Path | None = None) -> Availability:
    """What this installation can compute with. path: of the native library; default, where the build puts it."""
    try:
        isa = isas(path)[-1]
    except NativeMissing as missing:
        return Availability(False, "torch", f"The slower torch kernels are used: {missing}.")
    return Availability(True, isa, f"Native kernels ({isa}).")


def choose(setting: str = "auto", threads: int | None = None, path: Path | None = None) -> Kernel:
    """The kernel for the setting `kernel`: 'auto', 'native' or 'torch'.

    'auto' takes torch where native code cannot run, and `available().reason` says so; 'native' raises
    UnderhillError(BAD_REQUEST) there.
    """
    if setting not in ("auto", "native", "torch"):
        raise UnderhillError(Kind.BAD_REQUEST, f"There are no {setting!r} kernels.", "Choose auto, native or torch.")
    if setting == "torch":
        return TorchKernel()
    try:
        return NativeKernel(threads, path=path)
    except NativeMissing as missing:
        if setting == "auto":
            return TorchKernel()
        raise UnderhillError(
            Kind.BAD_REQUEST,
            f"The native kernels cannot be used: {missing}.",
            "Set kernels to auto, or install gcc and run: python -m engine.kernels.build",
        ) from missing
