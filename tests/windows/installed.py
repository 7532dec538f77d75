"""A person with the setup program, on Windows: ``python -m tests.windows.installed OUT``, see setup_program.py.

OUT has with/Underhill-Setup.exe, without/Underhill-Setup.exe (no Python in it, and none can be fetched) and wheels/.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import time
import traceback
import winreg
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

LOCAL = Path(os.environ["LOCALAPPDATA"])
PROGRAM, DATA = LOCAL / "Programs" / "Underhill", LOCAL / "underhill"
ELSEWHERE = Path(r"C:\My programs 山\Underhill")
MENU = Path(os.environ["APPDATA"]) / "Microsoft" / "Windows" / "Start Menu" / "Programs" / "Underhill.lnk"
GGUF = r"Software\Classes\Underhill.gguf\shell\open\command"
UNINSTALL = r"Software\Microsoft\Windows\CurrentVersion\Uninstall\Underhill"
SYSTEM = Path(r"C:\windows\system32")
DIALOG = "Import model"
LONGEST = 900.0  # seconds for anything; the engine's packages are thousands of files
CHAT = ["chat", "builtin", "--greedy", "--prompt", "Hello", "--json"]
_WM_CLOSE, _WM_KEYDOWN, _WM_KEYUP, _RETURN, _ESCAPE = 0x0010, 0x0100, 0x0101, 0x0D, 0x1B
FAILED, RUNNING = 3, 4  # exit codes of the setup program


def conduct(out: Path) -> Iterator[str]:
    """Do it all; yields a line about each part. Raises AssertionError, or what else was wrong."""
    _stand_in_for_windows()
    with_python, without = (out / name / "Underhill-Setup.exe" for name in ("with", "without"))
    assert _run(without, "/S") == FAILED
    assert not PROGRAM.exists(), sorted(PROGRAM.rglob("*"))[:5]
    assert not MENU.exists()
    assert _registered() is None
    yield "a setup that cannot have Python says so by its exit code, and takes everything back"
    assert _run(with_python, "/S /GGUF") == 0
    assert MENU.exists()
    assert _registered() == str(PROGRAM)
    command = _value(GGUF)
    assert command == f'"{PROGRAM / "underhill.exe"}" "%1"'
    assert _value(r"Software\Classes\.gguf") == "Underhill.gguf"
    yield "installed silently: program, start menu, list of programs, and .gguf files, as was asked for"
    (DATA / "program").mkdir(parents=True)
    (DATA / "program" / "options.json").write_text(json.dumps({"wheels": str(out / "wheels")}), encoding="utf-8")
    os.startfile(MENU)
    page = _window()
    _picture(out, "40-setup-page")
    _press(page, _RETURN)  # Install
    _until(lambda: any(DATA.glob("program/environments/*/complete.json")), "the engine is installed")
    _until((DATA / "chats.db").exists, "the main window has opened")
    time.sleep(20)
    _picture(out, "41-first-window")
    yield "started from the menu: the page installs the engine, and the window opens"
    (model := out / "A model 山.gguf").write_bytes(b"GGUF, and no more")
    subprocess.Popen(command.replace("%1", str(model)))  # as Windows does; Wine asks the computer's registry alone
    _until(lambda: _find(DIALOG), "the dialog to import the file")
    time.sleep(3)
    _picture(out, "42-file-opened")
    _press(_find(DIALOG), _ESCAPE)
    _until(lambda: not _find(DIALOG), "the dialog is closed")
    yield "a .gguf file that is opened comes to the window that is there"
    assert _run(with_python, "/S") == RUNNING
    assert _run(PROGRAM / "uninstall.exe", "/S", f"_?={PROGRAM}") == RUNNING
    assert (PROGRAM / "release.json").exists()
    yield "setup and uninstaller leave alone what runs"
    _close()
    _picture(out, "43-closed")
    said = _cli(PROGRAM)
    yield f"answered in a terminal: {said}"
    assert _run(with_python, "/S") == 0
    assert _cli(PROGRAM) == said
    yield "installed over itself, and answers as before"
    assert _run(PROGRAM / "uninstall.exe", "/S", f"_?={PROGRAM}") == 0
    assert [path.name for path in PROGRAM.glob("*")] in ([], ["uninstall.exe"])  # which runs itself
    assert not MENU.exists()
    assert _registered() is None
    assert not (DATA / "program").exists()
    assert (DATA / "chats.db").exists()
    yield "uninstalled: program and engine are gone, chats and settings are kept"
    assert _value(GGUF) is None
    assert _value(r"Software\Classes\.gguf") is None
    assert _run(with_python, f"/S /D={ELSEWHERE}") == 0
    assert _value(GGUF) is None, "not asked for"
    assert _run(ELSEWHERE / "underhill-cli.exe", "--install-engine", str(out / "wheels")) == 0
    assert _cli(ELSEWHERE) == said
    yield "installed in a folder of other letters, the engine from a terminal: answers as before"
    assert _run(ELSEWHERE / "uninstall.exe", "/S", "/ALL", f"_?={ELSEWHERE}") == 0
    assert [path.name for path in ELSEWHERE.glob("*")] in ([], ["uninstall.exe"])
    assert not DATA.exists(), sorted(DATA.rglob("*"))[:5]
    assert _registered() is None
    yield "uninstalled with everything: nothing is left"


def _stand_in_for_windows() -> None:
    """Put the libraries that Wine lacks where Windows has its own (build_shims.py)."""
    packages = Path(sys.prefix) / "Lib" / "site-packages"
    shutil.copy(packages / "PySide6" / "icuuc.dll", SYSTEM)
    for library in (packages / "numpy.libs").glob("uhx-*.dll"):
        shutil.copy(library, SYSTEM)


def _run(program: Path, *arguments: str) -> int:
    # As one string: NSIS takes /D= and _?= to the end of the line, without quotes.
    return subprocess.run(f'"{program}" {" ".join(arguments)}', timeout=LONGEST, check=False).returncode


def _cli(folder: Path) -> list[int]:
    """The tokens that underhill-cli answers with. Raises AssertionError with what it said."""
    command = [str(folder / "underhill-cli.exe"), *CHAT]
    done = subprocess.run(command, timeout=LONGEST, capture_output=True, text=True, encoding="utf-8", check=False)
    answers = [line for line in done.stdout.splitlines() if line.startswith('{"text"')]
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    assert answers, (done.stdout, done.stderr)
    ids: list[int] = json.loads(answers[0])["token_ids"]
    return ids


def _registered() -> str | None:
    """The folder that Windows' list of programs tells, None where Underhill is not in it."""
    return _value(UNINSTALL, "InstallLocation")


def _value(key: str, name: str = "") -> str | None:
    """Of this user's registry; name: '' for the key's own."""
    try:
        with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key) as opened:  # type: ignore[attr-defined,unused-ignore]
            return str(winreg.QueryValueEx(opened, name)[0])  # type: ignore[attr-defined,unused-ignore]
    except FileNotFoundError:
        return None


def _find(title: str = "Underhill") -> int:
    """The window with this title, 0 for none."""
    user = ctypes.WinDLL("user32")  # type: ignore[attr-defined,unused-ignore]
    user.FindWindowW.restype = ctypes.c_void_p
    return int(user.FindWindowW(None, ctypes.c_wchar_p(title)) or 0)


def _window() -> int:
    _until(lambda: _find() != 0, "a window opens")
    time.sleep(8)
    return _find()


def _press(window: int, key: int) -> None:
    user = ctypes.WinDLL("user32")  # type: ignore[attr-defined,unused-ignore]
    for message in (_WM_KEYDOWN, _WM_KEYUP):
        user.PostMessageW(ctypes.c_void_p(window), message, ctypes.c_void_p(key), ctypes.c_void_p(1))


def _close() -> None:
    """As the cross in the corner does."""
    user = ctypes.WinDLL("user32")  # type: ignore[attr-defined,unused-ignore]
    user.PostMessageW(ctypes.c_void_p(_find()), _WM_CLOSE, None, None)
    _until(lambda: _find() == 0, "the window is closed")
    _until(lambda: not (DATA / "window.lock").exists(), "the program has ended")


def _until(true: Callable[[], object], what: str) -> None:
    end = time.monotonic() + LONGEST
    while not true():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.2)


def _picture(out: Path, name: str) -> None:
    """Of the whole screen: these windows are another program's."""
    QApplication.processEvents()
    assert QGuiApplication.primaryScreen().grabWindow(0).save(str(out / f"{name}.png")), name


def main(out: Path) -> int:
    """0 when all holds, else 1."""
    QApplication([])
    try:
        for line in conduct(out):
            print(f"ok: {line}", flush=True)
    except Exception:
        traceback.print_exc(file=sys.stdout)
        _picture(out, "failed-setup")
        for log in (*DATA.rglob("*.log"), *DATA.rglob("*.log.*")):
            print(log, log.read_text(encoding="utf-8", errors="replace")[-6000:], sep="\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
