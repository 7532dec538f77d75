"""Which kernel runs here, and why."""

from __future__ import annotations

from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.kernels.call import Kernel
from engine.kernels.native import NativeKernel
from engine.kernels.reference import TorchKernel
from engine.native.library import isas
from engine.translatable import Translatable, msg

NAMES = {
    "portable": msg("plain C"),
    "avx2": "AVX2",
    "avxvnni": "AVX-VNNI",
    "avx512": "AVX-512",
    "avx512vnni": "AVX-512 VNNI",
}


def kernels_in_use(threads: int, path: Path | None = None) -> Translatable:
    """Which kernels compute, in a plain sentence."""
    return msg(
        "Native kernels ({names}) compute on {threads} {threads2}.",
        names=NAMES[isas(path)[-1]],
        threads=threads,
        threads2=msg("thread") if threads == 1 else msg("threads"),
    )


def choose(setting: str = "auto", threads: int | None = None, path: Path | None = None, exact: bool = False) -> Kernel:
    """The kernel for the setting `kernel`: 'auto', 'native' or 'torch'. exact: see NativeKernel; torch always is.

    Raises UnderhillError(BAD_REQUEST) for any other.
    """
    if setting not in ("auto", "native", "torch"):
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("There are no {setting} kernels.", setting=repr(setting)),
            msg("Choose auto, native or torch."),
        )
    if setting == "torch":
        return TorchKernel()
    return NativeKernel(threads, path=path, exact=exact)
