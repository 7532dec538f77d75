"""The same as disk.py for Windows: ReadFile past the system's cache, with the lengths that make it fast there.

With FILE_FLAG_NO_BUFFERING a read must start on a sector and have a length in sectors, and it is several times slower
when its length is not a multiple of 64 KiB. Data files end in padding, so a rounded read stays inside the file.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.record.layout import aligned

STRIDE = 65536  # lengths of unbuffered reads are multiples of this
LONGEST = 1 << 30  # bytes in one ReadFile, whose length is 32 bits

# From winnt.h, winbase.h and winerror.h. Shared for deletion: a model may be removed while it is open, as on Linux.
GENERIC_READ = 0x80000000
SHARE_READ_DELETE = 0x1 | 0x4
OPEN_EXISTING = 3
NO_BUFFERING, OVERLAPPED, RANDOM_ACCESS = 0x20000000, 0x40000000, 0x10000000
ERROR_HANDLE_EOF, ERROR_IO_PENDING = 38, 997


def chunks(offset: int, length: int, direct: bool) -> list[tuple[int, int]]:
    """The (offset, length) reads that cover `length` bytes from `offset`; direct lengths are rounded up to STRIDE."""
    total = aligned(length, STRIDE) if direct else length
    return [(offset + at, min(LONGEST, total - at)) for at in range(0, total, LONGEST)]


def reads_in_place(buffers: Sequence[memoryview], direct: bool) -> bool:
    """True where ReadFile may write into the caller's memory: one buffer, whole strides."""
    return len(buffers) == 1 and (not direct or buffers[0].nbytes % STRIDE == 0)


def scatter(source: memoryview, got: int, buffers: Sequence[memoryview]) -> int:
    """Copy the first `got` bytes of `source` into the buffers in turn; returns how many were copied."""
    at = 0
    for b in buffers:
        n = min(b.nbytes, got - at)
        b[:n] = source[at : at + n]
        at += n
    return at


class Bounce(threading.local):
    """One page-aligned buffer per thread, grown to the largest read so far."""

    def __init__(self) -> None:
        self._memory: mmap.mmap | None = None

    def view(self, nbytes: int) -> memoryview:
        """At least `nbytes` of writable memory."""
        if self._memory is None or len(self._memory) < nbytes:
            self._memory = mmap.mmap(-1, aligned(nbytes, STRIDE))
        return memoryview(self._memory)


class Overlapped(ctypes.Structure):
    """OVERLAPPED: where the read starts and the event that it sets."""

    _fields_ = (
        ("internal", ctypes.c_size_t),
        ("internal_high", ctypes.c_size_t),
        ("offset", ctypes.c_uint32),
        ("offset_high", ctypes.c_uint32),
        ("event", ctypes.c_void_p),
    )


if sys.platform == "win32":

    class System:
        """What WindowsFile needs of Windows."""

        def __init__(self) -> None:
            self.kernel = kernel = ctypes.WinDLL("kernel32", use_last_error=True)
            # Handles are pointers: as int, the default, they would be cut. INVALID_HANDLE_VALUE is all ones.
            kernel.CreateFileW.restype = ctypes.c_void_p
            kernel.CreateFileW.argtypes = (
                ctypes.c_wchar_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32,
                ctypes.c_void_p,
            )  # fmt: skip
            kernel.CreateEventW.restype = ctypes.c_void_p
            kernel.CreateEventW.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_wchar_p)
            pointers = (ctypes.c_void_p, ctypes.c_void_p)
            # A WinDLL lets go of the interpreter's lock in every call, so that reads run side by side.
            kernel.ReadFile.argtypes = (*pointers, ctypes.c_uint32, *pointers)
            kernel.GetOverlappedResult.argtypes = (*pointers, ctypes.c_void_p, ctypes.c_int)
            kernel.GetFileSizeEx.argtypes = pointers
            kernel.CloseHandle.argtypes = (ctypes.c_void_p,)

        def last_error(self) -> int:
            return ctypes.get_last_error()

        def failed(self) -> OSError:
            return ctypes.WinError(ctypes.get_last_error())


def _system() -> Any:
    if sys.platform == "win32":
        return System()
    raise OSError(errno.ENOSYS, "this is not Windows")


class WindowsFile:
    """CreateFile, past the cache when `direct`, and overlapped ReadFile, so that threads may share the handle.

    system: None is Windows itself.
    """

    stride = STRIDE
    scatters = False  # what is read for several buffers is copied there

    def __init__(self, path: Path, direct: bool, system: Any = None) -> None:
        self.direct = direct
        self._system = _system() if system is None else system
        self._kernel = kernel = self._system.kernel
        flags = OVERLAPPED | RANDOM_ACCESS | (NO_BUFFERING if direct else 0)
        handle = kernel.CreateFileW(str(path), GENERIC_READ, SHARE_READ_DELETE, None, OPEN_EXISTING, flags, None)
        self._handle: Any = handle
        if handle in (None, ctypes.c_void_p(-1).value):
            self._handle = None
            raise self._system.failed()
        size = ctypes.c_int64()
        if not kernel.GetFileSizeEx(handle, ctypes.byref(size)):
            failure = self._system.failed()
            self.close()
            raise failure
        self.size = size.value
        self._bounce = Bounce()

    @property
    def handle(self) -> int | None:
        """The HANDLE; -1 (INVALID_HANDLE_VALUE) once it is closed; None where Windows is only played."""
        if sys.platform != "win32":
            return None
        return -1 if self._handle is None else int(self._handle)

    def read(self, offset: int, buffers: Sequence[memoryview]) -> int:
        """See DataFile.read."""
        total = sum(b.nbytes for b in buffers)
        if reads_in_place(buffers, self.direct):
            return self._fill(offset, total, buffers[0])
        view = self._bounce.view(aligned(total, STRIDE))
        return scatter(view, min(total, self._fill(offset, total, view)), buffers)

    def _fill(self, offset: int, length: int, into: memoryview) -> int:
        # The export is let go at once: the caller's buffers, or this thread's bounce, stay where they are while they
        # are read into.
        address = ctypes.addressof(ctypes.c_char.from_buffer(into))
        done = 0
        for at, n in chunks(offset, length, self.direct):
            got = self._read_once(at, n, address + at - offset)
            done += got
            if got < n:
                break
        return done

    def _read_once(self, offset: int, length: int, address: int) -> int:
        kernel = self._kernel
        # One for each read: without, GetOverlappedResult waits for the handle of the file, which the end of any other
        # thread's read sets as well.
        event = kernel.CreateEventW(None, 1, 0, None)
        if not event:
            raise self._system.failed()
        try:
            # The system writes to `state` until the read has ended, so one that has begun is always waited for.
            state = Overlapped(0, 0, offset & 0xFFFFFFFF, offset >> 32, event)
            if not kernel.ReadFile(self._handle, address, length, None, ctypes.byref(state)):
                code = self._system.last_error()
                if code == ERROR_HANDLE_EOF:
                    return 0
                if code != ERROR_IO_PENDING:
                    raise self._system.failed()
            got = ctypes.c_uint32()
            if not kernel.GetOverlappedResult(self._handle, ctypes.byref(state), ctypes.byref(got), 1):
                if self._system.last_error() == ERROR_HANDLE_EOF:
                    return 0
                raise self._system.failed()
            return got.value
        finally:
            kernel.CloseHandle(event)

    def close(self) -> None:
        """See DataFile.close."""
        if self._handle is not None:
            self._kernel.CloseHandle(self._handle)
            self._handle = None
