"""Programs for Windows, run here by wine: without a display, in a Windows of their own that leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import LONGEST

MINGW = "x86_64-w64-mingw32-gcc-posix"
OBJDUMP = "x86_64-w64-mingw32-objdump"
SYSTEM = Path("/usr/lib/x86_64-linux-gnu/wine/x86_64-windows")  # the libraries of Windows, as Debian installs them


def missing() -> str:
    """Why nothing can be built and run for Windows here, or ''."""
    lacking = [name for name in (MINGW, OBJDUMP, "wine", "wineserver") if shutil.which(name) is None]
    return f"there is no {lacking[0]} (Debian: gcc-mingw-w64-x86-64-posix wine wine64)" if lacking else ""


@contextmanager
def windows(folder: Path) -> Iterator[dict[str, str]]:
    """The environment in which `wine` uses the new `folder` as its Windows; ends all that was started in it.

    A whole Windows takes 700 MB and some seconds. Ours needs the libraries only, so a link stands for them.
    """
    if SYSTEM.exists():
        root = folder / "drive_c" / "windows"
        root.mkdir(parents=True)
        (root / "system32").symlink_to(SYSTEM)
        (folder / ".update-timestamp").write_text("disable\n", encoding="utf-8")
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder), "WINEPREFIX": str(folder), "WINEDEBUG": "-all"}
    try:
        yield variables
    finally:
        # the first fails if none is there
        subprocess.run(["wineserver", "-k"], env=variables, capture_output=True, timeout=LONGEST)
        subprocess.run(["wineserver", "-w"], env=variables, capture_output=True, timeout=LONGEST)
