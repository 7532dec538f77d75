"""Fetching one file: in ranges, straight to the disk, hashed on the way, and continued wherever it was cut."""

from __future__ import annotations

import hashlib
import io
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import httpx2

from engine.errors import Kind
from engine.hub.remote import errors
from engine.hub.remote.client import Hub
from engine.hub.remote.control import Control
from engine.hub.remote.meter import Meter
from engine.hub.remote.retry import Patience, Retry
from engine.hub.remote.revision import RemoteFile
from engine.hub.remote.room import Room, writing
from engine.store.atomic import sync_directory

PART = ".part"
CHUNK = 8 << 20  # bytes asked for at once: the most that can be under way, and lost, when the process is killed
_BLOCK = 4 << 20  # bytes hashed at once of what is there already
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class _Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


@dataclass(frozen=True)
class Means:
    """What all files of a download share."""

    hub: Hub
    repo: str
    commit: str
    folder: Path
    control: Control
    meter: Meter
    room: Room
    patience: Patience


def fetch(means: Means, file: RemoteFile) -> None:
    """Bring `file` into the folder, whole and right, or leave what has arrived as NAME.part. Raises UnderhillError."""
    _Fetch(means, file).run()


class _Fetch:
    """at: bytes that are on the disk. place: where the hub sent us on to, to go there at once the next time.

    lends: whether such a place is good for other bytes too; some are for one range only, and all end some time.
    """

    def __init__(self, means: Means, file: RemoteFile) -> None:
        self.means, self.file = means, file
        self.part = means.folder / (file.name + PART)
        self.url = means.hub.url(means.repo, means.commit, file.name)
        self.place = ""
        self.lends: bool | None = None  # not known yet
        self.at = 0
        self.hash: _Hash = hashlib.sha256()
        self.retry = Retry(file.name, means.patience, means.control, means.meter)

    def run(self) -> None:
        # Bytes may have been damaged here, in a crash, or on the way; which of them is not known, so all come again.
        if not (self._whole() or self._whole()):
            raise errors.damaged(self.file.name)
        with writing(self.means.folder):
            self.part.replace(self.means.folder / self.file.name)
            sync_directory(self.means.folder)
        self.means.meter.file_done()

    def _whole(self) -> bool:
        """Fetch what is missing; whether it is then right. What is wrong is removed."""
        with writing(self.means.folder), open(self.part, "ab", buffering=0) as out:
            self._begin(out)
            while self.at < self.file.size:
                before = self.at
                try:
                    self._chunk(out)
                except errors.HubError as e:
                    if self.at > before:
                        self.retry.moved()
                    if self.means.control.interrupted:
                        self.means.control.hold()
                    else:
                        self.retry.after(e)
                else:
                    self.retry.moved()
            os.fsync(out.fileno())
        expected = self.file.sha256 or self.file.blob
        if not expected or self.hash.hexdigest() == expected:
            return True
        with writing(self.means.folder):
            self.part.unlink()
        self.means.meter.had(-self.file.size)
        return False

    def _begin(self, out: io.FileIO) -> None:
        """Take up what is there."""
        size = os.fstat(out.fileno()).st_size
        self.at = 0
        if size > self.file.size:
            os.ftruncate(out.fileno(), 0)
            size = 0
        if self.file.sha256:
            self.hash = hashlib.sha256()
        else:  # git's checksum of a file
            self.hash = hashlib.sha1(b"blob %d\0" % self.file.size, usedforsecurity=False)
        with open(self.part, "rb", buffering=0) as done:
            while self.at < size and (block := done.read(min(_BLOCK, size - self.at))):
                self.hash.update(block)
                self.at += len(block)
                self.means.control.hold()
        self.means.meter.had(size)

    def _chunk(self, out: io.FileIO) -> None:
        """Fetch the next bytes. Raises HubError when it did not get all of them."""
        self.means.control.hold()
        stop = min(self.at + CHUNK, self.file.size)
        where, lent = self.place or self.url, bool(self.place)
        self.place = ""  # unless this works
        try:
            with self.means.hub.stream(where, self.means.repo, {"Range": f"bytes={self.at}-{stop - 1}"}) as response:
                if lent:
                    self.lends = True
                with self.means.control.during(response):
                    skip = self._check(response)
                    stop = stop if response.status_code == 206 else self.file.size
                    self._take(out, response, skip, stop)
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
            if linked and linked != (self.file.sha256 or self.file.blob):
                raise errors.changed(name)
        if response.status_code == 206:
            found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
            if found is None or int(found[1]) != self.at:
                raise errors.nonsense(str(response.url), "other bytes than it was asked for")
            if found[2] != "*" and int(found[2]) != size:
                raise errors.other_size(name, size, int(found[2]))
            return 0
        length = response.headers.get("Content-Length", "")
        if length.isdigit() and int(length) != size:
            raise errors.other_size(name, size, int(length))
        return self.at

    def _take(self, out: io.FileIO, response: httpx2.Response, skip: int, stop: int) -> None:
        """Write the body as it arrives, so that a killed process has lost nothing of it."""
        for piece in response.iter_raw():
            data = memoryview(piece)[skip:][: stop - self.at]
            skip = max(0, skip - len(piece))
            if self.means.control.stopped:  # another download may already be writing here
                return
            while data:
                n = out.write(data) or 0
                self.hash.update(bytes(data[:n]))
                self.at += n
                self.means.meter.fetched(self.file.name, n)
                self.means.room.written(n)
                data = data[n:]
            if self.at == stop or self.means.control.interrupted:
                return
