"""Updates: a signed list of the parts of a newer release; what is not here yet is downloaded, and starts next time.

Nothing of the release that runs is changed. A new one is laid down in a fresh folder, which is renamed once it is
whole; its engine is installed in another; then one line of state.json names it (`app/install/launch.py`).
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tarfile
import tempfile
import threading
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from filelock import FileLock, Timeout

from app.install import launch
from app.install.download import Downloader, InstallProblem, PackageFile, Reason, free_bytes, problem_from_oserror
from app.install.environment import PATIENCE, EngineEnvironment, InstallProgress, Options
from app.install.release import NOTE, Release
from app.install.signature import check_signature
from engine import filesystem

FORMAT = 1  # of the list; one of another format is for programs newer than this
PLATFORM = f"{'windows' if sys.platform == 'win32' else sys.platform}-x86_64"
_MOST = 1 << 20  # bytes of a list
_TIMEOUT = 30  # seconds
# Python before 3.11.4 has no filters. What is unpacked is named by hash in a signed list.
_FILTER: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
_UNPACKED = 5  # bytes on the disk for each byte of a part: xz makes a quarter of it
HELD_BACK_DAYS = 90  # without a newly signed list; the publisher signs one every month, with something new or without
FOLDERS = {"app": ("app", "packages"), "qt": ("qt", "bin")}  # of each part


@dataclass(frozen=True)
class UpdatePart:
    """An archive. digest: of the files in it, as release.json names it; by this it is known what is here already."""

    name: str
    file: PackageFile
    digest: str


@dataclass(frozen=True)
class Update:
    """A newer release. note: its release.json. signed_on: when its list was signed."""

    version: str
    parts: tuple[UpdatePart, ...]
    note: dict[str, Any]
    signed_on: datetime

    def missing(self, release: Release) -> tuple[UpdatePart, ...]:
        """The parts that `release` does not have."""
        here = release.note["parts"]
        return tuple(part for part in self.parts if here.get(part.name) != part.digest)


def find_update(release: Release, program: Path, options: Options, python: Path) -> Update | None:
    """Ask the address that `release` names. None where there is nothing newer. Raises InstallProblem.

    A list that was signed before the newest one seen is refused: somebody on the way could send it to keep this
    computer at an old release. python: an interpreter that can verify signatures.
    """
    _see(program, None)
    source = release.note["updates"]
    address = urljoin(source["address"], f"{PLATFORM}.json")
    proxy = {"http": options.proxy, "https": options.proxy}
    opener = urllib.request.build_opener(*([urllib.request.ProxyHandler(proxy)] if options.proxy else []))
    try:
        with opener.open(address, timeout=_TIMEOUT) as answer:
            found = answer.read(_MOST + 1)
    except (OSError, HTTPException, ValueError) as error:  # URLError and odd addresses are among them
        raise InstallProblem(Reason.NETWORK, f"{address}: {error}") from error
    try:
        envelope = json.loads(found[:_MOST])
        signed, signature = str(envelope["signed"]).encode("utf-8"), str(envelope["signature"])
    except (ValueError, KeyError, TypeError) as error:
        raise InstallProblem(Reason.DAMAGED, address) from error
    check_signature(signed, signature, source["keys"], python)
    update = read_update(json.loads(signed), address)
    _see(program, update.signed_on)
    newer = launch.number(update.version) > launch.number(release.version)
    return update if newer and update.version not in launch.load(program).refused else None


def held_back_since(program: Path, today: date) -> date | None:
    """The day of the newest signed list, or of the first look, where that is more than HELD_BACK_DAYS ago; else None.

    Then the publisher has stopped, this computer cannot reach the address, or somebody on the way holds lists back.
    """
    began, newest = _seen(program)
    last = max((moment for moment in (began, newest) if moment is not None), default=None)
    return last.date() if last is not None and (today - last.date()).days > HELD_BACK_DAYS else None


def _seen(program: Path) -> tuple[datetime | None, datetime | None]:
    """When updates were first asked for, and when the newest list was signed. Not in state.json, which the launcher
    of an older release writes too, and with what it knows alone."""
    try:
        said = json.loads((program / "lists.json").read_text(encoding="utf-8"))
        began, newest = said["began"], said["newest"]
        return _moment(began), _moment(newest) if newest else None
    except (OSError, ValueError, KeyError, TypeError):
        return None, None


def _see(program: Path, signed_on: datetime | None) -> None:
    """Note a list that is newer than the newest one seen; before any, the first look. Raises InstallProblem."""
    began, newest = _seen(program)
    if signed_on is not None and newest is not None and signed_on < newest:
        raise InstallProblem(Reason.OLD, f"{signed_on:%Y-%m-%d}, {newest:%Y-%m-%d}")
    noted = began or datetime.now(UTC), signed_on or newest
    if noted != (began, newest):
        said = {"began": noted[0].isoformat(), "newest": noted[1].isoformat() if noted[1] else ""}
        try:
            launch.write_whole(program / "lists.json", said)
        except OSError as error:
            raise problem_from_oserror(error) from error


def _moment(text: str) -> datetime:
    """Raises ValueError or TypeError."""
    return datetime.fromisoformat(text).astimezone(UTC)


def read_update(said: Any, address: str) -> Update:
    """What a list says, once its signature was right. Raises InstallProblem."""
    try:
        if said["format"] != FORMAT or said["platform"] != PLATFORM:
            raise InstallProblem(Reason.FAILED, f"an update of format {said['format']} for {said['platform']}")
        version = str(said["version"])
        if not all(part.isdigit() for part in version.split(".")):  # it names a folder
            raise ValueError(version)
        parts = tuple(_part(name, part, address) for name, part in said["parts"].items())
        if sorted(part.name for part in parts) != sorted(FOLDERS):
            raise ValueError(str(list(said["parts"])))
        note = {
            "version": version, "parts": {part.name: part.digest for part in parts}, "updates": said["updates"],
        }  # fmt: skip
        signed_on = _moment(said["date"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InstallProblem(Reason.DAMAGED, repr(error)) from error
    return Update(version, parts, note, signed_on)


def _part(name: str, said: Any, address: str) -> UpdatePart:
    file = PackageFile(f"{name}-{said['sha256']}", urljoin(address, said["file"]), said["size"], said["sha256"])
    return UpdatePart(name, file, said["digest"])


def prepare(
    update: Update, release: Release, program: Path, options: Options, stop: threading.Event,
    report: Callable[[InstallProgress], object],
) -> None:  # fmt: skip
    """Have a newer release and its engine whole, and start it next time. Raises InstallProblem.

    release: the one that runs; nothing of it is changed. stop, report: as in EngineEnvironment.install.
    """
    folder = program / "releases" / update.version
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(program / "update.lock", timeout=0):
            if launch.version_of(folder) != update.version:
                for left in folder.parent.glob(".new-*"):
                    shutil.rmtree(left, ignore_errors=True)
                _lay_down(update, release, folder, options, stop, report)
            EngineEnvironment(Release(folder), program).install(options, stop, report)
            state = launch.load(program)
            state.following = update.version
            launch.save(state, program)
            shutil.rmtree(program / "parts", ignore_errors=True)
    except Timeout as error:
        raise InstallProblem(Reason.BUSY) from error
    except OSError as error:
        raise problem_from_oserror(error) from error


def _lay_down(
    update: Update, release: Release, folder: Path, options: Options, stop: threading.Event,
    report: Callable[[InstallProgress], object],
) -> None:  # fmt: skip
    missing = update.missing(release)
    total = sum(part.file.size for part in missing)
    if (free := free_bytes(folder.parent)) < (need := total * (1 + _UNPACKED)):
        raise InstallProblem(Reason.DISK_FULL, f"{need >> 20} MB are needed, {free >> 20} MB are free")

    def told(done: int) -> None:
        report(InstallProgress("download", done, total))

    archives = folder.parent.parent / "parts"
    Downloader(archives, stop, told, options.proxy).fetch_all([part.file for part in missing])
    report(InstallProgress("install"))
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent, ignore_cleanup_errors=True) as work:
        fresh = Path(work, "release")
        fresh.mkdir()
        for part in update.parts:
            if part in missing:
                with tarfile.open(archives / part.file.name) as archive:
                    archive.extractall(fresh, **_FILTER)
            else:
                for name in FOLDERS[part.name]:
                    shutil.copytree(release.folder / name, fresh / name, copy_function=_link, symlinks=True)
        launch.write_whole(fresh / NOTE, update.note)
        if folder.exists():  # not whole, or it would not be made again
            filesystem.remove_tree(folder)
        filesystem.replace(fresh, folder, PATIENCE)


def _link(source: str, target: str) -> None:
    """Files of a release are never changed, so two releases may share them, where they are on the same disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def settle(release: Release, program: Path) -> None:
    """`release` runs and has started well: it is no longer taken back, and what came before it is removed.

    Raises OSError.
    """
    state = launch.load(program)
    is_update = release.folder.parent == program / "releases"
    if state.current != (release.version if is_update else ""):
        return  # another was to start, and could not be counted: nothing is known of that one
    launch.started_well(program)
    state = launch.load(program)
    keep = {EngineEnvironment(release, program).folder.name}
    if state.following:  # prepared already, and starts next time
        keep.add(EngineEnvironment(Release(program / "releases" / state.following), program).folder.name)
    if state.previous:
        state.previous = ""
        launch.save(state, program)
    for kind, names in (("releases", {state.current, state.following}), ("environments", keep)):
        for old in (program / kind).glob("*"):
            if old.name not in names and not old.name.startswith("."):
                shutil.rmtree(old, ignore_errors=True)
