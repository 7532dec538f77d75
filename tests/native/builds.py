"""The selftest, compiled: against a finished library, or together with the library's sources."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from engine.native.build import SOURCES, for_windows, library_name, options, sources

HERE = Path(__file__).parent
STRICT = ("-Wall", "-Wextra", "-Werror")  # not with sanitizers: what they insert makes GCC warn of loops that end
INSIDE = "test_pool.c"  # uses what a finished library does not show


def selftest_with_library(compiler: str, finished: Path, program: Path) -> None:
    """The selftest, linked to a finished library; on Linux it is looked for where it lies now."""
    own = [str(source) for source in sorted(HERE.glob("*.c")) if source.name != INSIDE]
    find = [] if for_windows(compiler) else [f"-Wl,-rpath,{finished.parent}"]
    _compile(compiler, program, [*STRICT, *options(for_windows(compiler)), "-O2", *own, str(finished), *find])


def selftest_with_sources(compiler: str, program: Path, *sanitizers: str) -> None:
    """The selftest and the library's sources in one program, with sanitizers, and with what lies inside the library."""
    own = [str(source) for source in sorted(HERE.glob("*.c"))]
    extra = ["-O1", "-g", "-fno-sanitize-recover=all", *(f"-fsanitize={name}" for name in sanitizers)]
    _compile(compiler, program, [*options(for_windows(compiler)), *extra, "-DSELFTEST_INSIDE", *own, *sources()])


def library(compiler: str, folder: Path) -> Path:
    """The library as engine/native/build.py makes it, only that a warning is an error."""
    made = folder / library_name(for_windows(compiler))
    _compile(compiler, made, [*STRICT, *options(for_windows(compiler)), "-shared", *sources()])
    return made


def run(program: list[str], **environment: str) -> str:
    """What the selftest prints. Raises AssertionError with it when a check failed, or a sanitizer spoke."""
    done = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=250)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-8000:]
    assert "runtime error" not in said, said[-8000:]
    assert re.search(r"^[1-9]\d* passed, 0 failed$", said, re.MULTILINE), said[-8000:]
    return said


def _compile(compiler: str, target: Path, arguments: list[str]) -> None:
    command = [compiler, f"-I{SOURCES}", *arguments, "-o", str(target), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-8000:]
