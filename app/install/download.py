"""Downloads files over HTTP(S), several at once: resumed where they were cut, and known by their SHA-256.

InstallProblem says why that, or an installation, stopped.
"""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import shutil
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from engine import filesystem

_CHUNK = 1 << 18  # bytes; progress is told after each
_TIMEOUT = 30  # seconds without a byte
_WAITS = (1.0, 2.0, 4.0, 8.0)  # seconds between tries; a try that brought something begins them anew
_AT_ONCE = 4  # most packages are small, and each costs a round trip or two
_GIVE_UP = (401, 403, 404, 407, 410)  # answers that the next try would get as well; 407: of a proxy
_FULL = {errno.ENOSPC, errno.EDQUOT}


@dataclass(frozen=True)
class PackageFile:
    """size: bytes, 0 where it is not known. sha256: hexadecimal. url: http, https or file."""

    name: str
    url: str
    size: int
    sha256: str


class Downloader:
    """Downloads into `folder`; the part of a file that has come is kept there and taken up by the next one."""

    def __init__(self, folder: Path, stop: threading.Event, progress: Callable[[int], object], proxy: str = "") -> None:
        """progress: gets the number of bytes that are there, on any thread. stop: set to leave off."""
        self._folder, self._stop, self._progress = folder, stop, progress
        handlers = [urllib.request.ProxyHandler({"http": proxy, "https": proxy})] if proxy else []
        self._opener = urllib.request.build_opener(*handlers)
        # Guards `_done`, to which _AT_ONCE threads add; progress is told without it.
        self._lock = threading.Lock()
        self._done = 0

    def fetch_all(self, files: Sequence[PackageFile]) -> None:
        """Have all of them in the folder, under their names. Raises InstallProblem."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise problem_from_oserror(error) from error
        with ThreadPoolExecutor(_AT_ONCE, "download") as pool:
            jobs = [pool.submit(self._fetch, file) for file in files]
            try:
                for job in jobs:
                    job.result()
            except InstallProblem:
                for job in jobs:
                    job.cancel()
                raise

    def _fetch(self, file: PackageFile) -> None:
        target = self._folder / file.name
        part = self._folder / f"{file.sha256}.part"
        if target.is_file():  # it has its name only once its hash was right
            self._add(target.stat().st_size)
            return
        waits = list(_WAITS)
        while True:
            before = part.stat().st_size if part.exists() else 0
            try:
                self._transfer(file, part)
                self._verify_and_rename(file, part, target)
                return
            except urllib.error.HTTPError as error:
                if error.code == 416:  # longer than the file: not of it
                    filesystem.remove(part, missing_ok=True)
                elif error.code in _GIVE_UP:
                    raise InstallProblem(Reason.NETWORK, f"{file.name}: {error}") from error
                reason = str(error)
            except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
                reason = str(error)
            except OSError as error:
                raise problem_from_oserror(error) from error
            if (part.stat().st_size if part.exists() else 0) > before:
                waits = list(_WAITS)
            if not waits:
                raise InstallProblem(Reason.NETWORK, f"{file.name}: {reason}")
            if self._stop.wait(waits.pop(0)):
                raise InstallProblem(Reason.STOPPED)

    def _transfer(self, file: PackageFile, part: Path) -> None:
        have = part.stat().st_size if part.exists() else 0
        if file.size and have >= file.size:
            self._add(have)
            return
        request = urllib.request.Request(file.url, headers={"Range": f"bytes={have}-"} if have else {})
        told = 0
        try:
            with self._opener.open(request, timeout=_TIMEOUT) as answer:
                if have and answer.status != 206:  # it sends all of it
                    have = 0
                with part.open("ab" if have else "wb") as out:
                    self._add(have)
                    told = have
                    while block := answer.read(_CHUNK):
                        if self._stop.is_set():
                            raise InstallProblem(Reason.STOPPED)
                        out.write(block)
                        self._add(len(block))
                        told += len(block)
                if file.size and told < file.size:
                    raise ConnectionError(f"cut after {told} of {file.size} bytes")
        except BaseException:
            self._add(-told)  # the next try tells it again
            raise

    def _verify_and_rename(self, file: PackageFile, part: Path, target: Path) -> None:
        with part.open("r+b") as made:  # Windows brings to the disk only what may be written
            found = hashlib.file_digest(made, "sha256").hexdigest()
            os.fsync(made.fileno())
        if found != file.sha256:
            self._add(-part.stat().st_size)
            filesystem.remove(part)
            raise InstallProblem(Reason.DAMAGED, f"{file.name}: SHA-256 {found} instead of {file.sha256}")
        filesystem.replace(part, target)

    def _add(self, count: int) -> None:
        with self._lock:
            self._done += count
            done = self._done
        self._progress(done)


def free_bytes(folder: Path) -> int:
    """On the disk of a folder, which may not be there yet."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


class Reason(Enum):
    """The value is the English for a terminal; the window has texts of its own."""

    NETWORK = "the network cannot be reached"
    DISK_FULL = "the disk is full"
    DAMAGED = "what arrived is not what was announced"
    NOT_WRITABLE = "a file cannot be written"
    BUSY = "another Underhill is being set up"
    SIGNATURE = "the update is not signed by Underhill's publisher"
    OLD = "the list of updates is older than one seen before"
    FAILED = "a step failed"
    STOPPED = "it was stopped"


class InstallProblem(Exception):
    """reason: for people. details: for who wants to know more; a line or the end of a log."""

    def __init__(self, reason: Reason, details: str = "") -> None:
        super().__init__(f"{reason.value}{': ' if details else ''}{details}")
        self.reason, self.details = reason, details


def problem_from_oserror(error: OSError) -> InstallProblem:
    """The problem to show for a failed operation on a file: the disk is full, or it cannot be written to."""
    return InstallProblem(Reason.DISK_FULL if error.errno in _FULL else Reason.NOT_WRITABLE, str(error))
