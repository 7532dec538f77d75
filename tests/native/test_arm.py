"""The library for ARM's 64 bits, which this computer is not: built by zig, and its selftest run in an emulator.

qemu's `max` has the dot products that the kernels with NEON want; a Cortex-A53 has not, and plain C is what it gets.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from engine.native import build
from tests.native.builds import selftest_with_sources

QEMU = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static") or ""
# musl's headers, where the C standard is asked for, hide what is POSIX' own.
ZIG = [sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline", "-D_DEFAULT_SOURCE", "-target"]
ARM64 = 0xAA64  # IMAGE_FILE_MACHINE_ARM64, in the header of a DLL

pytestmark = [
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.timeout(1500),
    pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="ziglang is not installed"),
]


@pytest.mark.skipif(not QEMU, reason="there is no qemu-aarch64 (Debian: qemu-user)")
def test_the_kernels_with_neon_compute_what_plain_c_does(tmp_path: Path) -> None:
    program = tmp_path / "selftest"
    selftest_with_sources([*ZIG, "aarch64-linux-musl"], program)
    said = _run(program, "max")
    assert re.search(r"^linear: neon, 8 bits +[1-9]\d* passed", said, re.MULTILINE), said[-4000:]
    assert re.search(r"^[1-9]\d* passed, 0 failed$", said, re.MULTILINE), said[-4000:]
    less = _run(program, "cortex-a53", "bytes", "1", "7")
    assert "neon" not in less
    assert re.search(r"^[1-9]\d* passed, 0 failed$", less, re.MULTILINE), less[-4000:]


def test_windows_for_arm_has_a_library(tmp_path: Path) -> None:
    library = tmp_path / build.library_name(windows=True)
    assert build.main(["--target", "aarch64-windows-gnu", "--output", str(library)]) == 0
    data = library.read_bytes()
    (header,) = struct.unpack_from("<I", data, 0x3C)
    assert data[header : header + 4] == b"PE\0\0"
    assert struct.unpack_from("<H", data, header + 4) == (ARM64,)
    assert b"uh_linear" in data


def _run(program: Path, processor: str, *arguments: str) -> str:
    command = [QEMU, "-cpu", processor, str(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=1200, encoding="utf-8").stdout
