"""The C selftest against the library that is installed here, by two compilers, and under sanitizers."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.native.build import commands, find_compiler
from engine.native.library import library_path
from tests.native.builds import run, selftest_with_library, selftest_with_sources

pytestmark = pytest.mark.long

COMPILER = find_compiler() or ""
needs_compiler = pytest.mark.skipif(not COMPILER, reason="no C compiler")


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the system's compiler makes of it, linked to the library as it is installed, says."""
    return _said([COMPILER], tmp_path_factory.mktemp("installed"))


@needs_compiler
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_library_as_it_is_installed(said: str) -> None:
    assert _groups(said)


@needs_compiler
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_another_compiler_draws_the_same_cases(said: str, tmp_path: Path) -> None:
    """Nothing that C leaves to the compiler, as the order of arguments, decides what the selftest checks.

    A case that only the compiler for Windows drew was found on Windows alone.
    """
    zig = [command for command in commands() if "ziglang" in command]
    if not zig or zig == commands():
        pytest.skip("there are not two C compilers")
    assert _groups(_said(zig[0], tmp_path)) == _groups(said)


@needs_compiler
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_byte_is_read_that_is_not_the_kernels_and_nothing_is_undefined(tmp_path: Path) -> None:
    _needs_sanitizer(tmp_path, "address", "undefined")
    selftest_with_sources([COMPILER], tmp_path / "selftest", "address", "undefined")
    run([str(tmp_path / "selftest")], UBSAN_OPTIONS="print_stacktrace=1")


@needs_compiler
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_threads_never_race(tmp_path: Path) -> None:
    _needs_sanitizer(tmp_path, "thread")
    selftest_with_sources([COMPILER], tmp_path / "selftest", "thread")
    said = run([str(tmp_path / "selftest"), "threads"])
    assert "the pool" in said


def _said(compiler: Sequence[str], folder: Path) -> str:
    program = folder / "selftest"
    selftest_with_library(compiler, library_path(), program)
    return run([str(program)])


def _needs_sanitizer(folder: Path, *names: str) -> None:
    """Leave the test out where not even an empty program runs under them: no runtime library, or a strange kernel."""
    source, program = folder / "empty.c", folder / "empty"
    source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    options = [f"-fsanitize={name}" for name in names]
    if subprocess.run([COMPILER, *options, str(source), "-o", str(program)], capture_output=True).returncode:
        pytest.skip(f"{os.path.basename(COMPILER)} has no sanitizers: {', '.join(names)}")
    if subprocess.run([str(program)], capture_output=True).returncode:
        pytest.skip(f"sanitizers do not run here: {', '.join(names)}")


def _groups(said: str) -> list[str]:
    """Its lines of counts, without those groups whose number of checks threads' clocks decide."""
    lines = re.findall(r"^.+ [1-9]\d* passed, 0 failed$", said, re.MULTILINE)
    return [line for line in lines if not line.startswith(("readers", "experts that are read ahead"))]
