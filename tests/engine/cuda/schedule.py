"""What streams have to do, run in any order that streams and events allow; what is not ordered and meets is a fault."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tests.engine.cuda.ptx.memory import DeviceMemory

Range = tuple[int, int]  # address on the card or in pinned memory, bytes
Touched = tuple[list[Range], list[Range]]  # what was read, and what was written
Clock = dict[int, int]  # by stream, how many of its commands are known to be through


NOTHING: Touched = ([], [])


class Fault(Exception):
    """What a real card would end the context for, or what would come out wrong there some day."""


def read_written(memory: DeviceMemory, address: int, nbytes: int) -> bytes:
    """Bytes of the card, all of which have to have been written before."""
    try:
        if memory.is_written(address, nbytes):
            return memory.read(address, nbytes)
    except ValueError as cause:
        raise Fault(str(cause)) from cause
    raise Fault(f"{nbytes} bytes at {address:#x} are read, and some were never written")


@dataclass(eq=False)
class Command:
    """One piece of work. run: does it, and returns what it read and wrote. clock: what is through before it begins."""

    what: str
    stream: int
    clock: Clock
    run: Callable[[], Touched]
    touched: Touched = field(default_factory=lambda: ([], []))
    done: bool = False


@dataclass
class _Stream:
    queue: deque[Command | _Wait] = field(default_factory=deque)
    clock: Clock = field(default_factory=dict)


@dataclass(frozen=True)
class _Wait:
    command: Command


class Schedule:
    """Streams by handle. Work is begun at random moments, and at the latest when somebody waits for it."""

    def __init__(self, seed: int, eagerness: float) -> None:
        """eagerness: how likely a command runs whenever the driver is called; some run early, others late."""
        self._random, self._eagerness = random.Random(seed), eagerness
        self.streams: dict[int, _Stream] = {}
        self._events: dict[int, Command | None] = {}
        self._host: Clock = {}  # what the program has waited for
        self._past: list[Command] = []  # through, and perhaps not before something that is still to run
        self.ran = 0

    def open(self, stream: int) -> None:
        """A new stream."""
        self.streams[stream] = _Stream()

    def new_event(self, event: int) -> None:
        """A new event, which was never recorded."""
        self._events[event] = None

    def forget_event(self, event: int) -> None:
        """It is gone."""
        del self._events[event]

    def add(self, what: str, stream: int, run: Callable[[], Touched]) -> Command:
        """A command behind what the stream has."""
        own = self.streams[stream]
        _raise(own.clock, self._host)
        own.clock[stream] = own.clock.get(stream, 0) + 1
        command = Command(what, stream, dict(own.clock), run)
        own.queue.append(command)
        return command

    def record(self, event: int, stream: int) -> None:
        """An event behind what the stream has."""
        self._events[event] = self.add("event", stream, lambda: NOTHING)

    def wait(self, stream: int, event: int) -> None:
        """The stream waits for the event's last record."""
        command = self._events[event]
        if command is None:
            return
        own = self.streams[stream]
        _raise(own.clock, command.clock)
        own.queue.append(_Wait(command))

    def reached(self, event: int) -> bool:
        """Whether the event was, now; then the program knows what came before it."""
        command = self._events[event]
        if command is None:
            return True
        if command.done:
            _raise(self._host, command.clock)
        return command.done

    def finish_event(self, event: int) -> None:
        """The program waits for it."""
        command = self._events[event]
        if command is not None:
            self._until(lambda: command.done)
            _raise(self._host, command.clock)

    def finish(self, stream: int) -> None:
        """The program waits for all that the stream has."""
        own = self.streams[stream]
        self._until(lambda: not own.queue)
        _raise(self._host, own.clock)

    def finish_all(self) -> None:
        """What freeing memory does."""
        for stream in list(self.streams):
            self.finish(stream)

    def sends(self, address: int, data: NDArray[np.uint8]) -> None:
        """The program has this in pinned memory, to be copied from there by what is added next."""

    def some(self) -> None:
        """Time passes: some of what may run does."""
        while self._random.random() < self._eagerness and self._step():
            pass

    def _until(self, done: Callable[[], bool]) -> None:
        while not done():
            if not self._step():
                raise Fault("it waits for what never comes")

    def _step(self) -> bool:
        ready = list(self._ready())
        if not ready:
            return False
        self._run(self._random.choice(ready))
        return True

    def _run(self, own: _Stream) -> None:
        """Run what is first in a stream's queue."""
        command = own.queue.popleft()
        assert isinstance(command, Command)
        command.touched = command.run()
        command.done = True
        self.ran += 1
        self._check(command)

    def _ready(self) -> Iterator[_Stream]:
        for own in self.streams.values():
            while own.queue and isinstance(own.queue[0], _Wait) and own.queue[0].command.done:
                own.queue.popleft()
            if own.queue and isinstance(own.queue[0], Command):
                yield own

    def _check(self, command: Command) -> None:
        """Whether it meets an earlier one that it was not ordered behind."""
        reads, writes = command.touched
        for other in self._past:
            if other.clock[other.stream] <= command.clock.get(other.stream, 0):
                continue
            their_reads, their_writes = other.touched
            for mine, theirs in ((writes, their_writes), (writes, their_reads), (reads, their_writes)):
                if any(a < c + d and c < a + b for a, b in mine for c, d in theirs):
                    raise Fault(f"'{command.what}' and '{other.what}' use the same bytes, and none waits for the other")
        if any(command.touched):
            self._past.append(command)
        # What is known to be through only grows along a queue: its first command knows the least.
        firsts = (next((c for c in own.queue if isinstance(c, Command)), None) for own in self.streams.values())
        clocks = [self._host, *(first.clock for first in firsts if first is not None)]
        streams = {old.stream for old in self._past}
        through = {stream: min(clock.get(stream, 0) for clock in clocks) for stream in streams}
        self._past = [old for old in self._past if through[old.stream] < old.clock[old.stream]]


def _raise(clock: Clock, to: Clock) -> None:
    for stream, count in to.items():
        clock[stream] = max(clock.get(stream, 0), count)
