"""The bytes of one file on a hub, in ranges: asked for again where the connection ends or the hub is busy."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx2

from engine.errors import Kind
from engine.hub import errors
from engine.hub.client import Hub
from engine.hub.control import Control
from engine.hub.disk_space import DiskSpaceGuard
from engine.hub.meter import Meter
from engine.hub.retry import Retry, RetryPolicy
from engine.hub.revision import RemoteFile
from engine.translatable import msg

CHUNK = 8 << 20  # bytes asked for at once
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_LENGTH = re.compile(r"[0-9]{1,18}")

Take = Callable[[memoryview], None]  # gets the bytes as they arrive, in order


@dataclass(frozen=True)
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
            if linked and linked != self.file.checksum:
                raise errors.changed(name)
        if response.status_code == 206:
            found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
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
