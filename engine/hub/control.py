"""Control of a download: pause, resume, cancel and retry; how far it is, and whether the disk has space for it."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import random
import shutil
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from engine.errors import Kind, UnderhillError
from engine.hub.errors import HubError, disk_full
from engine.store.output import FULL
from engine.translatable import Translatable, msg, system_reason


class Control:
    """One download's. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()  # its lock guards the flags and `_open`; readers wait on it while paused
        self._paused = False
        self._stopped = False
        self._open: set[httpx2.Response] = set()
        self.pauses = 0  # so far: what fails while one begins, even one that is over, fails because of it

    def pause(self) -> None:
        """Close the connections and wait; what has arrived stays."""
        with self._changed:
            self._paused = True
            self.pauses += 1
            self._hang_up()

    def resume(self) -> None:
        """Go on after a pause."""
        with self._changed:
            self._paused = False
            self._changed.notify_all()

    def cancel(self) -> None:
        """End it. What has arrived stays, for another download of the same model."""
        with self._changed:
            self._stopped = True
            self._hang_up()
            self._changed.notify_all()

    @property
    def paused(self) -> bool:
        """Whether it waits for `resume`."""
        return self._paused

    @property
    def stopped(self) -> bool:
        """Whether it was cancelled."""
        return self._stopped

    @property
    def interrupted(self) -> bool:
        """Whether nothing is to be fetched right now."""
        return self._paused or self._stopped

    def hold(self) -> None:
        """Wait while paused. Raises UnderhillError(CANCELLED)."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or not self._paused)
            self._check()

    def sleep(self, seconds: float) -> None:
        """Wait so long, or until there is something else to do. Raises UnderhillError(CANCELLED)."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._paused, seconds)
            self._check()

    @contextlib.contextmanager
    def during(self, response: httpx2.Response) -> Iterator[None]:
        """While this is being read, pausing and cancelling hang up on it."""
        with self._changed:
            # Under the lock, and then looked at once more: a pause that came just before has hung up on all but this
            # one.
            self._open.add(response)
            if self.interrupted:
                self._hang_up()
        try:
            yield
        finally:
            with self._changed:
                self._open.discard(response)

    def _check(self) -> None:
        if self._stopped:
            raise UnderhillError(Kind.CANCELLED, msg("Download stopped."), msg("Start it again to resume."))

    def _hang_up(self) -> None:
        """Wake readers that wait for bytes. Closing from here would not do it; shutting the connection down does."""
        for response in self._open:
            stream = response.extensions.get("network_stream")
            connection = stream.get_extra_info("socket") if stream is not None else None
            if connection is not None:
                with contextlib.suppress(OSError):
                    # past TLS, whose own shutdown would take its state from under the reader
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)


_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential back-off. first: seconds before the second try; doubled each time up to `most`.

    tries: in a row without a new byte.
    """

    first: float = 1.0
    most: float = 30.0
    tries: int = 7
    longest: float = 600.0  # seconds; a server that asks for more fails the download with that sentence


@dataclass(frozen=True)
class Wait:
    """reason: what is in the way, a sentence. left: whole seconds until the next try; 0 while it is under way.

    number: which wait of one thing this is, from 1: that it counts down makes no other of it.
    """

    reason: Translatable
    left: int
    number: int = 1

    def __str__(self) -> Translatable:
        """For a person."""
        return (
            msg("{reason} Retrying in {left} s.", reason=self.reason, left=f"{self.left:d}")
            if self.left
            else msg("{reason} Retrying…", reason=self.reason)
        )


class Retry:
    """The tries of one thing. tell: hears what is waited for, every second of it, and when the next try begins."""

    def __init__(
        self,
        retry_policy: RetryPolicy,
        control: Control,
        tell: Callable[[Wait], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._retry_policy, self._control, self._tell, self._clock = retry_policy, control, tell, clock
        self._waits = 0
        self._failed = 0

    def moved(self) -> None:
        """There was a new byte: failures are counted from 0 again."""
        self._failed = 0

    def after(self, error: HubError) -> None:
        """Wait before the next try, or raise: the error where there is none, CANCELLED."""
        self._failed += 1
        retry_policy = self._retry_policy
        asked = error.after or 0.0
        # The longest wait that is asked for is the server's to say, and beyond it a person's to decide.
        if not error.retry or self._failed >= retry_policy.tries or asked > retry_policy.longest:
            raise error
        pause = min(retry_policy.most, retry_policy.first * 2 ** (self._failed - 1))
        # apart from each other, so that several files do not come back all at once
        pause = max(asked, pause * random.uniform(0.8, 1.2))
        self._waits += 1
        _log.warning("Trying again in %.1f s, %d in a row failed: %s", pause, self._failed, error.kind)
        until = self._clock() + pause
        while (left := until - self._clock()) > 0 and not self._control.interrupted:
            self._tell(Wait(error.sentence, max(1, math.floor(left + 0.5)), self._waits))
            self._control.sleep(min(1.0, left))
        if not self._control.interrupted:
            self._tell(Wait(error.sentence, 0, self._waits))


RATE_WINDOW = 20.0  # seconds that are looked back: over the ups and downs of disks, not over the first minute's


class RateEstimator:
    """Estimate a rate over the last WINDOW seconds, from what is done: bytes, or whatever is counted.

    What was done before the first `note` counts for nothing.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque()
        self._total = 0

    def note(self, done: int, total: int) -> None:
        """So much is done by now. With another total, or less done than before, something else has begun."""
        if total != self._total or (self._seen and done < self._seen[-1][1]):
            self._seen.clear()
            self._total = total
        now = self._clock()
        self._seen.append((now, done))
        while len(self._seen) > 2 and self._seen[1][0] <= now - RATE_WINDOW:
            self._seen.popleft()

    @property
    def rate(self) -> float:
        """Per second, over the window; 0 where nothing can be said yet."""
        if len(self._seen) < 2:
            return 0.0
        (start, before), (end, after) = self._seen[0], self._seen[-1]
        return (after - before) / (end - start) if end > start else 0.0

    @property
    def left(self) -> float | None:
        """Seconds until all is done; None where nothing can be said."""
        rate = self.rate
        return (self._total - self._seen[-1][1]) / rate if rate > 0 else None


WINDOW = 10.0  # seconds over which the rate is taken: steady enough to read, quick enough to believe
STEP = 0.25  # seconds between samples


@dataclass(frozen=True, kw_only=True)
class DownloadProgress:
    """Bytes. rate: bytes a second now. eta: seconds still to go, None where nothing moves.

    waiting: what a file is waiting for and how long still; None while bytes of all arrive.
    """

    done: int
    total: int
    rate: float
    eta: float | None
    files_done: int
    files: int
    waiting: Wait | None = None


class Meter:
    """Counts what several files bring in; thread-safe."""

    def __init__(self, total: int, files: int, clock: Callable[[], float] = time.monotonic) -> None:
        # Guards the counters: several files arrive at once. A leaf.
        self._lock = threading.Lock()
        self._clock = clock
        self._total, self._files = total, files
        self._done = self._fetched = self._files_done = 0
        self._samples: deque[tuple[float, int]] = deque([(clock(), 0)])
        self._waiting: dict[str, Wait] = {}

    def had(self, nbytes: int) -> None:
        """So many bytes were here already; negative: they turned out to be wrong."""
        with self._lock:
            self._done += nbytes

    def fetched(self, name: str, nbytes: int) -> None:
        """So many bytes of a file have just arrived."""
        with self._lock:
            self._done += nbytes
            self._fetched += nbytes
            self._waiting.pop(name, None)
            self._sample()

    @property
    def done(self) -> int:
        """Bytes that are here."""
        with self._lock:
            return self._done

    def file_done(self) -> None:
        """One more file is whole."""
        with self._lock:
            self._files_done += 1

    def wait(self, name: str, wait: Wait) -> None:
        """Something is in a file's way; forgotten when its next byte arrives."""
        with self._lock:
            self._waiting[name] = wait

    def progress(self) -> DownloadProgress:
        """Right now."""
        with self._lock:
            self._sample()
            then, before = self._samples[0]
            passed = self._clock() - then
            rate = (self._fetched - before) / passed if passed > 0 else 0.0
            eta = (self._total - self._done) / rate if rate > 0 else None
            waiting = next(iter(self._waiting.values()), None)
            return DownloadProgress(
                done=self._done,
                total=self._total,
                rate=rate,
                eta=eta,
                files_done=self._files_done,
                files=self._files,
                waiting=waiting,
            )

    def _sample(self) -> None:
        now = self._clock()
        if now - self._samples[-1][0] >= STEP:
            self._samples.append((now, self._fetched))
        # The second is looked at: the first stays until the window is covered without it.
        while len(self._samples) > 2 and now - self._samples[1][0] >= WINDOW:
            self._samples.popleft()


RESERVE = 256 << 20  # bytes left on the disk for other programs; a full system disk breaks more than a download
CHECK_EVERY = 64 << 20  # bytes written between two looks


class DiskSpaceGuard:
    """Check before and during a download that the disk of one folder has room, less a reserve for others."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # Guards `_since`; not held while the disk is asked, which may take long on a network.
        self._lock = threading.Lock()
        self._since = 0

    def check(self, needed: int) -> None:
        """Raise UnderhillError(DISK_FULL) unless `needed` more bytes fit, with the reserve."""
        with writing(self._folder):
            free = shutil.disk_usage(self._folder).free
        if free < needed + RESERVE:
            raise disk_full(str(self._folder), needed + RESERVE - free)

    def written(self, nbytes: int) -> None:
        """Count bytes; look now and then whether others have filled the disk. Raises UnderhillError(DISK_FULL)."""
        with self._lock:
            self._since += nbytes
            if self._since < CHECK_EVERY:
                return
            self._since = 0
        # Outside the lock, so that the other files are written on meanwhile.
        self.check(0)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn an OSError of writing into UnderhillError(DISK_FULL or DISK_ERROR)."""
    try:
        yield
    except UnderhillError:
        raise
    except OSError as cause:
        if cause.errno in FULL:
            raise disk_full(str(folder)) from cause
        raise HubError(
            Kind.DISK_ERROR,
            msg(
                "Can't write {filename} ({strerror}).",
                filename=cause.filename or folder,
                strerror=system_reason(cause) or os.strerror(cause.errno or 0),
            ),
            msg("Check the disk and its permissions."),
        ) from cause
