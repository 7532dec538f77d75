"""A disk of one expert per key whose reads wait, fail or fall short at will."""

from __future__ import annotations

import random
import threading
import zlib
from collections.abc import Callable, Sequence

from engine.experts.keys import ExpertKey
from engine.record.layout import ALIGN, ExpertSpec
from engine.store.reader import Extent
from tests.waiting import LONGEST

SPEC = ExpertSpec(32, 16, 8, 16)  # what a source must name; the loader takes the parts' names from it alone


class SlowFile:
    """Every read is written down (offset, bytes) and waits for the gate. before: called with the offset, may raise;
    short: bytes that are missing at the end of every read."""

    def __init__(self, content: bytes, *, stride: int = ALIGN, scatters: bool = True) -> None:
        self.content = bytearray(content)
        self.size = len(content)
        self.direct = True
        self.handle = 7
        self.stride = stride
        self.scatters = scatters
        self.gate = threading.Event()
        self.gate.set()
        self.started = threading.Semaphore(0)
        self.before: Callable[[int], object] | None = None
        self.short = 0
        self.reads: list[tuple[int, int]] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()

    def read(self, offset: int, buffers: Sequence[memoryview]) -> int:
        with self._lock:
            self.reads.append((offset, sum(b.nbytes for b in buffers)))
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        self.started.release()
        try:
            self.gate.wait(LONGEST)
            if self.before is not None:
                self.before(offset)
            done = 0
            for buffer in buffers:
                buffer[:] = self.content[offset + done : offset + done + buffer.nbytes]
                done += buffer.nbytes
            return done - self.short
        finally:
            with self._lock:
                self._at_once -= 1

    def close(self) -> None:
        pass


class SlowDisk:
    """`experts` experts of parts of the given sizes, one behind the other in one file; layer 0 only."""

    layers = (0,)

    def __init__(self, experts: int, parts: Sequence[int], *, stride: int = ALIGN, scatters: bool = True) -> None:
        self.parts = tuple(parts)
        self.nbytes = sum(parts)
        self._experts = experts
        self._written = random.Random(1).randbytes(experts * self.nbytes)
        self.file = SlowFile(self._written, stride=stride, scatters=scatters)

    def experts(self, layer: int) -> int:
        return self._experts

    def spec(self, layer: int, expert: int = 0) -> ExpertSpec:
        return SPEC

    def views(self, parts: Sequence[int] | None = None) -> list[memoryview]:
        """Empty memory for these parts, or for all."""
        return [memoryview(bytearray(self.parts[i])) for i in (range(len(self.parts)) if parts is None else parts)]

    def stored(self, expert: int, part: int) -> bytes:
        """What the file held when it was made."""
        at = expert * self.nbytes + sum(self.parts[:part])
        return self._written[at : at + self.parts[part]]

    def expert_at(self, offset: int) -> int:
        """Whose byte this is."""
        return offset // self.nbytes

    def extents(self, layer: int, expert: int, parts: Sequence[int]) -> list[Extent]:
        found: list[Extent] = []
        for index in parts:
            at, nbytes = expert * self.nbytes + sum(self.parts[:index]), self.parts[index]
            if found and found[-1].parts[-1] + 1 == index:
                last = found.pop()
                found.append(Extent(last.file, last.offset, last.nbytes + nbytes, (*last.parts, index)))
            else:
                found.append(Extent(self.file, at, nbytes, (index,)))
        return found

    def checksums(self, layer: int, expert: int, parts: Sequence[int]) -> list[int]:
        return [zlib.crc32(self.stored(expert, index)) for index in parts]


def key(expert: int) -> ExpertKey:
    """Of the only layer."""
    return ExpertKey(0, expert)
