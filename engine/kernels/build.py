"""Builds the native kernels with the C compiler at hand (no cmake): ``python -m engine.kernels.build``."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = Path(__file__).parent / "native"
OPTIONS = SOURCES / "options.txt"


def library_name(windows: bool) -> str:
    """File name of the library."""
    return "underhill_kernels.dll" if windows else "underhill_kernels.so"


def find_compiler() -> str | None:
    """$CC, or the first of gcc, clang and cc on the path."""
    for name in (os.environ.get("CC", ""), "gcc", "clang", "cc"):
        if name and (path := shutil.which(name)):
            return path
    return None


def for_windows(compiler: str) -> bool:
    """Whether it makes Windows libraries: on Windows, and mingw anywhere."""
    return os.name == "nt" or "mingw" in Path(compiler).name


def options(windows: bool) -> list[str]:
    """The compiler's options, as options.txt lists them for CMakeLists.txt too."""
    system = "windows" if windows else "linux"
    lines = [line.split() for line in OPTIONS.read_text(encoding="utf-8").splitlines()]
    return [line[1] for line in lines if line and line[0] in ("all", system)]


def sources() -> list[str]:
    """The C files of the library."""
    return sorted(str(source) for source in SOURCES.glob("*.c"))


def build(compiler: str, target: Path) -> None:
    """Compile the library to `target`, put there whole. Raises subprocess.CalledProcessError (stderr says why)."""
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder) / target.name
        command = [compiler, *options(for_windows(compiler)), "-shared", *sources(), "-o", str(made), "-lm"]
        subprocess.run(command, check=True, capture_output=True, text=True)
        os.replace(made, target)


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0: built; 3: no compiler; 1: the compiler failed."""
    parser = argparse.ArgumentParser(prog="python -m engine.kernels.build", description=__doc__)
    parser.add_argument("--compiler", help="default: $CC, gcc, clang or cc; a mingw compiler makes the Windows library")
    parser.add_argument("--output", type=Path, help="default: beside the sources, where it is looked for")
    options = parser.parse_args(arguments)
    compiler = options.compiler or find_compiler()
    if compiler is None or shutil.which(compiler) is None:
        print("No C compiler was found (gcc or clang). The slower torch kernels will be used.", file=sys.stderr)
        return 3
    target = options.output or SOURCES / library_name(for_windows(compiler))
    try:
        build(compiler, target)
    except subprocess.CalledProcessError as error:
        print(f"{compiler} could not build the native kernels:\n{error.stderr}", file=sys.stderr)
        return 1
    print(f"Built {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
