"""Libraries that Wine lacks: ``python -m tests.windows.build_shims SITE-PACKAGES``, run where pefile and ziglang are.

Qt wants icuuc.dll, which is shims/icuuc.c. numpy wants complex functions that Wine's C library has not: its import
tables are rewritten to name a library of ours, which hands on to Wine all that it has. The complex functions are there
and compute nothing, since nothing of Underhill's computes with complex numbers in numpy.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

THEIRS = "api-ms-win-crt-math-l1-1-0.dll"
OURS = "uhx-ms-win-crt-math-l1-1-0.dll"  # as long: it is written over the other
COMPLEX = re.compile(r"(c(abs|arg|imag|real|conj|proj|pow|exp|log|sqrt)|ca?(sin|cos|tan)h?)[fl]?")


def rewrite(folder: Path) -> set[str]:
    """Make every library below `folder` import from ours; returns the functions that they import."""
    names: set[str] = set()
    for path in [*folder.rglob("*.pyd"), *folder.rglob("*.dll")]:
        data = path.read_bytes()
        if THEIRS.encode() in data:
            names.update(_imported(data))
            path.write_bytes(data.replace(THEIRS.encode(), OURS.encode()))
    return names


def _imported(data: bytes) -> Iterator[str]:
    import pefile  # only among the tools that tests.windows installs; the names above are used without them

    image = pefile.PE(data=data, fast_load=True)
    image.parse_data_directories([pefile.DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_IMPORT"]])
    for library in getattr(image, "DIRECTORY_ENTRY_IMPORT", []):
        if library.dll.decode().lower() == THEIRS:
            yield from (function.name.decode() for function in library.imports if function.name)


def source(names: set[str]) -> str:
    """C of the library that has these functions."""
    directives = "".join(
        f" -export:{name}={'nothing' if COMPLEX.fullmatch(name) else f'ucrtbase.{name}'}" for name in sorted(names)
    )
    return (
        f'__asm__(".section .drectve,\\"yn\\"\\n.ascii \\"{directives}\\"\\n");\n'
        "int nothing(void) { return 0; }\n"
        "int DllMainCRTStartup(void *instance, unsigned reason, void *reserved) { return 1; }\n"
    )


def compile_library(source: Path, library: Path) -> None:
    """Raises subprocess.CalledProcessError."""
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-windows-gnu", "-O1", "-s", "-shared", "-nostdlib"]
    with tempfile.TemporaryDirectory() as folder:  # zig leaves an import library beside what it makes
        made = Path(folder) / library.name
        subprocess.run([*zig, str(source), "-o", str(made)], check=True)
        library.write_bytes(made.read_bytes())


def main(packages: Path) -> None:
    """Put the libraries where those look that want them."""
    compile_library(Path(__file__).parent / "shims" / "icuuc.c", packages / "PySide6" / "icuuc.dll")
    names = rewrite(packages / "numpy") | rewrite(packages / "numpy.libs")
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "math.c"
        made.write_text(source(names), encoding="ascii")
        compile_library(made, packages / "numpy.libs" / OURS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
