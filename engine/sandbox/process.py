"""The parent's side: one warm process per function, started when first asked, killed when it takes too long."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import IO, Any

import engine
from engine import windows
from engine.sandbox import frames
from engine.sandbox.watchdog import POLL, Watchdog

_log = logging.getLogger(__name__)

MAX_ANSWER = 256 << 20  # bytes of one value that a process may send
PIPE = 1 << 20  # bytes, the most that Linux gives without asking
START_SECONDS = 120.0  # to start a process and import what it needs; half a minute on a slow disk in use
_waits = threading.local()  # `stopped` of the command that this thread works for; others' must not stop it
_functions: weakref.WeakSet[SandboxedFunction] = weakref.WeakSet()


class SandboxFailure(Exception):
    """The function ended by an error, or its process by a fault. The text says which; it is for the log."""


class SandboxTimeout(SandboxFailure):
    """It was not done in time, or was cancelled, and its process has been killed."""


class SandboxStopped(SandboxFailure):
    """Whoever asked does not want it any more (see `stoppable`), and its process has been killed."""


class SandboxMemory(SandboxFailure):
    """It wanted more memory than it may have."""


@contextlib.contextmanager
def stoppable(stopped: Callable[[], bool]) -> Iterator[None]:
    """Inside, calls made on this thread end soon after `stopped` becomes true: they raise SandboxStopped."""
    before = getattr(_waits, "stopped", None)
    _waits.stopped = stopped
    try:
        yield
    finally:
        _waits.stopped = before


def pids() -> list[int]:
    """Of all processes that this one has for functions now."""
    return [pid for each in list(_functions) if (pid := each.pid) is not None]


class SandboxedFunction:
    """A generator function, called by name in a process of its own. May be used from any thread, one call at a time.

    The process stays for the next call, since starting one takes 0.1 s or more; it ends with this one's. What the
    function is given and yields is JSON: no object of the parser's can come back.
    """

    def __init__(self, function: str, memory: int, nice: int = 5) -> None:
        """function: 'module:name'. memory: bytes that it may take beyond those after its imports. nice: how far it
        stands back (on Linux): what is read for a draft must not slow the answer that is being computed.
        """
        self._function, self._memory, self._nice = function, memory, nice
        self._lock = threading.Lock()  # held for a whole call: requests and answers of two must not mix
        self._process: subprocess.Popen[bytes] | None = None
        self._ready = False  # it has said that its imports are done
        self._why: type[SandboxFailure] | None = None  # it was killed
        self._watchdog = Watchdog()
        _functions.add(self)

    @property
    def pid(self) -> int | None:
        """Of its process, if there is one now."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def warm(self) -> None:
        """Start the process, so that the next call finds it ready. Does not wait."""
        if self._lock.acquire(blocking=False):
            try:
                self._running()
            finally:
                self._lock.release()

    def call(self, *arguments: Any, seconds: float) -> Any:
        """The first value that it yields; the rest is read and dropped. Raises SandboxFailure."""
        values = list(self.stream(*arguments, seconds=seconds))
        if not values:
            raise SandboxFailure(f"{self._function} gave nothing")
        return values[0]

    def stream(self, *arguments: Any, seconds: float) -> Iterator[Any]:
        """Each value as it is yielded. seconds: for each of them. Raises SandboxFailure.

        An iterator that is left before its end kills the process, which would otherwise go on without a reader.
        """
        stopped: Callable[[], bool] | None = getattr(_waits, "stopped", None)
        # In steps, so that a stop is heard while another thread's call goes on.
        while not self._lock.acquire(timeout=POLL):
            if stopped is not None and stopped():
                raise SandboxStopped(f"{self._function} was busy")
        try:
            process = self._running()
            whole = False
            try:
                yield from self._values(process, arguments, seconds)
                whole = True
            finally:
                # After an error, a stop or an iterator that was left, answers of this call may still be in the pipe:
                # the next call would take them for its own.
                if not whole:
                    self._end(process)
        finally:
            self._lock.release()

    def cancel(self) -> None:
        """End the call that is under way, if there is one, from another thread: it raises SandboxTimeout."""
        process = self._process
        if self._lock.locked() and process is not None:
            # Before the kill: the thread that reads sees the pipe end at once, and asks why.
            self._why = SandboxTimeout
            process.kill()

    def close(self) -> None:
        """End the process, also in the middle of a call."""
        self.cancel()
        with self._lock:
            if self._process is not None:
                self._end(self._process)

    def _values(
        self, process: subprocess.Popen[bytes], arguments: tuple[Any, ...], seconds: float
    ) -> Generator[Any, None, None]:
        assert process.stdin is not None
        assert process.stdout is not None
        self._why = None
        try:
            if not self._ready:
                with self._deadline(process, START_SECONDS):
                    self._ready = frames.read(process.stdout, MAX_ANSWER) == ["ready"]
            asked = False
            while True:
                with self._deadline(process, seconds):
                    if not asked:
                        frames.write(process.stdin, [seconds, *arguments])
                        asked = True
                    answer = frames.read(process.stdout, MAX_ANSWER)
                match answer:
                    case ["value", value]:
                        yield value
                    case ["end"]:
                        return
                    case ["memory"]:
                        raise SandboxMemory(f"{self._function}: more than {self._memory} bytes")
                    case ["error", str(why)]:
                        raise _Refused(why)
                    case _:
                        raise SandboxFailure(f"{self._function} answered in another way than agreed")
        except (EOFError, OSError, ValueError) as e:
            raise self._why_ended(process, e) from e
        except _Refused as e:
            raise SandboxFailure(str(e)) from None

    def _deadline(self, process: subprocess.Popen[bytes], seconds: float) -> contextlib.AbstractContextManager[None]:
        """While this lasts the process is killed after so many seconds, or once the caller wants it no more."""

        def kill(late: bool) -> None:
            self._why = SandboxTimeout if late else SandboxStopped
            process.kill()

        return self._watchdog.watching(seconds, getattr(_waits, "stopped", None), kill)

    def _why_ended(self, process: subprocess.Popen[bytes], cause: Exception) -> SandboxFailure:
        _log.warning(  # what it printed may be what it read
            "A process for %s ended: %s", self._function, self._why.__name__ if self._why else f"code {process.poll()}"
        )
        if self._why is not None:
            return self._why(f"{self._function} was ended")
        if isinstance(cause, frames.FrameTooLarge):
            return SandboxMemory(f"{self._function} answered with {cause}")
        with contextlib.suppress(subprocess.TimeoutExpired):
            # The pipe ends a moment before the process can be waited for; its code is wanted for the log.
            process.wait(1.0)
        said = self._last_words(process)
        if "memory allocation" in said or "MemoryError" in said or "bad_alloc" in said:  # Rust and C++ abort
            return SandboxMemory(f"{self._function}: {said}")
        return SandboxFailure(f"{self._function} ended with code {process.poll()}: {said}")

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            if self._process is not None:
                self._end(self._process)
            self._process, self._ready = self._start(), False
        return self._process

    def _start(self) -> subprocess.Popen[bytes]:
        own = str(Path(engine.__file__).parents[1])
        path = os.pathsep.join(part for part in (own, os.environ.get("PYTHONPATH", "")) if part)
        made = subprocess.Popen(
            # -P: modules are not searched for in the working directory, which may be a folder with files of others.
            [sys.executable, "-P", "-m", "engine.sandbox.worker", self._function, str(self._memory),
             str(self._nice)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            # Of its own session: Ctrl+C in a terminal goes to the whole group, and what ends this process is decided by
            # its parent.
            env={**os.environ, "PYTHONPATH": path}, start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip
        try:
            windows.end_with_this_process(made, self._memory)
        except OSError:  # without a limit it may not run
            made.kill()
            raise
        for pipe in (made.stdin, made.stdout):
            _widen(pipe)
        assert made.stderr is not None
        said: list[bytes] = []
        listener = threading.Thread(target=_listen, args=(made.stderr, said), name="sandbox-said", daemon=True)
        listener.start()
        self._said = said, listener
        return made

    def _last_words(self, process: subprocess.Popen[bytes]) -> str:
        said, listener = self._said
        if process.poll() is not None:
            # A child of the process could hold the pipe open, so not for ever.
            listener.join(1.0)
        return b"".join(said).decode("utf-8", "replace").strip()

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        if self._process is process:
            self._process = None


def _widen(pipe: IO[bytes] | None) -> None:
    """Room for a long chat at once: in steps of 64 KB, each side would wait for the other to get a turn, many times."""
    if sys.platform == "linux" and pipe is not None:
        import fcntl

        with contextlib.suppress(OSError):  # the system may keep pipes small
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIPE)


class _Refused(Exception):
    """The function raised."""


MAX_SAID = 1 << 16  # bytes of what a process prints that are kept, the first ones


def _listen(stream: IO[bytes], said: list[bytes]) -> None:
    kept = 0
    with contextlib.suppress(OSError, ValueError):
        while data := stream.read1(1 << 12):  # type: ignore[attr-defined]
            if kept < MAX_SAID:
                said.append(data)
                kept += len(data)
    stream.close()


_NOT_LOADED = ("failed to map segment", "cannot allocate memory")  # what glibc says of a library without room


def out_of_memory(error: BaseException) -> bool:
    """Whether it came of having no more memory: libraries tell of that in errors of their own, and so does `open`."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, MemoryError) or (isinstance(seen, OSError) and seen.errno == errno.ENOMEM):
            return True
        if isinstance(seen, ImportError) and any(words in str(seen) for words in _NOT_LOADED):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
