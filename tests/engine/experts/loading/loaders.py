"""A loader over a disk that plays one, asked for parts directly as the cache's table asks for them."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.experts.keys import ExpertKey, ExpertSource, Urgency
from engine.experts.loading.loader import Loader
from engine.native.io_pool import CANCELLED, PART, IoCompletion, ReadHook
from engine.translatable import translated
from tests.engine.experts.loading.slow_disk import SlowDisk, key
from tests.waiting import LONGEST

PAGE = 4096


class Request:
    """A read of some parts of an expert into `views`. error: why it failed, once it has ended."""

    def __init__(self, key: ExpertKey, parts: Sequence[int], views: Sequence[memoryview]) -> None:
        self.key, self.parts, self.views = key, tuple(parts), views
        self.nbytes = sum(view.nbytes for view in views)
        self.number = 0
        self.seconds = 0.0
        self.error: UnderhillError | None = None


class Asked:
    """A loader and the requests that it was given."""

    def __init__(self, source: ExpertSource, readers: int, chunk: int = PAGE, read_hook: Any = None) -> None:
        self.loader = Loader(source, readers, chunk, read_hook)
        self.reads = self.loader.reads
        self._open: dict[int, Request] = {}
        self._noting = threading.Lock()  # a read may end before the thread that asked for it has noted its number

    def submit(self, asked: Request, urgency: Urgency = Urgency.DEMAND) -> Request:
        """Queue a read."""
        sizes = [view.nbytes for view in asked.views]
        plan = self.loader.plan(asked.key, asked.parts, sizes)
        at = [ctypes.addressof(ctypes.c_char.from_buffer(view)) for view in asked.views]
        memory = b"".join(PART.pack(*part) for part in zip(at, sizes, plan.checksums, strict=True))
        with self._noting:
            asked.number = self.reads.submit(urgency, memory, plan.runs, plan.chunks)
            self._open[asked.number] = asked
        return asked

    def cancel(self, request: Request) -> bool:
        """Read no more of it; False: all of it is read or being read."""
        return self.reads.cancel(request.number)

    def demand(self, request: Request) -> None:
        """A layer waits for it now."""
        self.reads.demand(request.number)

    def left(self, request: Request) -> int:
        """Bytes of it that no reader has taken yet."""
        return self.reads.left(request.number)

    def queued(self, urgency: Urgency) -> int:
        """Bytes of this urgency that no reader has taken yet."""
        return self.reads.look().queued[urgency]

    def take(self, wait: bool) -> list[Request]:
        """Those that have ended; wait: for one."""
        ends = self.reads.completed(wait)
        with self._noting:
            self.loader.tell({number: (request.key, request.parts) for number, request in self._open.items()})
            return [self._end(end) for end in ends]

    def _end(self, end: IoCompletion) -> Request:
        request = self._open.pop(end.number)
        request.seconds = end.seconds
        if end.status == CANCELLED:
            request.error = UnderhillError(Kind.CANCELLED, translated("The read was cancelled."))
        elif end.status:
            request.error = self.loader.problem(request.key, request.parts, end.status, end.error, end.part)
        return request


class Opened(Asked):
    """A loader over a disk, in chunks of a page. handed: the requests that it has handed out."""

    def __init__(self, disk: SlowDisk, readers: int) -> None:
        def read(file: int, offset: int, slices: Any, n: int, error: Any) -> int:
            arrays = [(ctypes.c_uint8 * slices[i].nbytes).from_address(slices[i].to) for i in range(n)]
            try:
                return disk.file.read(offset, [memoryview(array).cast("B") for array in arrays])
            except OSError as cause:
                error[0] = getattr(cause, "winerror", None) or cause.errno
                return -1

        super().__init__(disk, readers, PAGE, ReadHook(read))
        self.disk = disk
        self.handed: list[Request] = []

    def ask(self, expert: int, urgency: Urgency = Urgency.DEMAND, parts: tuple[int, ...] = (0, 1, 2)) -> Request:
        """A read of these parts of an expert."""
        return self.submit(Request(key(expert), parts, self.disk.views(parts)), urgency)

    def until(self, *requests: Request) -> None:
        """Until these have been handed out."""
        while not set(requests) <= set(self.handed):
            handed = self.take(True)
            assert handed, "nothing is open any more"
            self.handed += handed

    def begun(self, chunks: int) -> None:
        """Until so many chunks have been begun."""
        for _ in range(chunks):
            assert self.disk.file.started.acquire(timeout=LONGEST)

    def close(self) -> None:
        """Whatever holds it up."""
        self.disk.file.before = None
        self.disk.file.gate.set()
        self.loader.close()
