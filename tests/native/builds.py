"""The selftest, compiled: against a finished library, or together with the library's sources.

A compiler is a command: a program and its first arguments.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from engine.native.build import SOURCES, for_windows, options, sources

HERE = Path(__file__).parent
STRICT = ("-Wall", "-Wextra", "-Werror")  # not with sanitizers: what they insert makes GCC warn of loops that end
INSIDE = "test_pool.c"  # uses what a finished library does not show


def selftest_with_library(compiler: Sequence[str], finished: Path, program: Path) -> None:
    """The selftest, linked to a finished library; on Linux it is looked for where it lies now."""
    own = [str(source) for source in sorted(HERE.glob("*.c")) if source.name != INSIDE]
    find = [] if for_windows(compiler[0]) else [f"-Wl,-rpath,{finished.parent}"]
    _compile(compiler, program, [*STRICT, *options(for_windows(compiler[0])), "-O2", *own, str(finished), *find])


def selftest_with_sources(compiler: Sequence[str], program: Path, *sanitizers: str) -> None:
    """The selftest and the library's sources in one program, with sanitizers, and with what lies inside the library.

    -g1: lines are all that a report names; with variables too, GCC takes half as long again.
    """
    own = [str(source) for source in sorted(HERE.glob("*.c"))]
    extra = ["-O1", "-g1", "-fno-sanitize-recover=all", *(f"-fsanitize={name}" for name in sanitizers)]
    _compile(compiler, program, [*options(for_windows(compiler[0])), *extra, "-DSELFTEST_INSIDE", *own, *sources()])


def run(program: list[str], **environment: str) -> str:
    """What the selftest prints. Raises AssertionError with it when a check failed, or a sanitizer spoke."""
    done = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=850, encoding="utf-8")
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-8000:]
    assert "runtime error" not in said, said[-8000:]
    assert re.search(r"^[1-9]\d* passed, 0 failed$", said, re.MULTILINE), said[-8000:]
    return said


def _compile(compiler: Sequence[str], target: Path, arguments: list[str]) -> None:
    command = [*compiler, f"-I{SOURCES}", *arguments, "-o", str(target), "-lm"]
    environment = {"ZIG_GLOBAL_CACHE_DIR": str(target.parent / "zig"), **os.environ}  # not in the home folder
    done = subprocess.run(command, capture_output=True, text=True, env=environment, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-8000:]
