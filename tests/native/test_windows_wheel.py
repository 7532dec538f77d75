"""The wheel for Windows, made here by mingw. Its library's selftest is run by ``python -m tests.windows smoke``."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.windows.machine import MINGW

OBJDUMP = "x86_64-w64-mingw32-objdump"
LIBRARY = "engine/native/src/underhill_kernels.dll"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which(MINGW) is None or shutil.which(OBJDUMP) is None,
        reason="there is no mingw (Debian: gcc-mingw-w64-x86-64-posix)",
    ),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    pytest.importorskip("scikit_build_core")
    folder = tmp_path_factory.mktemp("windows")
    script = root / "installers" / "windows" / "wheel.sh"
    command = ["bash", script, "--output", folder, "--no-build-isolation", "--no-index"]
    environment = {**os.environ, "UNDERHILL_PYTHON": sys.executable, "CFLAGS": "-Werror"}
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = folder.glob("*.whl")
    return made


def test_it_is_one_for_every_python_and_brings_no_other_systems_kernels(wheel: Path, root: Path) -> None:
    version = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert wheel.name == f"underhill-{version}-py3-none-win_amd64.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert [name for name in names if name.endswith((".so", ".dll"))] == [LIBRARY]


def test_what_windows_must_find_and_what_its_stack_must_bear(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        dll = archive.extract(LIBRARY, tmp_path)
    needed = set(re.findall(r"DLL Name: (\S+)", _objdump("-p", dll)))
    assert needed == {"KERNEL32.dll", "msvcrt.dll"}  # both part of every Windows
    code = _objdump("-d", dll)
    assert re.search(r"vmovdqu.*zmm", code)
    # Windows aligns the stack to 16 bytes, and GCC's code for AVX counts on more (bug 54412).
    assert not re.findall(r".*\bvmov(?:dqa|aps|apd)\S*\s.*%[yz]mm.*", code)


def _objdump(option: str, finished: str) -> str:
    return subprocess.run(
        [OBJDUMP, option, finished], check=True, capture_output=True, text=True, encoding="utf-8"
    ).stdout
