"""Which kernel runs here, and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.kernels.call import Kernel
from engine.kernels.native import NativeKernel, NativeMissing, default_threads, isas
from engine.kernels.reference import TorchKernel
from engine.translatable import Translatable, msg

NAMES = {
    "portable": msg("plain C"),
    "avx2": "AVX2",
    "avxvnni": "AVX-VNNI",
    "avx512": "AVX-512",
    "avx512vnni": "AVX-512 VNNI",
}
REMEDY = msg("To have the fast ones, install a C compiler (gcc or clang) and run: python -m engine.kernels.build")


@dataclass(frozen=True)
class Availability:
    """native: the library is there and usable. isa: what it would run on, or 'torch'. reason: a plain sentence.

    threads: what it computes with unless it is told otherwise.
    """

    native: bool
    isa: str
    threads: int
    reason: Translatable


def available(path: Path | None = None) -> Availability:
    """What this installation can compute with. path: of the native library; default, where the build puts it."""
    threads = default_threads()
    reason = in_use("auto", threads, path)
    try:
        return Availability(True, isas(path)[-1], threads, reason)
    except NativeMissing:
        return Availability(False, "torch", threads, reason)


def in_use(setting: str, threads: int, path: Path | None = None) -> Translatable:
    """Which kernels compute under this setting, in a plain sentence; of the slower ones, why and what to do."""
    if setting == "torch":
        return msg("The slower torch kernels compute, as the settings ask.")
    try:
        isa = isas(path)[-1]
    except NativeMissing as missing:
        return msg("The slower torch kernels compute: {missing}. {remedy}", missing=missing, remedy=REMEDY)
    return msg(
        "Native kernels ({names}) compute on {threads} {threads2}.",
        names=NAMES[isa],
        threads=threads,
        threads2=msg("thread") if threads == 1 else msg("threads"),
    )


def choose(setting: str = "auto", threads: int | None = None, path: Path | None = None, exact: bool = False) -> Kernel:
    """The kernel for the setting `kernel`: 'auto', 'native' or 'torch'. exact: see NativeKernel; torch always is.

    'auto' takes torch where native code cannot run, and `available().reason` says so; 'native' raises
    UnderhillError(BAD_REQUEST) there.
    """
    if setting not in ("auto", "native", "torch"):
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("There are no {setting} kernels.", setting=repr(setting)),
            msg("Choose auto, native or torch."),
        )
    if setting == "torch":
        return TorchKernel()
    try:
        return NativeKernel(threads, path=path, exact=exact)
    except NativeMissing as missing:
        if setting == "auto":
            return TorchKernel()
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("The native kernels cannot be used: {missing}.", missing=missing),
            msg("Set kernels to auto, or install gcc and run: python -m engine.kernels.build"),
        ) from missing
