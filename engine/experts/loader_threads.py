"""The loader in Python: for sources that are no files of the system, and where there is no native library."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence

from engine.errors import Kind, UnderhillError
from engine.experts.chunks import CHUNK, Chunk, cut, read
from engine.experts.keys import ExpertKey, ExpertSource
from engine.experts.loader import ChunkListener
from engine.experts.meter import Load, Loads, Meter
from engine.experts.request import Request, Urgency
from engine.store.problems import refused, shortened
from engine.translatable import msg


class _Reading:
    """A request that has not ended. next: of its chunks; those before it have been taken by a reader.

    under_way: chunks that a reader has in hand. started: by time.perf_counter; 0: not yet. failure: what it will end
    with.
    """

    __slots__ = ("chunks", "failure", "next", "request", "started", "under_way")

    def __init__(self, request: Request, chunks: Sequence[Chunk]) -> None:
        self.request, self.chunks = request, chunks
        self.next = self.under_way = 0
        self.started = 0.0
        self.failure: UnderhillError | None = None

    @property
    def untaken(self) -> bool:
        return self.next < len(self.chunks)

    @property
    def left(self) -> int:
        return sum(chunk.nbytes for chunk in self.chunks[self.next :])

    def give_up(self, failure: UnderhillError) -> None:
        """Chunks that no reader has taken are not read, and it ends with the first failure."""
        self.next = len(self.chunks)
        if self.failure is None:
            self.failure = failure


class ThreadLoader:
    """See Loader. chunk: bytes, about."""

    def __init__(self, source: ExpertSource, readers: int, chunk: int = CHUNK) -> None:
        self.readers = readers
        self.listener: ChunkListener | None = None  # called by the readers
        self._source = source
        self._chunk = chunk
        self._queues: tuple[deque[_Reading], ...] = tuple(deque() for _ in Urgency)
        self._meters = tuple(Meter() for _ in Urgency)
        self._disk = Meter()
        self._open: dict[Request, _Reading] = {}
        self._ended: deque[Request] = deque()
        self._most_speculative = max(1, readers - 1)
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._ends = threading.Condition(self._lock)
        self._asleep = 0
        self._closed = False
        self._started = time.perf_counter()
        self._in_hand: list[tuple[_Reading, Urgency] | None] = [None] * readers
        self._threads = [self._start(number) for number in range(readers)]

    def submit(
        self,
        key: ExpertKey,
        parts: Sequence[int],
        views: Sequence[memoryview],
        urgency: Urgency = Urgency.DEMAND,
        addresses: Sequence[int] = (),
    ) -> Request:
        """See Loader; Python writes to views, wherever they are."""
        extents = self._source.extents(key.layer, key.expert, parts)
        chunks = cut(extents, views, self._chunk)
        request = Request(key, parts, views, extents, urgency)
        with self._lock:
            if self._closed:
                raise RuntimeError("the loader is closed")
            self._open[request] = reading = _Reading(request, chunks)
            self._queues[urgency].append(reading)
            self._wake_for(len(chunks))
        return request

    def cancel(self, request: Request) -> bool:
        """See Loader."""
        with self._lock:
            reading = self._open.get(request)
            if reading is None or not reading.untaken:
                return False
            self._queues[request.urgency].remove(reading)
            reading.give_up(UnderhillError(Kind.CANCELLED, msg("The read was cancelled.")))
            self._wake_for(self.readers)
            if not reading.under_way:
                self._end(reading)
            return True

    def demand(self, request: Request) -> None:
        """See Loader."""
        with self._lock:
            reading = self._open.get(request)
            if reading is not None and reading.untaken and request.urgency is not Urgency.DEMAND:
                self._queues[request.urgency].remove(reading)
                self._queues[Urgency.DEMAND].append(reading)
                self._wake_for(len(reading.chunks) - reading.next)
            request.urgency = Urgency.DEMAND

    def left(self, request: Request) -> int:
        """See Loader."""
        with self._lock:
            reading = self._open.get(request)
            return 0 if reading is None else reading.left

    def ended(self) -> list[Request]:
        """See Loader."""
        if not self._ended:
            return []
        with self._lock:
            return self._taken()

    def wait(self) -> list[Request]:
        """See Loader."""
        with self._lock:
            while self._open and not self._ended:
                self._ends.wait()
            return self._taken()

    @property
    def idle(self) -> bool:
        """See Loader."""
        return not self._open

    def queued(self, urgency: Urgency) -> int:
        """See Loader."""
        with self._lock:
            return sum(reading.left for reading in self._queues[urgency])

    def loads(self) -> Loads:
        """See Loader."""
        with self._lock:
            now = time.perf_counter()
            by_urgency = {u: Load(m.bytes, m.seconds(now)) for u, m in zip(Urgency, self._meters)}
            return Loads(by_urgency, self._disk.seconds(now), now - self._started)

    def close(self) -> None:
        """See Loader."""
        with self._lock:
            self._closed = True
            queued = [reading.request for queue in self._queues for reading in queue]
            self._wake.notify_all()
        for request in queued:
            self.cancel(request)
        for number in range(self.readers):
            while (thread := self._threads[number]).is_alive():
                thread.join()

    # ---- under the lock -----------------------------------------------------------------------------------------

    def _taken(self) -> list[Request]:
        taken = list(self._ended)
        self._ended.clear()
        return taken

    def _end(self, reading: _Reading) -> None:
        reading.request.error = reading.failure
        del self._open[reading.request]
        self._ended.append(reading.request)
        self._ends.notify_all()

    def _next(self) -> deque[_Reading] | None:
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

    # ---- on the readers' threads --------------------------------------------------------------------------------

    def _start(self, number: int) -> threading.Thread:
        thread = threading.Thread(target=self._serve, args=(number,), name=f"reader-{number}", daemon=True)
        thread.start()
        return thread

    def _serve(self, number: int) -> None:
        try:
            while (taken := self._take(number)) is not None:
                reading, chunk, urgency = taken
                started = time.perf_counter()
                failure = self._read(reading, chunk)
                if self.listener is not None:
                    self.listener(number, reading.request, urgency, chunk.nbytes, started, time.perf_counter())
                if self._put_down(number, reading, chunk.nbytes, urgency, failure):
                    self._finish(reading)
        except BaseException as defect:
            self._died(number, defect)
            raise

    def _take(self, number: int) -> tuple[_Reading, Chunk, Urgency] | None:
        """The next chunk, when there is one; None: the loader is closed."""
        with self._lock:
            while (queue := self._next()) is None:
                if self._closed:
                    return None
                self._asleep += 1
                self._wake.wait()
                self._asleep -= 1
            reading, now = queue[0], time.perf_counter()
            chunk, urgency = reading.chunks[reading.next], reading.request.urgency
            reading.next += 1
            if not reading.untaken:
                queue.popleft()
            reading.started = reading.started or now
            reading.under_way += 1
            self._meters[urgency].begin(now)
            self._disk.begin(now)
            self._in_hand[number] = reading, urgency
            return reading, chunk, urgency

    def _read(self, reading: _Reading, chunk: Chunk) -> UnderhillError | None:
        request = reading.request
        try:
            got = read(chunk, request.extents, request.views)
        except OSError as cause:
            return _because(refused(*request.key, cause), cause)
        except Exception as defect:  # a reader must outlive any one request, and its waiter must hear of it
            return _because(_defect(request, defect), defect)
        return None if got == chunk.nbytes else shortened(*request.key)

    def _put_down(
        self, number: int, reading: _Reading, nbytes: int, urgency: Urgency, failure: UnderhillError | None
    ) -> bool:
        """A chunk has ended; True when it was the last of its request."""
        with self._lock:
            now = time.perf_counter()
            self._meters[urgency].end(now, 0 if failure else nbytes)
            self._disk.end(now, 0 if failure else nbytes)
            self._in_hand[number] = None
            reading.under_way -= 1
            if failure is not None:
                if reading.untaken:
                    self._queues[reading.request.urgency].remove(reading)
                reading.give_up(failure)
            if urgency is Urgency.DEMAND and not self._meters[urgency].count:  # now it is the turn of the others
                self._wake_for(self.readers)
            if reading.under_way or reading.untaken:
                return False
        reading.request.seconds = now - reading.started
        return True

    def _finish(self, reading: _Reading) -> None:
        """All has been read: is it what was written?"""
        request = reading.request
        try:
            if reading.failure is None:
                self._source.check(*request.key, request.parts, request.views)
        except UnderhillError as failure:
            reading.give_up(failure)
        except BaseException as defect:
            reading.give_up(_because(_defect(request, defect), defect))
            if not isinstance(defect, Exception):
                raise
        finally:
            with self._lock:
                self._end(reading)

    def _died(self, number: int, defect: BaseException) -> None:
        """Whatever ended this thread: the request in its hand fails, and another thread takes its place."""
        in_hand = self._in_hand[number]
        if in_hand is not None:
            reading, urgency = in_hand
            if self._put_down(number, reading, 0, urgency, _because(_defect(reading.request, defect), defect)):
                with self._lock:
                    self._end(reading)
        with self._lock:
            if not self._closed:
                self._threads[number] = self._start(number)


def _defect(request: Request, defect: BaseException) -> UnderhillError:
    layer, expert = request.key
    return UnderhillError(
        Kind.INTERNAL,
        msg(
            "Reading expert {expert} of layer {layer} failed: {defect}.",
            expert=expert,
            layer=layer,
            defect=repr(defect),
        ),
    )


def _because(error: UnderhillError, cause: BaseException) -> UnderhillError:
    error.__cause__ = cause
    return error
