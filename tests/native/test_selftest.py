"""The C selftest in every way the kernels are built: plain, under sanitizers, and for Windows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from engine.native.build import commands, find_compiler
from tests.native import wine
from tests.native.builds import library, run, selftest_with_library, selftest_with_sources

pytestmark = pytest.mark.long

COMPILER, MINGW = find_compiler() or "", shutil.which(wine.MINGW) or ""
needs_compiler = pytest.mark.skipif(not COMPILER, reason="no C compiler")
needs_wine = pytest.mark.skipif(bool(wine.missing()), reason=wine.missing())


@needs_compiler
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_library_as_it_is_installed(tmp_path: Path) -> None:
    selftest_with_library([COMPILER], library([COMPILER], tmp_path), tmp_path / "selftest")
    run([str(tmp_path / "selftest")])


@needs_compiler
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_another_compiler_draws_the_same_cases(tmp_path: Path) -> None:
    """Nothing that C leaves to the compiler, as the order of arguments, decides what the selftest checks.

    A case that only the compiler for Windows drew was found on Windows alone.
    """
    zig = [command for command in commands() if "ziglang" in command]
    if not zig or zig == commands():
        pytest.skip("there are not two C compilers")
    said = []
    for number, command in enumerate(([COMPILER], zig[0])):
        program = tmp_path / f"selftest-{number}"
        selftest_with_library(command, library([COMPILER], tmp_path), program)
        said.append(run([str(program)]))
    ours, theirs = (_groups(text) for text in said)
    assert ours == theirs


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


@pytest.fixture(scope="module")
def dll(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return library([MINGW], tmp_path_factory.mktemp("windows"))


@needs_wine
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_library_for_windows(dll: Path, tmp_path: Path) -> None:
    program = dll.parent / "selftest.exe"
    selftest_with_library([MINGW], dll, program)
    with wine.windows(tmp_path / "windows") as variables:
        run(["wine", str(program)], **variables)


@needs_wine
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_what_windows_must_find_and_what_its_stack_must_bear(dll: Path) -> None:
    needed = set(re.findall(r"DLL Name: (\S+)", _objdump("-p", dll)))
    assert needed == {"KERNEL32.dll", "msvcrt.dll"}  # both part of every Windows
    code = _objdump("-d", dll)
    assert re.search(r"vmovdqu.*zmm", code)
    # Windows aligns the stack to 16 bytes, and GCC's code for AVX counts on more (bug 54412).
    assert not re.findall(r".*\bvmov(?:dqa|aps|apd)\S*\s.*%[yz]mm.*", code)


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


def _objdump(option: str, finished: Path) -> str:
    return subprocess.run(
        [wine.OBJDUMP, option, str(finished)], check=True, capture_output=True, text=True, encoding="utf-8"
    ).stdout
