"""Builds the native library with the system's C compiler, or with ziglang's: ``python -m engine.native.build``."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

SOURCES = Path(__file__).parent / "src"
OPTIONS = SOURCES / "options.txt"
# zig compiles for the processor that it runs on unless it is told: on an older one such a library ends with an illegal
# instruction. Which instruction sets to use is asked at run time (isa.c). -s: without 4 MB for debuggers.
ZIG = [sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline", "-s"]


def library_name(windows: bool) -> str:
    """File name of the library."""
    return "underhill_kernels.dll" if windows else "underhill_kernels.so"


def find_compiler() -> str | None:
    """$CC, or the first of gcc, clang and cc on the path."""
    for name in (os.environ.get("CC", ""), "gcc", "clang", "cc"):
        if name and (path := shutil.which(name)):
            return path
    return None


def commands(target: str | None = None) -> list[list[str]]:
    """Compilers that are here, each a program and its first arguments: the system's, then the package ziglang.

    target: a system and processor that only ziglang compiles for, as it names them; None: this one.
    """
    found = None if target else find_compiler()
    zig = [*ZIG, "-target", target] if target else ZIG
    return [*([[found]] if found else []), *([zig] if importlib.util.find_spec("ziglang") else [])]


def for_windows(compiler: str, target: str | None = None) -> bool:
    """Whether it makes Windows libraries: on Windows, mingw anywhere, and ziglang for such a target."""
    return "windows" in target if target else os.name == "nt" or "mingw" in Path(compiler).name


def options(windows: bool, zig: bool = False) -> list[str]:
    """The compiler's options, as options.txt lists them for CMakeLists.txt too."""
    system = ("zig" if zig else "mingw") if windows else "linux"
    lines = [line.split() for line in OPTIONS.read_text(encoding="utf-8").splitlines()]
    return [line[1] for line in lines if line and line[0] in ("all", system)]


def sources() -> list[str]:
    """The C files of the library."""
    return sorted(str(source) for source in SOURCES.glob("*.c"))


def build(compiler: Sequence[str], library: Path, windows: bool | None = None) -> None:
    """Compile the library to that path, put there whole. Raises subprocess.CalledProcessError (stderr says why).

    compiler: the command, a program and its first arguments. windows: None asks `for_windows`.
    """
    windows = for_windows(compiler[0]) if windows is None else windows
    chosen = options(windows, "ziglang" in compiler)
    # Beside the target, or os.replace would cross file systems and could not be one step.
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        made = Path(folder) / library.name
        command = [*compiler, *chosen, "-shared", *sources(), "-o", str(made), "-lm"]
        # zig would leave what it made of its own libraries in the home folder
        environment = {"ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder, **os.environ}
        # a compiler need not keep to Windows' code page, which Python would take
        subprocess.run(command, check=True, capture_output=True, encoding="utf-8", errors="replace", env=environment)
        # Whole or not at all. On Linux an engine that runs keeps the old file, which is only unlinked; Windows refuses
        # to replace a library that is loaded.
        os.replace(made, library)


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0: built; 3: no compiler; 1: the compiler failed."""
    parser = argparse.ArgumentParser(prog="python -m engine.native.build", description=__doc__)
    parser.add_argument("--compiler", help="default: $CC, gcc, clang, cc or ziglang; mingw makes the Windows library")
    parser.add_argument("--target", help="what ziglang compiles for, as x86_64-windows-gnu; default: this system")
    parser.add_argument("--output", type=Path, help="default: beside the sources, where it is looked for")
    options = parser.parse_args(arguments)
    found = [[options.compiler]] if options.compiler else commands(options.target)
    if not found or shutil.which(found[0][0]) is None:
        print("No C compiler was found. Install gcc, clang or the Python package ziglang.", file=sys.stderr)
        return 3
    for compiler in found:  # a gcc without the headers of the C library compiles nothing; zig brings its own
        windows = for_windows(compiler[0], options.target)
        target = options.output or SOURCES / library_name(windows)
        try:
            build(compiler, target, windows)
        except subprocess.CalledProcessError as error:
            print(f"{' '.join(compiler)} could not build the native kernels:\n{error.stderr}", file=sys.stderr)
            continue
        print(f"Built {target}")
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
