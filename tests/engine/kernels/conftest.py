"""The native library of the sources under test: the one in place where it is newer, else built anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.kernels.native import NativeKernel
from engine.native.build import OPTIONS, SOURCES, build, commands, library_name
from engine.native.library import ISAS, isas


@pytest.fixture(scope="session")
def native_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sources = [OPTIONS, *SOURCES.glob("*.[ch]")]
    in_place = SOURCES / library_name(windows=False)
    if in_place.exists() and in_place.stat().st_mtime > max(source.stat().st_mtime for source in sources):
        return in_place
    path = tmp_path_factory.mktemp("native") / library_name(windows=False)
    build(commands()[0], path)
    return path


MakeKernel = Callable[..., NativeKernel]


@pytest.fixture(scope="session", params=ISAS)
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
