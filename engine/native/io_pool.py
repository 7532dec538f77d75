"""The native library's readers: threads of its own that read files into memory, without Python's lock."""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from struct import Struct
from typing import Any, NamedTuple

from engine.errors import Kind, UnderhillError
from engine.native.build import SOURCES, library_name
from engine.native.library import load_holding_lock
from engine.translatable import msg

PART = Struct("=QqQ")  # uh_io_part: address, bytes, checksum
RUN = Struct("=qqq")  # uh_io_run: descriptor or HANDLE, offset, whether it goes past the system's cache
CHUNK = Struct("=qqqii")  # uh_io_chunk: start in its run, bytes, where in its part, run, part
MOST_PARTS = 64  # UH_MOST_SLICES
WHOLE, CANCELLED, REFUSED, SHORT, DAMAGED = range(5)  # as in the C enum
_END, _EVENT = Struct("=qqiiii"), Struct("=qqqqii")
_AT_ONCE = 64  # ends or events fetched in a call
_NS = 1e-9  # C counts nanoseconds of CLOCK_MONOTONIC, as time.perf_counter does on Linux


# As in files.h and io_pool.h, field by field; `bytes`, `ns`, `queued` by urgency, in the order of UH_DEMAND,
# UH_UPGRADE, UH_PREFETCH.
class _Slice(ctypes.Structure):
    _fields_ = (("to", ctypes.c_void_p), ("nbytes", ctypes.c_int64))


class _State(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64 * 3) for name in ("bytes", "ns", "queued")),
        *((name, ctypes.c_int64) for name in ("busy_ns", "ns_since_open", "open")),
    )


class IoCompletion(NamedTuple):
    """How a request ended. status: WHOLE and so on; error: the system's, of REFUSED; part: the one DAMAGED."""

    number: int
    seconds: float
    status: int
    error: int
    part: int


class IoEvent(NamedTuple):
    """A chunk; times by time.perf_counter."""

    number: int
    nbytes: int
    start: float
    end: float
    reader: int
    urgency: int


class IoState(NamedTuple):
    """By urgency: bytes read, seconds with a chunk under way, bytes queued. open: requests that have not ended."""

    nbytes: tuple[int, ...]
    seconds: tuple[float, ...]
    queued: tuple[int, ...]
    busy: float
    since_open: float
    open: int


# How a chunk is read where there is no file of the system: (file, offset, slices, n, error) to bytes, or -1 and *error.
ReadHook: Callable[..., Any] = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(_Slice), ctypes.c_int32,
    ctypes.POINTER(ctypes.c_int32),
)  # fmt: skip


@lru_cache(maxsize=4)
def _functions(path: Path) -> tuple[ctypes.PyDLL, ctypes.CDLL]:
    """What ends at once, called without letting go of Python's lock, and what may take long."""
    # quick: a mutex and some list work in C, cheaper than giving the interpreter's lock away and having it back.
    # patient: waits for a disk; holding the lock there would stop every thread of the process.
    quick, patient = load_holding_lock(path), ctypes.CDLL(str(path))
    pointer, i32, i64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64
    quick.uh_io_open.argtypes, quick.uh_io_open.restype = (ctypes.c_int, pointer), pointer
    quick.uh_io_submit.argtypes = (pointer, i32, pointer, i32, pointer, i32, pointer, i32)
    # Request numbers have 64 bits: they are never used twice, so that a late end cannot be taken for another request's.
    quick.uh_io_submit.restype = i64
    quick.uh_io_cancel.argtypes = (pointer, i64)
    quick.uh_io_promote.argtypes, quick.uh_io_promote.restype = (pointer, i64), None
    quick.uh_io_left.argtypes, quick.uh_io_left.restype = (pointer, i64), i64
    quick.uh_io_look.argtypes, quick.uh_io_look.restype = (pointer, pointer), None
    quick.uh_io_listen.argtypes = (pointer, ctypes.c_int)
    quick.uh_io_events.argtypes, quick.uh_io_events.restype = (pointer, pointer, i32), i32
    # In both: `completed` looks without waiting through the one, and waits through the other.
    for library in (quick, patient):
        library.uh_io_completed.argtypes, library.uh_io_completed.restype = (pointer, pointer, i32, ctypes.c_int), i32
    for function in (patient.uh_io_stop, patient.uh_io_close):
        function.argtypes, function.restype = (pointer,), None
    return quick, patient


class IoPool:
    """See io_pool.h, whose rules these are; requests are known by number. `completed` and `events` are for one thread.

    What a request's parts point to has to be kept by whoever submits it until its end was taken; nothing is checked
    here. hook: made by `ReadHook`, for tests. Raises UnderhillError(OUT_OF_MEMORY) when no threads
    are to be had.
    """

    def __init__(self, readers: int, hook: Any = None, path: Path | None = None) -> None:
        self._quick, self._patient = _functions(path or SOURCES / library_name(os.name == "nt"))
        self._hook = hook  # kept alive
        self._pool: int | None = self._quick.uh_io_open(readers, hook)
        if self._pool is None:
            raise UnderhillError(Kind.OUT_OF_MEMORY, msg("The readers could not be started."), msg("Close other apps."))
        self._ends = ctypes.create_string_buffer(_AT_ONCE * _END.size)
        self._events = ctypes.create_string_buffer(_AT_ONCE * _EVENT.size)
        # The hook is an argument so that it outlives the threads that call it. Through the patient library: closing
        # joins threads.
        weakref.finalize(self, _close, self._patient, self._pool, hook)

    @property
    def address(self) -> int:
        """Of the native object, for native code that asks it to read."""
        assert self._pool is not None
        return self._pool

    def completed_into(self, ends: int, most: int, wait: bool) -> int:
        """As `completed`, at most so many, written to this address as uh_io_completion; returns how many."""
        # No buffer is checked: `ends` must have room for `most` completions.
        n: int = (self._patient if wait else self._quick).uh_io_completed(self._pool, ends, most, wait)
        return n

    def submit(self, urgency: int, parts: bytes, runs: bytes, chunks: bytes) -> int:
        """Queue a read; its number. Packed by PART, RUN and CHUNK. RuntimeError once stopped; OUT_OF_MEMORY."""
        number: int = self._quick.uh_io_submit(
            self._pool, urgency, parts, len(parts) // PART.size, runs, len(runs) // RUN.size, chunks,
            len(chunks) // CHUNK.size,
        )  # fmt: skip
        if number == 0:
            raise RuntimeError("the loader is closed")
        if number < 0:
            raise UnderhillError(
                Kind.OUT_OF_MEMORY, msg("No memory is left to read with."), msg("Lower the memory limit.")
            )
        return number

    def cancel(self, number: int) -> bool:
        """False: all of it is read or being read."""
        return bool(self._quick.uh_io_cancel(self._pool, number))

    def demand(self, number: int) -> None:
        """Somebody waits for it now."""
        self._quick.uh_io_promote(self._pool, number)

    def left(self, number: int) -> int:
        """Bytes of it that no reader has taken yet."""
        left: int = self._quick.uh_io_left(self._pool, number)
        return left

    def look(self) -> IoState:
        """What was read so far, and what is to be."""
        state = _State()
        # Filled under C's own mutex, so the figures are of one moment.
        self._quick.uh_io_look(self._pool, ctypes.byref(state))
        seconds = tuple([_NS * ns for ns in state.ns])
        busy, since = _NS * state.busy_ns, _NS * state.ns_since_open
        return IoState(tuple(state.bytes), seconds, tuple(state.queued), busy, since, state.open)

    def completed(self, wait: bool) -> list[IoCompletion]:
        """Requests that have ended. wait: for one, unless none is open; Python's lock is free meanwhile."""
        taken: list[IoCompletion] = []
        call = self._patient.uh_io_completed if wait else self._quick.uh_io_completed
        while True:
            n: int = call(self._pool, self._ends, _AT_ONCE, wait)
            if n:
                ends = _END.iter_unpack(memoryview(self._ends)[: n * _END.size])
                taken += [
                    IoCompletion(number, _NS * ns, status, error, part) for number, ns, status, error, part, _ in ends
                ]
            if n < _AT_ONCE:
                return taken
            call, wait = self._quick.uh_io_completed, False

    def listen(self, on: bool) -> None:
        """Begin to keep events, or end that. Raises UnderhillError(OUT_OF_MEMORY)."""
        if self._quick.uh_io_listen(self._pool, on):
            raise UnderhillError(
                Kind.OUT_OF_MEMORY, msg("No memory is left for a timeline."), msg("Lower the memory limit.")
            )

    def events(self) -> list[IoEvent]:
        """Those that were not fetched yet, the oldest first."""
        found: list[IoEvent] = []
        while True:
            n: int = self._quick.uh_io_events(self._pool, self._events, _AT_ONCE)
            packed = _EVENT.iter_unpack(memoryview(self._events)[: n * _EVENT.size])
            found += [IoEvent(number, size, _NS * a, _NS * b, *rest) for number, size, a, b, *rest in packed]
            if n < _AT_ONCE:
                return found

    def stop(self) -> None:
        """Cancel what is queued, let the chunks under way end, and end the threads. All else goes on working."""
        self._patient.uh_io_stop(self._pool)


def _close(library: ctypes.CDLL, reads: int, hook: Any) -> None:
    """Nobody can call it any more, and the memory that it reads into is still there."""
    library.uh_io_close(reads)
