"""Download the files of one revision: several at once, in ranges, hashed on the way, resumable at any byte."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import httpx2

from engine import filesystem
from engine.errors import Kind
from engine.filesystem import replace_file, sync_directory
from engine.formats.checkpoint import NOTE
from engine.hub import errors
from engine.hub.chunks import NAME as ARRIVING
from engine.hub.client import Hub
from engine.hub.control import Control, DiskSpaceGuard, DownloadProgress, Meter, Retry, RetryPolicy, writing
from engine.hub.outline import Outline
from engine.hub.revision import RemoteFile
from engine.limits import INDEX_BYTES
from engine.regular_file import open_to_append, open_unbuffered, read_json
from engine.store.lock import FileLock
from engine.translatable import msg

CHUNK = 8 << 20  # bytes asked for at once
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_LENGTH = re.compile(r"[0-9]{1,18}")

Take = Callable[[memoryview], None]  # gets the bytes as they arrive, in order


@dataclass(frozen=True, kw_only=True)
class DownloadContext:
    """What all files of a download share: the hub and revision, the folder, pausing, progress, disk and retries."""

    hub: Hub
    repo: str
    commit: str
    folder: Path
    control: Control
    meter: Meter
    room: DiskSpaceGuard
    retry_policy: RetryPolicy


class RangeDownload:
    """Fetch the bytes of one file in ranges, and again from where the connection ended.

    place: where the hub sent us on to, to go there at once the next time.

    lends: whether such a place is good for other bytes too; some are for one range only, and all end some time.
    whole: whether a hub that knows no ranges may send everything to the end instead.
    """

    def __init__(self, context: DownloadContext, file: RemoteFile, *, whole: bool) -> None:
        self.context, self.file, self.whole = context, file, whole
        self.url = context.hub.url(context.repo, context.commit, file.path)
        self.place = ""
        self.lends: bool | None = None  # not known yet
        self.at = 0
        self.retry = Retry(context.retry_policy, context.control, partial(context.meter.wait, file.name))

    def get(self, at: int, stop: int, take: Take, check: Callable[[], None] = lambda: None) -> None:
        """Hand bytes at .. stop over as they arrive; more where the hub sends all. Waits while paused.

        check: called before each request; what it raises ends this. Raises UnderhillError, CANCELLED among them.
        """
        self.at = at
        while self.at < stop:
            check()
            before, pauses = self.at, self.context.control.pauses
            try:
                self._once(min(self.at + CHUNK, stop), take)
            except errors.HubError as e:
                if self.at > before:
                    self.retry.moved()
                if self.context.control.interrupted or self.context.control.pauses != pauses:
                    self.context.control.hold()
                else:
                    self.retry.after(e)
            else:
                self.retry.moved()

    def _once(self, stop: int, take: Take) -> None:
        """One request. Raises HubError when it did not get all of it."""
        self.context.control.hold()
        where, lent = self.place or self.url, bool(self.place)
        self.place = ""  # unless this works
        try:
            with self.context.hub.stream(
                where, self.context.repo, {"Range": f"bytes={self.at}-{stop - 1}"}
            ) as response:
                if lent:
                    self.lends = True
                with self.context.control.during(response):
                    skip = self._check(response)
                    stop = stop if response.status_code == 206 else self.file.size
                    self._take(response, skip, stop, take)
                self.place = str(response.url) if self.lends is not False else ""
        except errors.HubError as e:
            if lent and e.kind in (Kind.NO_ACCESS, Kind.NOT_FOUND, Kind.SERVER_ERROR):
                self.lends = self.lends or False  # it ended, or was never good for more than one range: ask the hub
                return
            raise
        if self.at < stop:
            raise errors.cut(where)

    def _check(self, response: httpx2.Response) -> int:
        """Bytes of the body that are here already. Raises HubError unless it is what was asked for."""
        name, size = self.file.name, self.file.size
        for said in (response, *response.history):
            linked = said.headers.get("X-Linked-Etag", "").removeprefix("W/").strip('"')
            # What the hub says of the file it redirects to: found out before gigabytes of another file have come.
            if linked and linked != self.file.checksum:
                raise errors.changed(name)
        if response.status_code == 206:
            found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
            # 80: int() of a header with thousands of digits raises an error of its own.
            if found is None or len(found[0]) > 80 or int(found[1]) != self.at:
                raise errors.nonsense(str(response.url), msg("other bytes than it was asked for"))
            if found[2] != "*" and int(found[2]) != size:
                raise errors.other_size(name, size, int(found[2]))
            return 0
        if (page := errors.instead(response, name)) is not None:
            raise page
        length = response.headers.get("Content-Length", "")
        if _LENGTH.fullmatch(length) and int(length) != size:
            raise errors.other_size(name, size, int(length))
        if not self.whole and size > CHUNK:
            raise errors.no_ranges(str(response.url))
        return self.at

    def _take(self, response: httpx2.Response, skip: int, stop: int, take: Take) -> None:
        for piece in response.iter_raw():
            data = memoryview(piece)[skip:][: stop - self.at]
            skip = max(0, skip - len(piece))
            if self.context.control.stopped:  # another download may already be writing here
                return
            if data:
                take(data)
                self.at += len(data)
            if self.at == stop:  # a pause hangs up, too: what had been received by then is still read
                return


PART = ".part"
_BLOCK = 4 << 20  # bytes hashed at once of what is there already


def fetch(context: DownloadContext, file: RemoteFile) -> None:
    """Bring `file` into the folder, whole and right, or leave what has arrived as NAME.part. Raises UnderhillError."""
    _Fetch(context, file).run()


class _Fetch:
    """at: bytes that are on the disk."""

    def __init__(self, context: DownloadContext, file: RemoteFile) -> None:
        self.context, self.file = context, file
        self.part = context.folder / (file.name + PART)
        self.body = RangeDownload(context, file, whole=True)
        self.at = 0
        self.hash = file.digest()

    def run(self) -> None:
        # Bytes may have been damaged here, in a crash, or on the way; which of them is not known, so all come again.
        if not (self._whole() or self._whole()):
            raise errors.damaged(self.file.name)
        with writing(self.context.folder):
            filesystem.replace(self.part, self.context.folder / self.file.name)
            sync_directory(self.context.folder)
        self.context.meter.file_done()

    def _whole(self) -> bool:
        """Fetch what is missing; whether it is then right. What is wrong is removed."""
        with writing(self.context.folder), open_to_append(self.part) as out:
            self._begin(out)

            def take(data: memoryview) -> None:
                """Write the body as it arrives, so that a killed process has lost nothing of it."""
                while data:
                    n = out.write(data) or 0
                    self.hash.update(bytes(data[:n]))
                    self.at += n
                    self.context.meter.fetched(self.file.name, n)
                    self.context.room.written(n)
                    data = data[n:]

            self.body.get(self.at, self.file.size, take)
            # Before the name says that it is whole: by the name alone a later download takes it for checked.
            os.fsync(out.fileno())
        if self.file.checksum in ("", self.hash.hexdigest()):
            return True
        with writing(self.context.folder):
            filesystem.remove(self.part)
        self.context.meter.had(-self.file.size)
        return False

    def _begin(self, out: io.FileIO) -> None:
        """Take up what is there."""
        size = os.fstat(out.fileno()).st_size
        self.at = 0
        if size > self.file.size:
            os.ftruncate(out.fileno(), 0)
            size = 0
        self.hash = self.file.digest()
        with open_unbuffered(self.part) as done:
            while self.at < size and (block := done.read(min(_BLOCK, size - self.at))):
                self.hash.update(block)
                self.at += len(block)
                self.context.control.hold()
        self.context.meter.had(size)


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
    *,
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
    # Beside the folder, which `discard` removes under it.
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
            hub=hub,
            repo=outline.repo,
            commit=outline.commit,
            folder=folder,
            control=control,
            meter=meter,
            room=disk,
            retry_policy=retry_policy or RetryPolicy(),
        )
        bring(context, missing, report)
        _note(folder, hub.endpoint, outline, _verified(folder, outline.files), passing)
    return folder


def discard(folder: Path) -> None:
    """Remove what a download has brought, whole files and parts. Raises UnderhillError, BUSY among them."""
    with FileLock(folder.with_name(folder.name + ".lock"), msg("This download")), writing(folder):
        for name in noted_downloads(folder):
            _remove(folder, name)
        shutil.rmtree(folder / ARRIVING, ignore_errors=True)
        filesystem.remove(folder / NOTE, missing_ok=True)
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
        # The others would go on fetching for a download that has failed.
        context.control.cancel()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        # One that waits for a silent server ends by itself, within limits.SILENCE_SECONDS, and writes nothing any more.
        wait(futures, _GOODBYE)


def settle(folder: Path, endpoint: str, outline: Outline, passing: bool) -> None:
    """Remove what an earlier download left and this one has no use for; note what this one is."""
    earlier = noted_downloads(folder)
    for file in outline.files:
        if earlier.pop(file.name, None) != asdict(file):
            _remove(folder, file.name)
    for name in earlier:
        _remove(folder, name)
    _note(folder, endpoint, outline, {}, passing)


def was_passing(folder: Path, outline: Outline) -> bool:
    """Whether `folder` has something of this very download, which was not meant to be kept."""
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


def noted_downloads(folder: Path) -> dict[str, dict[str, object]]:
    """The files of the download that was here before, by name."""
    try:
        files = read_json(folder / NOTE, INDEX_BYTES)["files"]
        return {name: file for file in files if "/" not in (name := str(file["name"])) and "\\" not in name}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _remove(folder: Path, name: str) -> None:
    with writing(folder):
        for path in (folder / name, folder / (name + PART)):
            filesystem.remove(path, missing_ok=True)


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
