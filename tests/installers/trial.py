"""One door tried as a new user would: install, first start, first answer, second start, uninstall; and what is left."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.installers.machine import USER, System, call
from tests.installers.screen import Screen, wait_until

KEPT = (".local/share", ".local/state")  # what is the user's own in these is chosen to stay
GONE = "/underhill/program/"
# Of the system's libraries and of what installs packages, for all programs: no uninstaller takes them away.
SHARED = (
    "/.cache/fontconfig/",
    "/.cache/pip/",
    "/.cache/uv/",
    "/pipx/shared/",
    "/pipx/logs/",
    "/pipx/.cache/",
    "/.local/share/uv/",
    "/uv/",
)
ENGINE = 400.0  # seconds for the engine's packages to come
ANSWER = 120.0


@dataclass(frozen=True)
class Door:
    """How Underhill comes in and goes out. source: the installer, or the checkout. offline: nothing is downloaded."""

    name: str
    source: Path
    offline: bool = False

    @property
    def is_installer(self) -> bool:
        """Whether it lays down a release, of which the window's first start gets the engine."""
        return self.name in ("deb", "run", "fat")


class Trial:
    """``run`` fills ``found``: seconds, bytes and files by name; pictures lie in `out`."""

    def __init__(self, system: System, screen: Screen, door: Door, out: Path, chinese: bool, gguf: Path | None) -> None:
        self.system, self.screen, self.door, self.out, self.gguf = system, screen, door, out, gguf
        self.found: dict[str, Any] = {}
        self._language = {"LANGUAGE": "zh_CN"} if chinese else {}
        self._process: subprocess.Popen[bytes] | None = None
        self._looking = 0.0  # seconds that pictures have taken
        self._data = system.home_folder / ".local/share/underhill"

    def run(self) -> None:
        """All of it. Raises TimeoutError and subprocess.CalledProcessError; `found` has what was seen until then."""
        before = self._files()
        self._timed("install", self._install)
        self.found["installed MB"] = self._megabytes()
        self._forget()
        self.found["first start, cold: window"] = self._start()
        self._picture("first")
        began, self._looking = time.monotonic(), 0.0
        if self.door.is_installer:
            self._get_engine()
        self._first_answer()
        self.found["window to first answer, pictures left out"] = time.monotonic() - began - self._looking
        self._close()
        for name in ("warm", "cold"):
            if name == "cold":
                self._forget()
            self.found[f"second start, {name}: window"] = self._start()
            self._picture(f"second-{name}")
            self._open_file(f"open-{name}")
            self._close()
        self._terminal()
        self.found["with the engine MB"] = self._megabytes()
        self._uninstall()
        left = sorted(name for name in self._files() - before if not any(place in name for place in SHARED))
        kept = [name for name in left if any(f"/{folder}/underhill/" in name for folder in KEPT) and GONE not in name]
        self.found["chats, settings and logs kept"] = len(kept)
        self.found["left"] = [name for name in left if name not in kept][:50]

    def _timed(self, name: str, what: Any) -> None:
        begun = time.monotonic()
        what()
        self.found[name] = time.monotonic() - begun

    # ---- installing -------------------------------------------------------------------------------------------------

    def _install(self) -> None:
        system, source = self.system, self.door.source
        inside = f"/tmp/{source.name}"
        if source.is_file():
            shutil.copy(source, system.folder / "tmp")
        else:
            system.bind(source, "/tmp/checkout")
        if self.door.name == "deb":
            system.run("apt-get", "-qq", "install", "--no-install-recommends", "-y", inside, root=True)
        elif self.door.is_installer:
            system.run("sh", inside)
        else:
            system.run("cp", "-r", "/tmp/checkout", f"{system.home}/underhill")  # a clone of one's own
            folder = f"{system.home}/underhill"
            if self.door.name == "pip":
                system.run("python3", "-m", "venv", f"{system.home}/venv")
                system.run(f"{system.home}/venv/bin/pip", "install", "--quiet", folder)
            elif self.door.name == "pipx":
                system.run("pipx", "install", folder)
            else:
                system.run("python3", "-m", "venv", f"{system.home}/uv")
                system.run(f"{system.home}/uv/bin/pip", "install", "--quiet", "uv")
                backend = [] if system.wheels else ["UV_TORCH_BACKEND=cpu"]  # that index is asked whatever lies here
                system.run("env", *backend, f"{system.home}/uv/bin/uv", "tool", "install", folder)

    def _uninstall(self) -> None:
        system = self.system
        if self.door.name == "deb":
            system.run("apt-get", "-qq", "purge", "-y", "underhill", root=True)
        elif self.door.is_installer:
            system.run("sh", f"{system.home}/.local/share/underhill-app/install.sh", "--uninstall")
        elif self.door.name == "pip":
            system.run(f"{system.home}/venv/bin/pip", "uninstall", "--quiet", "-y", "underhill")
        elif self.door.name == "pipx":
            system.run("pipx", "uninstall", "underhill")
        else:
            system.run(f"{system.home}/uv/bin/uv", "tool", "uninstall", "underhill")
        if not self.door.is_installer:
            system.run("rm", "-rf", f"{system.home}/underhill")  # the clone

    def _files(self) -> set[str]:
        """Files of the user, and of Underhill anywhere, as seen from inside."""
        root = self.system.folder
        home = {path for path in self.system.home_folder.rglob("*") if not path.is_dir() or path.is_symlink()}
        venv = self.system.home_folder / "venv"
        if self.door.name == "pip":  # of which only Underhill is uninstalled, as pip does
            home = {
                path for path in home if not path.is_relative_to(venv) or "underhill" in str(path.relative_to(venv))
            }
        elsewhere = {path for place in ("opt", "usr", "etc", "var/lib") for path in (root / place).rglob("*underhill*")}
        return {f"/{path.relative_to(root)}" for path in home | elsewhere}

    def _megabytes(self) -> float:
        """On the disk, of Underhill's folders alone."""
        places = [self.system.folder / "opt/underhill", *self.system.home_folder.glob("*"), self._data.parent]
        here = [str(place) for place in places if place.exists()]
        return round(int(call(["du", "-scB1", *here]).split()[-2]) / 1e6)

    # ---- the window -------------------------------------------------------------------------------------------------

    def _command(self, *files: str) -> list[str]:
        """What the menu starts, by the .desktop file; else the command."""
        places = [self.system.folder / "usr", self.system.home_folder / ".local"]
        entries = [place / "share/applications/underhill.desktop" for place in places]
        for entry in filter(Path.exists, entries):
            words = shlex.split(next(li for li in entry.read_text().splitlines() if li.startswith("Exec="))[5:])
            return [word for each in words for word in (files if each in ("%f", "%F") else (each,))]
        folder = f"{self.system.home}/venv/bin" if self.door.name == "pip" else f"{self.system.home}/.local/bin"
        return [f"{folder}/underhill", *files]

    def _inside(self, command: list[str]) -> list[str]:
        return self.system.command(command, offline=self.door.offline, DISPLAY=self.screen.name, **self._language)

    def _start(self, *files: str) -> float:
        """Seconds until there is a window with something in it."""
        with (self.out / "window.log").open("ab") as log:
            self._process = subprocess.Popen(self._inside(self._command(*files)), stdout=log, stderr=log)
        seconds = wait_until(self.screen.has_window, "no window opened", 60)
        opened = self.out / "opened.png"
        if not opened.exists():
            self.screen.picture().save(str(opened))
        return seconds

    def _picture(self, name: str) -> None:
        begun = time.monotonic()
        self.screen.save(self.out / f"{name}.png")
        self._looking += time.monotonic() - begun

    def _get_engine(self) -> None:
        def ready() -> bool:
            return any(self._data.glob("program/environments/[!.]*/complete.json"))

        begun = time.monotonic()
        if not self.door.offline:  # a fat one has begun by itself
            self.screen.press("Return")
            time.sleep(1.5)
            self.screen.picture().save(str(self.out / "installing.png"))
        wait_until(ready, "the engine was not installed", ENGINE)
        self.found["engine"] = time.monotonic() - begun
        engine = str(self._data / "program/environments")
        said = call(["du", "-sB1", engine], check=False)  # of what is still moved it says that it is gone
        self.found["engine MB"] = round(int(re.findall(r"^(\d+)\t", said, re.M)[-1]) / 1e6)
        wait_until(lambda: (self._data / "chats.db").exists(), "no main window", 60)
        wait_until(self.screen.has_window, "no main window", 60)
        self.screen.settle(4)

    def _first_answer(self) -> None:
        for step in ("welcome", "computer", "model"):
            self._picture(f"tour-{step}")
            self.screen.press("Return")
            self.screen.settle(3)
        self._picture("chat")
        self.screen.write("Hello")
        self.screen.press("Return")
        wait_until(self._answered, "no answer came", ANSWER)
        self._picture("answer")

    def _answered(self) -> bool:
        with closing(sqlite3.connect(f"file:{self._data}/chats.db?mode=ro", uri=True)) as chats:
            try:
                asked = (
                    "SELECT content FROM messages WHERE role = 'assistant' AND state <> 'streaming' AND content <> ''"
                )
                return chats.execute(asked).fetchone() is not None
            except sqlite3.OperationalError:  # locked, or without tables yet
                return False

    def _open_file(self, name: str) -> None:
        """A model's file, opened from the file manager while the window is open."""
        if self.gguf is None:
            return
        place = self.system.home_folder / "a model.gguf"
        shutil.copy(self.gguf, place)
        os.chown(place, USER, USER)
        call(self._inside(self._command(f"{self.system.home}/a model.gguf")))
        self._picture(name)
        self.screen.press("Escape")
        place.unlink()

    def _close(self) -> None:
        assert self._process is not None
        self.screen.press("alt+F4")  # what the window manager closes a window by
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self.found["had to be killed"] = True
            self._process.kill()

    def _terminal(self) -> None:
        command = self._command()[0] + "-cli"
        begun = time.monotonic()
        said = call(self._inside([command, "chat", "builtin", "--greedy", "--prompt", "Hello", "--json"]))
        self.found["terminal: answer"] = time.monotonic() - begun
        self.found["terminal: said"] = re.findall(r'"text": ("(?:[^"\\]|\\.)*")', said)[-1:]

    def _forget(self) -> None:
        """Have the system forget what it has read of the files that a start reads, where nobody else uses them."""
        root = self.system.folder
        for place in (root / "opt", root / "usr/lib", self.system.home_folder):
            for path in place.rglob("*"):
                if path.is_file() and not path.is_symlink():
                    file = os.open(path, os.O_RDONLY)
                    os.fdatasync(file)
                    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                    os.close(file)
