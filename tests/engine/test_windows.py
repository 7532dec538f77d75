"""Windows' job objects and error boxes: what is asked of the system, and, on Windows, what comes of it."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from engine import windows
from tests.waiting import PROCESS, until

on_windows = pytest.mark.skipif(sys.platform != "win32", reason="asks Windows itself")
elsewhere = pytest.mark.skipif(sys.platform == "win32", reason="plays Windows")
# A process that starts another and is killed, with the other's number on its standard output.
PARENT = """
import subprocess, sys, time
from engine import windows
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
windows.end_with_this_process(child)
print(child.pid, flush=True)
time.sleep(600)
"""


class Process:
    """What of subprocess.Popen a job needs."""

    _handle = 42


class Kernel:
    """kernel32, which grants what it is asked; refused: the name of a function that fails."""

    def __init__(self, refused: str = "") -> None:
        self.refused, self.closed, self.mode, self.report = refused, list[object](), 1, 0
        self.limits: Any = None
        self.bound: tuple[object, object] | None = None
        self.CreateJobObjectW = lambda *_: 7  # a function, as the type of its result is set

    def SetInformationJobObject(self, job: Any, kind: int, limits: Any, size: int) -> bool:
        assert kind == 9
        assert size == ctypes.sizeof(limits._obj) == 144  # JOBOBJECT_EXTENDED_LIMIT_INFORMATION of 64 bit
        self.limits = limits._obj
        return self.refused != "set"

    def AssignProcessToJobObject(self, job: Any, process: Any) -> bool:
        self.bound = job.value, process.value
        return self.refused != "assign"

    def CloseHandle(self, job: Any) -> None:
        self.closed.append(job.value)

    def GetErrorMode(self) -> int:
        return self.mode

    def SetErrorMode(self, mode: int) -> None:
        self.mode = mode

    def WerSetFlags(self, flags: int) -> None:
        self.report = flags


def _play(monkeypatch: pytest.MonkeyPatch, refused: str = "") -> Kernel:
    kernel = Kernel(refused)
    monkeypatch.setattr(windows, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.setattr(windows, "_kernel", lambda: kernel)
    monkeypatch.setattr(ctypes, "get_last_error", lambda: 5, raising=False)
    return kernel


@elsewhere
@pytest.mark.parametrize(("memory", "flags", "most"), [(0, 0x2000, 0), (50, 0x2100, 200_000_050)])
def test_a_process_is_bound_to_this_one(monkeypatch: pytest.MonkeyPatch, memory: int, flags: int, most: int) -> None:
    kernel, process = _play(monkeypatch), Process()
    windows.end_with_this_process(process, memory)  # type: ignore[arg-type]
    assert kernel.bound == (7, 42)
    assert kernel.limits.BasicLimitInformation.LimitFlags == flags
    assert kernel.limits.ProcessMemoryLimit == most
    assert kernel.closed == []  # with its last handle the job ends
    del process
    assert kernel.closed == [7]


@elsewhere
@pytest.mark.parametrize("refused", ["set", "assign"])
def test_a_process_that_cannot_be_bound_is_told(monkeypatch: pytest.MonkeyPatch, refused: str) -> None:
    _play(monkeypatch, refused)
    with pytest.raises(OSError, match="job object"):
        windows.end_with_this_process(Process())  # type: ignore[arg-type]


@elsewhere
def test_boxes_are_turned_off_and_what_else_is_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = _play(monkeypatch)
    kernel.mode = 0x4
    windows.no_error_boxes()
    assert (kernel.mode, kernel.report) == (0x8007, 0x20)


@elsewhere
@pytest.mark.parametrize("by", ["pip", "an installer", "nothing"])
def test_the_runtime_is_found_among_the_windows_libraries(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, by: str
) -> None:
    _play(monkeypatch)
    added: list[str] = []
    monkeypatch.setattr(os, "add_dll_directory", added.append, raising=False)
    monkeypatch.setattr(windows, "__file__", str(tmp_path / "app" / "engine" / "windows.py"))
    folder = tmp_path / ("site-packages" if by == "pip" else "qt") / "shiboken6"
    spec = SimpleNamespace(origin=str(folder / "__init__.py")) if by == "pip" else None
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    folder.mkdir(parents=True)
    if by != "nothing":
        (folder / "msvcp140.dll").touch()
    assert windows.find_runtime_library() == (None if by == "nothing" else folder)
    assert added == ([] if by == "nothing" else [str(folder)])


@on_windows
def test_a_process_ends_when_the_one_that_started_it_is_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    assert child.is_running()
    parent.kill()
    parent.wait()
    until(lambda: not child.is_running())


@on_windows
def test_a_crash_ends_a_process_with_its_own_code_and_no_box() -> None:
    crash = "from engine import windows; windows.no_error_boxes(); import ctypes; ctypes.string_at(0)"
    done = subprocess.run([sys.executable, "-X", "faulthandler=0", "-c", crash], timeout=PROCESS, capture_output=True)
    assert done.returncode in (1, 0xC0000005)  # ctypes turns it into an OSError, or it is the end


@on_windows
def test_a_key_is_kept_by_the_credential_manager(tmp_path: Path) -> None:
    """Written and read by one process each, as the program is started again and again; looked at through Windows."""
    environment = {**os.environ, "UNDERHILL_HOME": str(tmp_path)}
    del environment["PYTHON_KEYRING_BACKEND"]  # that of tests keeps nothing

    def run(code: str) -> str:
        code = f"from engine.server import access_key; {code}"
        return subprocess.check_output([sys.executable, "-c", code], env=environment, text=True, timeout=PROCESS)

    try:
        run("access_key.keep('a-key-of-tests')")
        assert _credential("underhill") == "a-key-of-tests"
        assert run("print(access_key.read(), end='')") == "a-key-of-tests"
    finally:
        run("access_key.keep('')")
    assert _credential("underhill") is None


class _Credential(ctypes.Structure):
    """CREDENTIALW."""

    _fields_ = [
        ("Flags", ctypes.c_uint32),
        ("Type", ctypes.c_uint32),
        ("TargetName", ctypes.c_wchar_p),
        ("Comment", ctypes.c_wchar_p),
        ("LastWritten", ctypes.c_uint64),
        ("CredentialBlobSize", ctypes.c_uint32),
        ("CredentialBlob", ctypes.c_void_p),
        ("Persist", ctypes.c_uint32),
    ]  # and more, which is not looked at


def _credential(target: str) -> str | None:
    """What the Credential Manager has under a name; None for nothing."""
    library: Any = ctypes.WinDLL("advapi32")  # type: ignore[attr-defined,unused-ignore]
    found = ctypes.POINTER(_Credential)()
    if not library.CredReadW(ctypes.c_wchar_p(target), 1, 0, ctypes.byref(found)):  # CRED_TYPE_GENERIC
        return None
    text = ctypes.string_at(found.contents.CredentialBlob, found.contents.CredentialBlobSize).decode("utf-16-le")
    library.CredFree(found)
    return text
