"""The native library of the sources under test: the one in place where it is newer, else built anew.

Without a compiler it is the one in place: tests.windows puts there what it has made of these sources.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.kernels.native import NativeKernel
from engine.native.build import OPTIONS, SOURCES, build, commands, library_name
from engine.native.library import ISAS, isas

_ARM = platform.machine().lower() in ("aarch64", "arm64")
# Those that some processor of this kind has: the others are never to be tried here, not even skipped.
ISAS_HERE = [isa for isa in ISAS if isa == "portable" or (isa == "neon") == _ARM]


@pytest.fixture(scope="session")
def native_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sources = [OPTIONS, *SOURCES.glob("*.[ch]")]
    in_place = SOURCES / library_name(windows=os.name == "nt")
    newer = in_place.exists() and in_place.stat().st_mtime > max(source.stat().st_mtime for source in sources)
    if newer or (in_place.exists() and not commands()):
        return in_place
    path = tmp_path_factory.mktemp("native") / in_place.name
    build(commands()[0], path)
    return path


MakeKernel = Callable[..., NativeKernel]


@pytest.fixture(scope="session", params=ISAS_HERE)
def make_kernel(request: pytest.FixtureRequest, native_library: Path) -> Iterator[MakeKernel]:
    """Makes kernels of one instruction set; each number of threads, exact or not, is made once."""
    made: dict[tuple[int, bool], NativeKernel] = {}

    def make(threads: int = 2, exact: bool = True) -> NativeKernel:
        if (threads, exact) not in made:
            if request.param not in isas(native_library):
                pytest.skip(f"this processor has no {request.param}")
            made[threads, exact] = NativeKernel(threads, request.param, native_library, exact)
        return made[threads, exact]

    yield make
    for kernel in made.values():
        kernel.close()
