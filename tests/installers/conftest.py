"""A small checkout with the real scripts, and a PATH on which only stand-ins and basic commands are found."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.installers import fakes
from tests.waiting import PROCESS


@dataclass(frozen=True)
class Checkout:
    """A copy of the checkout, small enough to set up in no time. bin: all there is on PATH. fakes: their notes."""

    root: Path
    bin: Path
    fakes: Path

    def fake(self, name: str, text: str) -> None:
        """Put an executable on PATH."""
        (self.bin / name).unlink(missing_ok=True)
        for placeholder, value in (("@ROOT@", self.root), ("@FAKES@", self.fakes), ("@PYTHON@", sys.executable)):
            text = text.replace(placeholder, str(value))
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def tell(self, name: str, text: str = "") -> None:
        """Leave a note for the stand-ins, as `pip-says`."""
        (self.fakes / name).write_text(text)

    def untell(self, name: str) -> None:
        """Take it away again."""
        (self.fakes / name).unlink()

    @property
    def calls(self) -> list[str]:
        """What the stand-ins were asked to do so far."""
        notes = self.fakes / "calls"
        return notes.read_text().splitlines() if notes.exists() else []

    def start(self, script: str, *args: str, **env: str) -> subprocess.Popen[str]:
        """Start installers/<script> with an environment of PATH and env alone, and nothing on standard input."""
        return subprocess.Popen(
            [shutil.which("bash") or "/bin/bash", str(self.root / "installers" / script), *args],
            env={"PATH": str(self.bin), "LC_ALL": "C.UTF-8", **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, script: str, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        process = self.start(script, *args, **env)
        out, err = process.communicate(timeout=PROCESS)
        return subprocess.CompletedProcess([script, *args], process.returncode, out, err)


@pytest.fixture
def checkout(tmp_path: Path, root: Path) -> Checkout:
    """Python 3.11 with pip, a C compiler, a user without root, no display, no GPU, and a disk with room."""
    made = Checkout(tmp_path / "a checkout", tmp_path / "bin", tmp_path / "fakes")
    for folder in (made.root, made.bin, made.fakes, made.root / "engine" / "native" / "src"):
        folder.mkdir(parents=True)
    shutil.copytree(root / "installers", made.root / "installers")
    shutil.copytree(root / "requirements", made.root / "requirements")
    shutil.copy(root / "pyproject.toml", made.root)
    (made.root / "engine/native/build.py").write_text("")
    (made.root / "engine/native/src/moe.c").write_text("")
    (made.root / "engine/native/src/options.txt").write_text("")
    for name in fakes.BASICS:
        if found := shutil.which(name):
            os.symlink(found, made.bin / name)
    made.fake("python3.11", fakes.PYTHON)
    made.fake("cc", fakes.NOTHING)
    made.fake("id", fakes.user(1000))
    made.fake("ldd", fakes.LDD)
    made.fake("df", fakes.disk(100_000))
    (made.fakes / "uv").write_text(fakes.UV.replace("@FAKES@", str(made.fakes)))
    (made.fakes / "uv").chmod(0o755)
    return made
