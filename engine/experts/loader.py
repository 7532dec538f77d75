"""Reads experts on a few persistent threads: what is demanded before what is only expected."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from engine.errors import Kind, UnderhillError
from engine.experts.keys import ExpertKey, ExpertSource


class Request:
    """One read. Ends exactly once: done (error is None), failed (error) or cancelled (error of kind CANCELLED)."""

    def __init__(
        self, key: ExpertKey, parts: Sequence[int], views: Sequence[memoryview], ended: Callable[[Request], None] | None
    ) -> None:
        self.key = key
        self.parts = parts
        self.views = views
        self.error: UnderhillError | None = None
        self.seconds = 0.0  # from the start of the read to its end
        self._ended = ended
        self._event = threading.Event()

    @property
    def nbytes(self) -> int:
        """Bytes to be read."""
        return sum(v.nbytes for v in self.views)

    def wait(self) -> None:
        """Until it has ended; nobody writes to the views any more."""
        self._event.wait()

    def end(self, error: UnderhillError | None) -> None:
        """For the loader only."""
        self.error = error
        self._event.set()
        if self._ended is not None:
            self._ended(self)


class Loader:
    """`readers` threads over a source. Requests of one urgency start in the order in which they came."""

    def __init__(self, source: ExpertSource, readers: int) -> None:
        self.readers = readers
        self._source = source
        self._demanded: deque[Request] = deque()
        self._expected: deque[Request] = deque()
        self._wake = threading.Condition()
        self._closed = False
        self._threads = [threading.Thread(target=self._serve, name=f"reader-{i}", daemon=True) for i in range(readers)]
        for thread in self._threads:
            thread.start()

    def submit(
        self,
        key: ExpertKey,
        parts: Sequence[int],
        views: Sequence[memoryview],
        ended: Callable[[Request], None] | None = None,
        speculative: bool = False,
    ) -> Request:
        """Queue a read of these parts into `views`, which must stay valid until it has ended.

        ended: called on a reader's thread when it has (on the caller's when it was cancelled); must not block.
        """
        request = Request(key, parts, views, ended)
        with self._wake:
            if self._closed:
                raise RuntimeError("the loader is closed")
            (self._expected if speculative else self._demanded).append(request)
            self._wake.notify()
        return request

    def cancel(self, request: Request) -> bool:
        """Take it from the queue; False when it has begun or ended already."""
        with self._wake:
            for queue in (self._demanded, self._expected):
                if request in queue:
                    queue.remove(request)
                    break
            else:
                return False
        request.end(UnderhillError(Kind.CANCELLED, "The read was cancelled."))
        return True

    def demand(self, request: Request) -> None:
        """A speculative read turned out to be needed: it overtakes the other speculative ones."""
        with self._wake:
            if request in self._expected:
                self._expected.remove(request)
                self._demanded.append(request)

    def close(self) -> None:
        """Cancel what is queued, let what has begun end, and end the threads. Safe to call twice."""
        with self._wake:
            self._closed = True
            queued = [*self._demanded, *self._expected]
            self._wake.notify_all()
        for request in queued:
            self.cancel(request)
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        while (request := self._next()) is not None:
            started = time.perf_counter()
            error: UnderhillError | None = None
            try:
                self._source.read_parts(request.key.layer, request.key.expert, request.parts, request.views)
            except UnderhillError as failure:
                error = failure
            except Exception as defect:  # a reader must outlive any one request, and its waiter must hear of it
                error = UnderhillError(Kind.INTERNAL, f"Reading {_name(request.key)} failed: {defect!r}.")
                error.__cause__ = defect
            request.seconds = time.perf_counter() - started
            request.end(error)

    def _next(self) -> Request | None:
        with self._wake:
            while True:
                for queue in (self._demanded, self._expected):
                    if queue:
                        return queue.popleft()
                if self._closed:
                    return None
                self._wake.wait()


def _name(key: ExpertKey) -> str:
    return f"expert {key.expert} of layer {key.layer}"
