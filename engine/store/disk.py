"""Positional reads straight into caller's memory: direct I/O where it works, buffered where asked for. POSIX."""

from __future__ import annotations

import errno
import mmap
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from engine.record.layout import ALIGN
from engine.regular_file import open_descriptor

IOV_MAX = 1024  # buffers in one call, by Linux (UIO_MAXIOV); with more preadv fails with EINVAL


class DataFile(Protocol):
    """An open, read-only data file. read() may be called from many threads at once.

    stride: lengths that are multiples of it are read fastest. scatters: one read fills several buffers as fast as one.
    handle: what the system knows it by, for native code; None: it is no file of the system.
    """

    size: int
    direct: bool
    stride: int
    scatters: bool

    @property
    def handle(self) -> int | None: ...

    def read(self, offset: int, buffers: Sequence[memoryview]) -> int:
        """Fill the buffers in turn with the bytes from `offset` on; returns how many there were.

        Direct files want offset, lengths and addresses to be multiples of 4096. Raises OSError.
        """

    def close(self) -> None:
        """Release the descriptor. Closing twice is allowed."""


class PosixFile:
    """preadv on one descriptor; O_DIRECT when `direct`."""

    stride = ALIGN
    scatters = True
    size: int  # declared here, as what follows `raise` does not exist for mypy --platform win32
    direct: bool
    _fd: int

    def __init__(self, path: Path, direct: bool) -> None:
        """Raises OSError; with `direct`, errno EINVAL when the file system does not do direct I/O."""
        if sys.platform == "win32":
            raise OSError(errno.ENOSYS, "there it is WindowsFile")
        flags = os.O_CLOEXEC
        if direct:
            if not hasattr(os, "O_DIRECT"):
                raise OSError(errno.EINVAL, "no direct I/O on this system")
            flags |= os.O_DIRECT
        self.direct = direct
        self._fd = open_descriptor(path, flags)
        try:
            self.size = os.fstat(self._fd).st_size
            if direct and self.size >= ALIGN:
                # Some file systems take the flag and refuse the read.
                with mmap.mmap(-1, ALIGN) as page, memoryview(page) as view:
                    self.read(0, [view])
        except OSError:
            self.close()
            raise

    @property
    def handle(self) -> int:
        """The descriptor; -1 once it is closed."""
        return self._fd

    def read(self, offset: int, buffers: Sequence[memoryview]) -> int:
        if sys.platform == "win32":
            raise OSError(errno.ENOSYS, "there it is WindowsFile")
        wanted = [b for b in buffers if b.nbytes]
        done = 0
        while wanted:
            # May give less than was asked for, not only at the end of the file: Linux reads at most 0x7ffff000 bytes in
            # one call. Python tries again by itself after a signal (PEP 475).
            n = os.preadv(self._fd, wanted[:IOV_MAX], offset + done)
            if n == 0:
                break
            done += n
            while wanted and n >= wanted[0].nbytes:
                n -= wanted.pop(0).nbytes
            if n:
                wanted[0] = wanted[0][n:]
        return done

    def forget(self, offset: int, nbytes: int) -> None:
        """What was read there is not read again soon: the system need not keep a copy, which would be charged to us."""
        if not self.direct and sys.platform == "linux":
            os.posix_fadvise(self._fd, offset, nbytes, os.POSIX_FADV_DONTNEED)

    def scattered(self) -> None:
        """From now on it is read here and there, so that nothing is read ahead."""
        if sys.platform == "linux":
            os.posix_fadvise(self._fd, 0, 0, os.POSIX_FADV_RANDOM)

    def expect(self, offset: int, nbytes: int) -> None:
        """It is read there soon: the system may begin, without anybody waiting."""
        if not self.direct and sys.platform == "linux":
            os.posix_fadvise(self._fd, offset, nbytes, os.POSIX_FADV_WILLNEED)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def open_file(path: Path, direct: bool) -> DataFile:
    """The data file at `path`, by the means of this system. Raises OSError as PosixFile does."""
    if sys.platform == "win32":
        from engine.store.disk_windows import WindowsFile

        return WindowsFile(path, direct)
    return PosixFile(path, direct)
