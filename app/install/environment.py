"""The engine's environment: a virtual environment with exactly the locked packages, whole or not there at all.

And how the packages are reached: mirror, proxy, or a folder of wheels.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname
from zipfile import ZipFile

from filelock import FileLock, Timeout
from packaging.pylock import PackageWheel, Pylock, PylockSelectError, PylockValidationError

from app.install.download import Downloader, InstallProblem, PackageFile, Reason, free_bytes, problem_from_oserror
from app.install.launch import write_known, write_whole
from app.install.release import Release, program_folder, running
from engine import filesystem, windows

_log = logging.getLogger(__name__)

# Bytes of all packages of the locks, torch's 192 and 122 MB among them, before they are asked for: what the page of the
# first start says. tests.installers measures what then comes; anew where torch's lock changes.
_DOWNLOAD = 180_000_000 if sys.platform == "win32" else 257_000_000
_UNPACKED = 4.0  # bytes on the disk for each byte of all wheels, compiled code included: 257 MB make 1.0 GB
_SPARE = 200 << 20  # bytes left over on the disk
_POLL = 0.1  # seconds
PATIENCE = 60.0  # seconds for a virus scanner that has one of thousands of new files open; torch's largest has 250 MB
_LISTING = ("pip", "compile", "--quiet", "--no-deps", "--no-header", "--format", "pylock.toml")
# What is imported here is also compiled here, so that the first start does not wait for it.
# The engine's package comes first, since it tells Windows where torch's own libraries are.
_CHECK = "import engine, torch, transformers, tokenizers, safetensors, numpy, hqq; torch.ones(2).sum()"


@dataclass(frozen=True)
class InstallProgress:
    """step: list, download, install or check. done, total: bytes; total 0 where it is not known."""

    step: str
    done: int = 0
    total: int = 0


class EngineEnvironment:
    """The environment of a release's engine on this Python, below `program`. Another lock has another folder."""

    def __init__(self, release: Release, program: Path) -> None:
        self.release, self.program = release, program
        made_of = hashlib.sha256(f"{sys.version_info[:2]} {os.path.realpath(_interpreter())}".encode())
        for lock in release.locks:
            made_of.update(lock.read_bytes())
        self.folder = program / "environments" / made_of.hexdigest()[:16]
        self.python = _python(self.folder)

    @property
    def is_ready(self) -> bool:
        """Whether it is whole. A folder has its final name only then; the note is a second belt."""
        return (self.folder / "complete.json").is_file() and self.python.exists()

    @property
    def download_bytes(self) -> int:
        """About how much comes over the network; what a fat installer has brought instead of it."""
        return sum(wheel.stat().st_size for wheel in self.release.shipped) if self.release.is_fat else _DOWNLOAD

    @property
    def disk_bytes(self) -> int:
        """About how much the environment takes on the disk."""
        return int(self.download_bytes * _UNPACKED)

    def install(self, options: Options, stop: threading.Event, report: Callable[[InstallProgress], object]) -> None:
        """Have it whole. Called on a thread of its own. Raises InstallProblem; what was downloaded is kept then.

        stop: set to leave off. report: gets InstallProgress on any thread.
        """
        try:
            self.program.mkdir(parents=True, exist_ok=True)
            with FileLock(self.program / "install.lock", timeout=0):
                if not self.is_ready:
                    self._clear_remains()
                    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=self.folder.parent))
                    try:
                        _Build(self, fresh, options, stop, report).run()
                    finally:
                        with suppress(OSError):  # the next installation tries again
                            filesystem.remove_tree(fresh)
        except Timeout as error:
            raise InstallProblem(Reason.BUSY) from error
        except OSError as error:
            raise problem_from_oserror(error) from error

    def _clear_remains(self) -> None:
        """Of an installation that was killed."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        for left in self.folder.parent.glob(".new-*"):
            with suppress(OSError):  # what is still open stays until the next time
                filesystem.remove_tree(left)
        if self.folder.exists():  # not ready, yet by that name: damaged by another program
            filesystem.remove_tree(self.folder)


def _interpreter() -> str:
    """The Python of this installation: windows run by another program of it on Windows, which has no terminal.

    Both must find the same environment.
    """
    own = Path(sys.executable)
    return str(own.with_name("python.exe")) if own.name.lower() == "pythonw.exe" else sys.executable


def engine_path(data: Path) -> list[str]:
    """Where the engine's packages lie, if not beside the window's. data: the user's folder of Underhill."""
    release = running()
    if release is None:
        return []
    folder = EngineEnvironment(release, program_folder(data)).folder
    return [str(path) for path in (folder / "Lib" / "site-packages", *folder.glob("lib/python*/site-packages"))]


class _Build:
    def __init__(
        self, made: EngineEnvironment, fresh: Path, options: Options, stop: threading.Event,
        report: Callable[[InstallProgress], object],
    ) -> None:  # fmt: skip
        self._made, self._fresh, self._options, self._stop, self._report = made, fresh, options, stop, report
        self._downloads = made.program / "downloads"
        self._log = made.program / "install.log"

    def run(self) -> None:
        made = self._made
        self._log.write_bytes(b"")
        wheels = self._wheels_here()
        if wheels is None:
            wheels = self._downloads
            self._download()
        _log.info("Installing the engine's packages from %s", wheels)
        found = [*wheels.glob("*.whl"), *made.release.shipped]
        self._need(sum(map(_unpacked, found)))
        self._report(InstallProgress("install"))
        environment = self._fresh / "environment"
        self._uv("venv", "--quiet", "--relocatable", "--python", _interpreter(), str(environment))
        lock, torch = made.release.locks
        install = ("pip", "install", "--quiet", "--no-deps", "--no-index", "--python", str(_python(environment)))
        self._uv(*install, "--require-hashes", "--find-links", str(wheels), "-r", str(lock), "-r", str(torch))
        own = [wheel for wheel in made.release.shipped if _is_unlocked(wheel, lock, torch)]
        if own:
            self._uv(*install, *map(str, own))
        self._report(InstallProgress("check"))
        own_code = {**os.environ, "PYTHONPATH": str(made.release.folder / "app")}
        self._run([str(_python(environment)), "-P", "-c", _CHECK], own_code)
        write_whole(environment / "complete.json", {"version": made.release.version})
        filesystem.replace(environment, made.folder, PATIENCE)
        shutil.rmtree(self._downloads, ignore_errors=True)

    def _wheels_here(self) -> Path | None:
        if self._options.wheels:
            return Path(self._options.wheels)
        return self._made.release.folder / "packages" if self._made.release.is_fat else None

    def _download(self) -> None:
        self._report(InstallProgress("list"))
        lock, torch = self._made.release.locks
        files = [*self._listed(lock), *self._listed(torch, *self._where_torch_is(torch))]
        total = sum(file.size for file in files)
        have = sum(path.stat().st_size for path in self._downloads.glob("*")) if self._downloads.is_dir() else 0
        self._need(max(0, total - have) + int(total * _UNPACKED))

        def report(done: int) -> None:
            self._report(InstallProgress("download", done, total))

        Downloader(self._downloads, self._stop, report, self._options.proxy).fetch_all(files)

    def _where_torch_is(self, lock: Path) -> tuple[str, ...]:
        """Its builds for the CPU are on an index of their own, which uv knows, or where one has said."""
        if "+cpu" not in lock.read_text(encoding="utf-8"):
            return ()
        return ("--no-index",) if "UV_FIND_LINKS" in self._options.environment() else ("--torch-backend", "cpu")

    def _listed(self, lock: Path, *more: str) -> list[PackageFile]:
        """Address and size of each package's file for this computer. Only what the lock has the hash of is taken."""
        out = self._fresh / "pylock.toml"
        python = ("--python", _interpreter())
        self._uv(*_LISTING, *python, *more, "--output-file", str(out), str(lock), network=True)
        text = lock.read_text(encoding="utf-8")
        files = []
        try:
            for package, chosen in Pylock.from_dict(tomllib.loads(out.read_text(encoding="utf-8"))).select():
                if not isinstance(chosen, PackageWheel) or chosen.hashes.get("sha256", "-") not in text:
                    raise InstallProblem(Reason.DAMAGED, f"{package.name} is not as it was locked")
                url = chosen.url or Path(str(chosen.path)).resolve().as_uri()
                files.append(PackageFile(chosen.filename, url, chosen.size or _size(url), chosen.hashes["sha256"]))
        except (PylockValidationError, PylockSelectError) as error:
            raise InstallProblem(Reason.FAILED, str(error)) from error
        finally:
            out.unlink(missing_ok=True)
        return files

    def _need(self, count: int) -> None:
        free = free_bytes(self._made.program)
        if free < count + _SPARE:
            raise InstallProblem(Reason.DISK_FULL, f"{(count + _SPARE) >> 20} MB are needed, {free >> 20} MB are free")

    def _uv(self, *arguments: str, network: bool = False) -> None:
        environment = self._options.environment()
        environment["UV_CACHE_DIR"] = str(self._fresh / "cache")  # on the same disk: linked from there, not copied
        self._run([str(self._made.release.uv), *arguments], environment, network)

    def _run(self, command: Sequence[str], environment: dict[str, str], network: bool = False) -> None:
        start = self._log.stat().st_size
        with self._log.open("ab") as out:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=environment,
                cwd=self._fresh, creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )  # fmt: skip
            with suppress(OSError):  # one that stays behind only finishes what it does
                windows.end_with_this_process(process)
            while process.poll() is None:
                if self._stop.wait(_POLL):
                    process.kill()
                    process.wait()
                    raise InstallProblem(Reason.STOPPED)
        if process.returncode:
            with self._log.open("rb") as log:
                log.seek(start)
                said = log.read().decode("utf-8", "replace")
            _log.error("%s ended with exit code %d: %s", command[1], process.returncode, said)
            raise InstallProblem(_reason(said, network), said[-2000:])


def _reason(said: str, network: bool) -> Reason:
    if "No space left" in said or "os error 28" in said or "os error 112" in said:
        return Reason.DISK_FULL
    return Reason.NETWORK if network else Reason.FAILED


def _python(environment: Path) -> Path:
    return environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def _unpacked(wheel: Path) -> int:
    with ZipFile(wheel) as inside:
        return sum(entry.file_size for entry in inside.infolist())


def _size(url: str) -> int:
    """Of a file on this computer, which a list of packages says nothing about; 0 for what is elsewhere."""
    parts = urlsplit(url)
    return os.path.getsize(url2pathname(parts.path)) if parts.scheme == "file" else 0


def _is_unlocked(wheel: Path, *locks: Path) -> bool:
    name = wheel.name.split("-")[0].replace("_", "-").lower()
    return not any(f"\n{name}==" in f"\n{lock.read_text(encoding='utf-8')}" for lock in locks)


@dataclass(frozen=True)
class Options:
    """All '' by default: then uv's own index is asked, and the system's proxy used.

    mirror: address of a package index. torch: address of a page or a folder with torch's builds. proxy: address.
    wheels: a folder with all wheels; then nothing is downloaded.
    """

    mirror: str = ""
    torch: str = ""
    proxy: str = ""
    wheels: str = ""

    def environment(self) -> dict[str, str]:
        """The environment that uv is started with: the variables of this process, and what is set here."""
        made = {**os.environ, "UV_NO_PROGRESS": "1", "UV_PYTHON_DOWNLOADS": "never", "NO_COLOR": "1"}
        if self.mirror:
            made["UV_DEFAULT_INDEX"] = self.mirror
        if self.torch:
            made["UV_FIND_LINKS"] = self.torch
        if self.proxy:
            made |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), self.proxy)
        return made


def load_options(path: Path) -> Options:
    """What is kept at `path`; the defaults where that cannot be read."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        known = {f.name: kept[f.name] for f in dataclasses.fields(Options) if isinstance(kept.get(f.name), str)}
    except (OSError, ValueError, AttributeError):
        return Options()
    return Options(**known)


def save_options(options: Options, path: Path) -> None:
    """Keep them. Raises OSError."""
    write_known(path, dataclasses.asdict(options))
