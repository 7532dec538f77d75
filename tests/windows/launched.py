"""underhill.exe and underhill-cli.exe on Windows: ``python -m tests.windows.launched FOLDER``, see launchers.py."""

from __future__ import annotations

import ctypes
import json
import shutil
import struct
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

LONGEST = 60.0  # seconds for anything
GUI, CONSOLE = 2, 3  # IMAGE_SUBSYSTEM_WINDOWS_GUI, IMAGE_SUBSYSTEM_WINDOWS_CUI
ARGUMENTS = ["a b", '"quoted" \\', "", "山 ü", "%PATH%", "--cli"]


def conduct(folder: Path) -> Iterator[str]:
    """Do it all; yields a line about each part. Raises AssertionError, or what else was wrong."""
    window, terminal = folder / "underhill.exe", folder / "underhill-cli.exe"
    assert (_subsystem(window), _subsystem(terminal)) == (GUI, CONSOLE)
    assert _version(window) == _version(terminal) == (1, 2, 3, 0)
    yield "one is a program of the console and one has none; both carry version and icon"
    done = subprocess.run([terminal, "read", *ARGUMENTS], input="in ü".encode(), capture_output=True, timeout=LONGEST)
    said = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (7, b""), done
    assert said["arguments"] == ["--cli", "read", *ARGUMENTS], said
    assert said["program"].lower().endswith("\\python.exe"), said
    assert (said["isolated"], said["input"]) == (1, "in ü"), said
    yield "the terminal's: arguments, input, output and exit code are Python's"
    process = subprocess.Popen([terminal, "wait"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    child = json.loads(process.stdout.readline())["pid"]
    assert psutil.pid_exists(child)
    process.kill()
    _until(lambda: not psutil.pid_exists(child), "Python ends with the launcher")
    yield "killed, it takes Python along"
    file = folder / "written.json"
    assert subprocess.run([window, "write", "a b", file], timeout=LONGEST).returncode == 0
    _until(file.exists, "the window's program runs")
    said = json.loads(file.read_text(encoding="utf-8"))
    assert said["arguments"] == ["write", "a b", str(file)], said
    assert said["program"].lower().endswith("\\pythonw.exe"), said
    yield "the window's: pythonw, without a console, the launcher has ended"
    (lonely := folder / "without").mkdir()
    shutil.copy(terminal, lonely)
    done = subprocess.run([lonely / terminal.name], capture_output=True, timeout=LONGEST)
    assert done.returncode == 1, done
    assert b"Install Underhill again" in done.stderr, done
    (lonely / "python" / "cpython-3.12.1").mkdir(parents=True)
    for name in ("python.exe", "python311.dll", "vcruntime140.dll"):
        shutil.copy(folder / "python" / name, lonely / "python" / "cpython-3.12.1")
    done = subprocess.run([lonely / terminal.name], capture_output=True, timeout=LONGEST)
    assert b"Install Underhill again" not in done.stderr, done
    yield "without Python it says so; one that uv has fetched is found"


def _subsystem(program: Path) -> int:
    image = program.read_bytes()
    (header,) = struct.unpack_from("<I", image, 0x3C)
    (subsystem,) = struct.unpack_from("<H", image, header + 24 + 68)
    return int(subsystem)


def _version(program: Path) -> tuple[int, ...]:
    """Of the file, as Windows reads it."""
    library: Any = ctypes.WinDLL("version")  # type: ignore[attr-defined,unused-ignore]
    size = library.GetFileVersionInfoSizeW(str(program), None)
    block, found, length = ctypes.create_string_buffer(size), ctypes.c_void_p(), ctypes.c_uint()
    assert library.GetFileVersionInfoW(str(program), 0, size, block)
    assert library.VerQueryValueW(block, "\\", ctypes.byref(found), ctypes.byref(length))
    words = struct.unpack("<2I", ctypes.string_at(found.value or 0, 52)[8:16])
    return tuple(half for word in words for half in (word >> 16, word & 0xFFFF))


def _until(true: Callable[[], object], what: str) -> None:
    end = time.monotonic() + LONGEST
    while not true():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.1)


def main(folder: Path) -> int:
    """0 when all holds, else 1."""
    try:
        for line in conduct(folder):
            print(f"ok: {line}", flush=True)
    except Exception:
        traceback.print_exc(file=sys.stdout)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
