"""Reads experts on a few persistent threads that share every read: what is demanded before what is only expected."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from engine.errors import Kind, UnderhillError
from engine.experts.chunks import CHUNK, Chunk, cut, read
from engine.experts.keys import ExpertKey, ExpertSource
from engine.experts.meter import Load, Loads, Meter
from engine.experts.request import Request, Urgency
from engine.store.problems import damaged, refused

# Told of every chunk on the thread that read it: reader, request, urgency it was read with, bytes, start and end by
# time.perf_counter.
ChunkListener = Callable[[int, Request, Urgency, int, float, float], None]


class Loader:
    """`readers` threads over a source. Requests of one urgency are read in the order in which they came.

    A request is cut into chunks of about `chunk` bytes, which go to whichever reader is free, so that the first request
    is there first and the last reads end together. A more urgent request overtakes between chunks. Less urgent ones are
    read only while no demanded chunk is waiting or under way, and never by all of the readers if there are several: a
    demand finds one free, and the disk's queue short. listener: None, or told of every chunk.
    """

    def __init__(self, source: ExpertSource, readers: int, chunk: int = CHUNK) -> None:
        self.readers = readers
        self.listener: ChunkListener | None = None
        self._source = source
        self._chunk = chunk
        self._queues: tuple[deque[Request], ...] = tuple(deque() for _ in Urgency)
        self._meters = tuple(Meter() for _ in Urgency)
        self._disk = Meter()
        self._open = 0  # requests that have not ended
        self._most_speculative = max(1, readers - 1)
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._asleep = 0
        self._closed = False
        self._started = time.perf_counter()
        self._in_hand: list[tuple[Request, Urgency] | None] = [None] * readers
        self._threads = [self._start(number) for number in range(readers)]

    def submit(
        self,
        key: ExpertKey,
        parts: Sequence[int],
        views: Sequence[memoryview],
        ended: Callable[[Request], None] | None = None,
        urgency: Urgency = Urgency.DEMAND,
    ) -> Request:
        """Queue a read of these parts into `views`, one each, which must stay valid until it has ended.

        ended: called once it has, on a reader's thread or on that of whoever cancelled it; must not block.
        """
        extents = self._source.extents(key.layer, key.expert, parts)
        chunks = cut(extents, views, self._chunk)
        request = Request(key, parts, views, extents, chunks, urgency, ended)
        with self._lock:
            if self._closed:
                raise RuntimeError("the loader is closed")
            self._open += 1
            self._queues[urgency].append(request)
            self._wake_for(len(chunks))
        return request

    def cancel(self, request: Request) -> bool:
        """Read no more of it; False when all of it is read or being read, and it ends as if nothing had been said.

        True: it ends as cancelled, at once or with the chunks under way; only then are its views free.
        """
        with self._lock:
            if request.next == len(request.chunks):
                return False
            self._queues[request.urgency].remove(request)
            request.give_up(UnderhillError(Kind.CANCELLED, "The read was cancelled."))
            self._wake_for(self.readers)
            if request.under_way:
                return True
            self._open -= 1
        request.end()
        return True

    def demand(self, request: Request) -> None:
        """A speculative read turned out to be needed: what is left of it queues with what is demanded."""
        with self._lock:
            if request.urgency is Urgency.DEMAND:
                return
            if request.next < len(request.chunks):
                self._queues[request.urgency].remove(request)
                self._queues[Urgency.DEMAND].append(request)
                self._wake_for(len(request.chunks) - request.next)
            request.urgency = Urgency.DEMAND

    @property
    def idle(self) -> bool:
        """Whether nothing is queued or under way."""
        return not self._open

    def queued(self, urgency: Urgency) -> int:
        """Bytes asked for with this urgency that no reader has taken yet."""
        with self._lock:
            return sum(request.left for request in self._queues[urgency])

    def loads(self) -> Loads:
        """What was read so far, and how busy the disk was."""
        with self._lock:
            now = time.perf_counter()
            by_urgency = {u: Load(m.bytes, m.seconds(now)) for u, m in zip(Urgency, self._meters)}
            return Loads(by_urgency, self._disk.seconds(now), now - self._started)

    def close(self) -> None:
        """Cancel what is queued, let the chunks under way end, and end the threads. Safe to call twice."""
        with self._lock:
            self._closed = True
            queued = [request for queue in self._queues for request in queue]
            self._wake.notify_all()
        for request in queued:
            self.cancel(request)
        for number in range(self.readers):
            while (thread := self._threads[number]).is_alive():
                thread.join()

    # ---- on the readers' threads --------------------------------------------------------------------------------

    def _start(self, number: int) -> threading.Thread:
        thread = threading.Thread(target=self._serve, args=(number,), name=f"reader-{number}", daemon=True)
        thread.start()
        return thread

    def _serve(self, number: int) -> None:
        try:
            while (taken := self._take(number)) is not None:
                request, chunk, urgency = taken
                started = time.perf_counter()
                failure = self._read(request, chunk)
                if self.listener is not None:
                    self.listener(number, request, urgency, chunk.nbytes, started, time.perf_counter())
                if self._put_down(number, request, chunk.nbytes, urgency, failure):
                    self._finish(request)
        except BaseException as defect:
            self._died(number, defect)
            raise

    def _take(self, number: int) -> tuple[Request, Chunk, Urgency] | None:
        """The next chunk, when there is one; None: the loader is closed."""
        with self._lock:
            while (queue := self._next()) is None:
                if self._closed:
                    return None
                self._asleep += 1
                self._wake.wait()
                self._asleep -= 1
            request, now = queue[0], time.perf_counter()
            chunk, urgency = request.chunks[request.next], request.urgency
            request.next += 1
            if request.next == len(request.chunks):
                queue.popleft()
            request.started = request.started or now
            request.under_way += 1
            self._meters[urgency].begin(now)
            self._disk.begin(now)
            self._in_hand[number] = request, urgency
            return request, chunk, urgency

    def _next(self) -> deque[Request] | None:
        """The queue whose turn it is."""
        demanded, *speculative = self._queues
        if demanded:
            return demanded
        if self._meters[Urgency.DEMAND].count or self._disk.count >= self._most_speculative:
            return None
        return next((queue for queue in speculative if queue), None)

    def _wake_for(self, chunks: int) -> None:
        if self._asleep:
            self._wake.notify(min(chunks, self._asleep))

    def _read(self, request: Request, chunk: Chunk) -> UnderhillError | None:
        layer, expert = request.key
        try:
            got = read(chunk, request.extents, request.views)
        except OSError as cause:
            return _because(refused(layer, expert, cause), cause)
        except Exception as defect:  # a reader must outlive any one request, and its waiter must hear of it
            return _because(_defect(request, defect), defect)
        return None if got == chunk.nbytes else damaged(layer, expert, "is cut short")

    def _put_down(
        self, number: int, request: Request, nbytes: int, urgency: Urgency, failure: UnderhillError | None
    ) -> bool:
        """A chunk has ended; True when it was the last of its request."""
        with self._lock:
            now = time.perf_counter()
            self._meters[urgency].end(now, 0 if failure else nbytes)
            self._disk.end(now, 0 if failure else nbytes)
            self._in_hand[number] = None
            request.under_way -= 1
            if failure is not None:
                if request.next < len(request.chunks):
                    self._queues[request.urgency].remove(request)
                request.give_up(failure)
            if urgency is Urgency.DEMAND and not self._meters[urgency].count:  # now it is the turn of the others
                self._wake_for(self.readers)
            if request.under_way or request.next < len(request.chunks):
                return False
            self._open -= 1
        request.seconds = now - request.started
        return True

    def _finish(self, request: Request) -> None:
        """All has been read: is it what was written?"""
        try:
            if request.failure is None:
                self._source.check(*request.key, request.parts, request.views)
        except UnderhillError as failure:
            request.give_up(failure)
        except BaseException as defect:
            request.give_up(_because(_defect(request, defect), defect))
            if not isinstance(defect, Exception):
                raise
        finally:
            request.end()

    def _died(self, number: int, defect: BaseException) -> None:
        """Whatever ended this thread: the request in its hand fails, and another thread takes its place."""
        in_hand = self._in_hand[number]
        if in_hand is not None:
            request, urgency = in_hand
            if self._put_down(number, request, 0, urgency, _because(_defect(request, defect), defect)):
                request.end()
        with self._lock:
            if not self._closed:
                self._threads[number] = self._start(number)


def _defect(request: Request, defect: BaseException) -> UnderhillError:
    layer, expert = request.key
    return UnderhillError(Kind.INTERNAL, f"Reading expert {expert} of layer {layer} failed: {defect!r}.")


def _because(error: UnderhillError, cause: BaseException) -> UnderhillError:
    error.__cause__ = cause
    return error
