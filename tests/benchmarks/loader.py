"""The loader against the disk itself: how much of its rate comes through, at rest and while the kernels compute.

    python -m tests.benchmarks.loader [--gb 2] [--expert-mb 2.66] [--readers 2,4] [--chunk-kb 1536] [--json]

Writes a file of random bytes into `--folder`, and removes it. Both sides read whole experts at random places, past the
system's cache, in turns within this process.

peer: bytes per second of as many plain threads as there are readers, each reading one expert after the other with a
single preadv, nothing checked. ours: the loader with checksums, eight requests queued, waited for one by one. ratio:
the medians' ratio to the peer's. All with nothing else to do (rest), and while the kernels' threads read memory, as
computing does (busy), where `compute` is what is left of their rate. us_per_request: processor time of the thread that
asks, in microseconds a request.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from engine.experts.keys import ExpertKey
from engine.experts.loading.loader import CHUNK
from engine.native.library import default_threads
from engine.native.memory import Arena
from engine.record.layout import ExpertSpec, aligned
from engine.store.disk import DataFile, open_file
from engine.store.reader import Extent
from tests.benchmarks.common import arguments, conditions, emit, medians, several
from tests.benchmarks.roofs import Roof
from tests.engine.experts.loading.loaders import Asked, Request

WINDOW = 8  # requests queued
PIECE = 4 << 20  # bytes of memory read between two looks at what has ended: a tenth of a millisecond


class Experts:
    """A new file full of random experts of three parts, as a source."""

    layers = (0,)

    def __init__(self, path: Path, count: int, nbytes: int) -> None:
        codes = aligned(nbytes * 4 // 9)
        self.parts = (codes, codes, aligned(nbytes) - 2 * codes)
        self.nbytes, self.count = sum(self.parts), count
        self._crcs: list[list[int]] = []
        with path.open("wb", buffering=0) as file:
            for expert in range(count):
                pieces = [random.Random(expert).randbytes(4096) * (n // 4096) for n in self.parts]
                self._crcs.append([zlib.crc32(piece) for piece in pieces])
                file.write(b"".join(pieces))
            os.fsync(file.fileno())
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        self.file: DataFile = open_file(path, direct=True)

    def experts(self, layer: int) -> int:
        return self.count

    def spec(self, layer: int, expert: int = 0) -> ExpertSpec:
        return ExpertSpec(2048, 768, 4)

    def extents(self, layer: int, expert: int, parts: Sequence[int]) -> list[Extent]:
        return [Extent(self.file, expert * self.nbytes, self.nbytes, (0, 1, 2))]

    def checksums(self, layer: int, expert: int, parts: Sequence[int]) -> Sequence[int]:
        return [self._crcs[expert][index] for index in parts]

    def slots(self, count: int) -> list[list[memoryview]]:
        """Memory for so many experts, as the cache holds them."""
        arena = Arena()
        return [[arena.take(n).fill_(1).numpy().data for n in self.parts] for _ in range(count)]


def plain(experts: Experts, readers: int, seconds: float, work: Callable[[], object] | None) -> dict[str, float]:
    """Threads that read and do nothing else."""
    slots, stop, read = experts.slots(readers), threading.Event(), [0] * readers

    def serve(number: int) -> None:
        pick = random.Random(number)
        while not stop.is_set():
            read[number] += experts.file.read(pick.randrange(experts.count) * experts.nbytes, slots[number])

    steps, start = 0, time.perf_counter()
    with ThreadPoolExecutor(max(1, readers)) as pool:
        done = [pool.submit(serve, number) for number in range(readers)]
        while time.perf_counter() - start < seconds:
            if work is None:
                time.sleep(0.01)
            else:
                work()
                steps += 1
        took, total = time.perf_counter() - start, sum(read)
        stop.set()
    for one in done:
        one.result()
    return {"rate": total / took, "steps": steps / took}


def loaded(
    experts: Experts, readers: int, chunk: int, seconds: float, work: Callable[[], object] | None
) -> dict[str, float]:
    """The loader, asked by this thread."""
    slots, pick, asked = experts.slots(WINDOW), random.Random(99), Asked(experts, readers, chunk)
    free, owner = list(range(WINDOW)), dict[Request, int]()
    requests = steps = 0
    asking, start = 0.0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        if work is not None:
            work()
            steps += 1
        began = time.thread_time()
        for request in asked.take(work is None):
            assert request.error is None
            free.append(owner.pop(request))
            requests += 1
        while free:
            slot = free.pop()
            key = ExpertKey(0, pick.randrange(experts.count))
            owner[asked.submit(Request(key, (0, 1, 2), slots[slot]))] = slot
        asking += time.thread_time() - began
    took = time.perf_counter() - start
    asked.loader.close()
    return {"rate": requests * experts.nbytes / took, "steps": steps / took, "us": 1e6 * asking / max(1, requests)}


def run(args: argparse.Namespace) -> dict[str, Any]:
    """All of it, in turns."""
    found: dict[str, list[dict[str, float]]] = {}
    roof = Roof(default_threads())

    def work() -> float:
        return roof.measure(PIECE)

    args.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        size = int(args.expert_mb * 1e6)
        experts = Experts(Path(folder) / "experts", int(args.gb * 1e9) // aligned(size), size)
        for _ in range(args.repeats):
            found.setdefault("compute", []).append(plain(experts, 0, args.seconds, work))
            for n in args.readers:
                for beside, name in ((None, "rest"), (work, "busy")):
                    found.setdefault(f"peer {n} {name}", []).append(plain(experts, n, args.seconds, beside))
                    for chunk in args.chunk_kb:
                        turn = loaded(experts, n, chunk << 10, args.seconds, beside)
                        found.setdefault(f"ours {n} {name} {chunk}", []).append(turn)
        experts.file.close()
    roof.close()
    alone = medians(found.pop("compute"))["steps"]
    table: dict[str, Any] = {}
    for name, turns in found.items():
        side, n, when, *_ = name.split()
        middle = medians(turns)
        row = {"gb_s": round(middle["rate"] / 1e9, 3)}
        if side == "ours":
            row["ratio"] = round(row["gb_s"] / table[f"peer {n} {when}"]["gb_s"], 3)
            row["us_per_request"] = round(middle["us"], 1)
        if when == "busy":
            row["compute"] = round(middle["steps"] / alone, 3)
        table[name] = row
    best = max((name for name in table if name.startswith("ours") and "rest" in name), key=lambda m: table[m]["gb_s"])
    peer = max(row["gb_s"] for name, row in table.items() if name.startswith("peer") and "rest" in name)
    return {
        "ours": table[best]["gb_s"],
        "peer": peer,
        "ratio": round(table[best]["gb_s"] / peer, 3),
        "table": table,
        "conditions": conditions(args),
    }


def main() -> None:
    parser = arguments(__doc__, "folder")
    parser.add_argument("--gb", type=float, default=2.0, help="size of the file")
    parser.add_argument("--expert-mb", type=float, default=2.66, help="size of an expert")
    parser.add_argument("--readers", type=several(int), default="2,4", help="how many, separated by commas")
    parser.add_argument("--chunk-kb", type=several(int), default=str(CHUNK >> 10), help="sizes of chunks")
    parser.add_argument("--seconds", type=float, default=0.2, help="of a turn")
    parser.add_argument("--repeats", type=int, default=9, help="turns of each")
    args = parser.parse_args()
    emit(run(args), args.json)


if __name__ == "__main__":
    main()
