"""The setup program, tried on Windows' own Python under Wine: ``python -m tests.windows --out DIR installer``.

DIR keeps what is built for it: the release, as installers/windows/build.sh lays it down, wheels of the engine, two
setup programs and pictures; what lies there already is not built again. Needs what that script needs. The half that
runs under Wine is installed.py.

Two things differ from what a user gets. The Python is that of the tests, since uv has Python only from where a test may
not reach; and numpy's wheel is one whose libraries name ours for complex functions, which Wine lacks (build_shims.py),
so that the lock has the hash of this one.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from packaging.markers import Marker, default_environment

from installers.bundle import entries
from tests.windows.build_shims import OURS, THEIRS
from tests.windows.machine import TREE, Machine
from tests.windows.window import DISPLAY

LONGEST = 3600.0  # seconds; it takes about ten minutes where nothing else runs
WINDOWS = {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt", "platform_machine": "AMD64"}
PYTHON = {"python_version": "3.11", "python_full_version": "3.11.9"}


def installer(machine: Machine, out: Path) -> int:
    """0 when all holds, else 1; prints what was done."""
    release, wheels, shipped = out / "release", out / "wheels", out / "python"
    if not release.exists():
        _call([sys.executable, "installers/bundle.py", "--platform", "windows", "--output", str(release)])
    if not wheels.exists():
        _get_wheels(release / "packages", wheels)
    if not shipped.exists():
        # Python as its makers ship it: Microsoft's C++ runtime, which tests have beside it, is the release's part.
        shutil.copytree(
            machine.python, shipped, ignore=shutil.ignore_patterns("site-packages", "msvcp140*", "tree.pth")
        )
    _build(out, "with", ["--release", str(release), "--python", str(shipped)])
    small = out / "small"
    if not small.exists():
        shutil.copytree(release, small, ignore=shutil.ignore_patterns("PySide6"))
    _build(out, "without", ["--release", str(small)])
    done = machine.run(["-m", "tests.windows.installed", r"W:\out"], out, LONGEST, DISPLAY)
    sys.stdout.write(done.stdout)
    return min(done.returncode, 1)


def _build(out: Path, name: str, options: list[str]) -> None:
    if not (out / name).exists():
        script = ["bash", "installers/windows/build.sh", "--output", str(out / "unfinished"), "--quick", *options]
        _call(script, UNDERHILL_PYTHON=sys.executable)
        (out / "unfinished").rename(out / name)


def _get_wheels(packages: Path, folder: Path) -> None:
    """Download what the engine needs on Windows, and make numpy's wheel one that Wine can load."""
    chosen = ""
    for lock in ("engine.txt", "torch.txt"):
        for text in entries(packages / lock).values():
            marker = re.search(r" ; ([^\n\\]*)", text.splitlines()[0])
            if marker is None or Marker(marker[1]).evaluate({**default_environment(), **WINDOWS, **PYTHON}):
                chosen += re.sub(r" ; [^\n\\]*", " ", text)
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        lock = Path(work) / "lock.txt"
        lock.write_text(chosen, encoding="utf-8")
        only = ["--only-binary=:all:", "--platform", "win_amd64", "--python-version", PYTHON["python_version"]]
        pip = [sys.executable, "-m", "pip", "--quiet", "download", "--no-deps", "--require-hashes", *only]
        _call([*pip, "-r", str(lock), "-d", str(Path(work) / "wheels")])
        numpy = next(Path(work, "wheels").glob("numpy-*.whl"))
        before = hashlib.sha256(numpy.read_bytes()).hexdigest()
        _rewrite(numpy)
        text = (packages / "engine.txt").read_text(encoding="utf-8")
        assert before in text
        after = hashlib.sha256(numpy.read_bytes()).hexdigest()
        (packages / "engine.txt").write_text(text.replace(before, after), encoding="utf-8")
        Path(work, "wheels").rename(folder)


def _rewrite(wheel: Path) -> None:
    """As build_shims.rewrite does with a folder."""
    made = wheel.with_suffix(".new")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            data = old.read(entry)
            ours = entry.filename.endswith((".pyd", ".dll"))
            new.writestr(entry, data.replace(THEIRS.encode(), OURS.encode()) if ours else data)
    made.replace(wheel)


def _call(command: list[str], **environment: str) -> None:
    """Raises subprocess.CalledProcessError."""
    subprocess.run(command, cwd=TREE, env={**os.environ, **environment}, check=True, stdin=subprocess.DEVNULL)
