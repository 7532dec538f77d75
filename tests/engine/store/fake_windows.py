"""What WindowsFile needs of Windows, played on other systems: handles, overlapped reads, and the rules for them."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from engine.record.layout import ALIGN
from engine.store.disk_windows import ERROR_HANDLE_EOF, ERROR_IO_PENDING, NO_BUFFERING, OVERLAPPED, STRIDE

ERROR_FILE_NOT_FOUND, ERROR_INVALID_PARAMETER, ERROR_CRC = 2, 87, 23
MESSAGES = {ERROR_FILE_NOT_FOUND: FileNotFoundError, ERROR_INVALID_PARAMETER: OSError, ERROR_CRC: OSError}


class FakeWindows:
    """Its own kernel. reads: (offset, length) of every ReadFile. failing: reads fail with this error, in the end."""

    def __init__(self) -> None:
        self.kernel = self
        self.reads: list[tuple[int, int]] = []
        self.failing = 0
        self.open: dict[int, bool] = {}  # handles; whether they are unbuffered
        self._events = 1 << 20
        self._pending: dict[int, tuple[int, int, int]] = {}  # by event: address, length, offset
        self._error = 0

    def last_error(self) -> int:
        return self._error

    def failed(self) -> OSError:
        return MESSAGES[self._error](self._error, f"error {self._error}")

    def CreateFileW(self, path: str, *given: Any) -> int | None:
        flags = given[4]
        assert flags & OVERLAPPED
        try:
            handle = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return self._no(ERROR_FILE_NOT_FOUND, ctypes.c_void_p(-1).value)
        self.open[handle] = bool(flags & NO_BUFFERING)
        return handle

    def GetFileSizeEx(self, handle: int, size: Any) -> int:
        size._obj.value = os.fstat(handle).st_size
        return 1

    def CreateEventW(self, *_: Any) -> int:
        self._events += 1
        return self._events

    def ReadFile(self, handle: int, address: int, length: int, got: None, state: Any) -> int | None:
        offset = state._obj.offset | state._obj.offset_high << 32
        self.reads.append((offset, length))
        if self.open[handle] and (offset % ALIGN or address % ALIGN or length % ALIGN):
            return self._no(ERROR_INVALID_PARAMETER, 0)
        if self.open[handle]:
            assert length % STRIDE == 0  # not a rule of Windows, but several times as fast
        self._pending[state._obj.event] = address, length, offset
        return self._no(ERROR_IO_PENDING, 0)

    def GetOverlappedResult(self, handle: int, state: Any, got: Any, wait: int) -> int | None:
        address, length, offset = self._pending.pop(state._obj.event)
        if self.failing:
            return self._no(self.failing, 0)
        content = os.pread(handle, length, offset)
        if not content:
            return self._no(ERROR_HANDLE_EOF, 0)
        ctypes.memmove(address, content, len(content))
        got._obj.value = len(content)
        return 1

    def CloseHandle(self, handle: int) -> int:
        if self.open.pop(handle, None) is not None:
            os.close(handle)
        return 1

    def _no(self, error: int, answer: int | None) -> int | None:
        self._error = error
        return answer
