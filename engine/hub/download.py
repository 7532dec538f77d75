"""Downloading the files of one revision: several at once, to be paused, stopped, killed and continued at any byte."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import asdict
from pathlib import Path

from engine.formats.origin import NOTE
from engine.hub import errors
from engine.hub.client import Hub
from engine.hub.control import Control
from engine.hub.disk_space import DiskSpaceGuard, writing
from engine.hub.fetch import PART, DownloadContext, fetch
from engine.hub.meter import DownloadProgress, Meter
from engine.hub.outline import Outline
from engine.hub.retry import RetryPolicy
from engine.hub.revision import RemoteFile
from engine.hub.spool import NAME as ARRIVING
from engine.limits import INDEX_BYTES
from engine.regular_file import read_json
from engine.store.atomic import replace_file
from engine.store.lock import FileLock
from engine.translatable import msg

Report = Callable[[DownloadProgress], None]  # may raise to stop the download

AT_ONCE = 4  # files
TICK = 0.2  # seconds between reports
_GOODBYE = 2.0  # seconds that are waited for files that were stopped


def folder_of(home: Path, repo: str) -> Path:
    """Where a model is downloaded to, below the folder of Underhill's data."""
    return home / "downloads" / repo.replace("/", "--")


def download(
    hub: Hub,
    outline: Outline,
    folder: Path,
    control: Control | None = None,
    report: Report | None = None,
    retry_policy: RetryPolicy | None = None,
    room: int = 0,
    passing: bool = False,
) -> Path:
    """Bring all files of `outline` into `folder`, which is given back.

    What an earlier call left there is continued, also after the process was killed; files that are another revision's
    are kept where they are the same. room: further bytes that must be free on that disk, for what comes after.
    passing: the caller will `discard` it.
    Raises UnderhillError, CANCELLED among them; what has arrived stays.
    """
    control = control or Control()
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(folder.name + ".lock"), msg("A download of {repo}", repo=outline.repo)):
        settle(folder, hub.endpoint, outline, passing)
        missing = [file for file in outline.files if not is_there(folder, file)]
        meter = Meter(outline.download_bytes, len(outline.files))
        for file in outline.files:
            if file not in missing:
                meter.had(file.size)
                meter.file_done()
        disk = DiskSpaceGuard(folder)
        parts = {file.name: _part_size(folder, file) for file in missing}
        with errors.noting(lambda: meter.done + sum(parts.values())):
            disk.check(sum(file.size - parts[file.name] for file in missing) + room)
        context = DownloadContext(
            hub, outline.repo, outline.commit, folder, control, meter, disk, retry_policy or RetryPolicy()
        )
        bring(context, missing, report)
        _note(folder, hub.endpoint, outline, _verified(folder, outline.files), passing)
    return folder


def discard(folder: Path) -> None:
    """Remove what a download has brought, whole files and parts. Raises UnderhillError, BUSY among them."""
    with FileLock(folder.with_name(folder.name + ".lock"), msg("This download")), writing(folder):
        for name in _noted(folder):
            _remove(folder, name)
        shutil.rmtree(folder / ARRIVING, ignore_errors=True)
        (folder / NOTE).unlink(missing_ok=True)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def bring(context: DownloadContext, files: list[RemoteFile], report: Report | None) -> None:
    """Fetch files; the first error stops the others."""
    pool = ThreadPoolExecutor(AT_ONCE, "download")
    futures: list[Future[None]] = []
    try:
        futures += (pool.submit(fetch, context, file) for file in files)
        pending = set(futures)
        while pending:
            done, pending = wait(pending, TICK, FIRST_EXCEPTION)
            if report is not None:
                report(context.meter.progress())
            with errors.noting(lambda: context.meter.done):
                for future in done:
                    future.result()
    except BaseException:
        context.control.cancel()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        # One that waits for a silent server ends by itself, within limits.SILENCE_SECONDS, and writes nothing any more.
        wait(futures, _GOODBYE)


def settle(folder: Path, endpoint: str, outline: Outline, passing: bool) -> None:
    """Remove what an earlier download left and this one has no use for; note what this one is."""
    earlier = _noted(folder)
    for file in outline.files:
        if earlier.pop(file.name, None) != asdict(file):
            _remove(folder, file.name)
    for name in earlier:
        _remove(folder, name)
    _note(folder, endpoint, outline, {}, passing)


def was_passing(folder: Path, outline: Outline) -> bool:
    """Whether `folder` has something of this very download, which nobody wanted to keep."""
    try:
        note = read_json(folder / NOTE, INDEX_BYTES)
        return bool(note["passing"]) and (note["repo"], note["commit"]) == (outline.repo, outline.commit)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _note(folder: Path, endpoint: str, outline: Outline, verified: dict[str, object], passing: bool) -> None:
    note = {
        "repo": outline.repo,
        "commit": outline.commit,
        "endpoint": endpoint,
        "passing": passing,
        "files": [asdict(file) for file in outline.files],
        "verified": verified,
    }
    with writing(folder):
        replace_file(folder / NOTE, json.dumps(note, indent=1).encode())


def _verified(folder: Path, files: tuple[RemoteFile, ...]) -> dict[str, object]:
    """What origin.verified reads: the files that are whole and had the right SHA-256, as they are now."""
    found: dict[str, object] = {}
    for file in files:
        if file.sha256:
            stat = (folder / file.name).stat()
            found[file.name] = {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": file.sha256}
    return found


def _noted(folder: Path) -> dict[str, dict[str, object]]:
    """The files of the download that was here before, by name."""
    try:
        files = read_json(folder / NOTE, INDEX_BYTES)["files"]
        return {name: file for file in files if "/" not in (name := str(file["name"])) and "\\" not in name}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _remove(folder: Path, name: str) -> None:
    with writing(folder):
        for path in (folder / name, folder / (name + PART)):
            path.unlink(missing_ok=True)


def has_begun(folder: Path, file: RemoteFile) -> bool:
    """Whether an earlier download has brought some of it."""
    return any((folder / name).exists() for name in (file.name, file.name + PART))


def is_there(folder: Path, file: RemoteFile) -> bool:
    """Whether it is whole: only what is right gets this name, so its size tells."""
    try:
        return (folder / file.name).stat().st_size == file.size
    except OSError:
        return False


def _part_size(folder: Path, file: RemoteFile) -> int:
    try:
        size = (folder / (file.name + PART)).stat().st_size
    except OSError:
        return 0
    return size if size <= file.size else 0
