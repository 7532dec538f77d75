"""Fetching one file: in ranges, straight to the disk, hashed on the way, and continued wherever it was cut."""

from __future__ import annotations

import io
import os

from engine.hub import errors
from engine.hub.disk_space import writing
from engine.hub.ranges import DownloadContext, RangeDownload
from engine.hub.revision import RemoteFile
from engine.regular_file import open_to_append, open_unbuffered
from engine.store.atomic import sync_directory

__all__ = ["PART", "DownloadContext", "fetch"]

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
            self.part.replace(self.context.folder / self.file.name)
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
            os.fsync(out.fileno())
        if self.file.checksum in ("", self.hash.hexdigest()):
            return True
        with writing(self.context.folder):
            self.part.unlink()
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
