"""What comes of hostile input: how many attacks were tried and how many failed to be harmless, by area.

    python -m tests.attack [--area NAME ...] [--json]

An attack has failed to be harmless where what it is given to hangs for more than 10 seconds, takes more than 1 GB
beyond what it had, ends the process, leaves a file that other users may read, believes what it has to refuse, or says
that something went wrong inside Underhill. Exit code 1: one has. Runs on Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.attack import AREAS
from tests.attack.worker import MARK, cases

MAX_SECONDS = 10.0
MAX_BYTES = 1 << 30
LOOK = 0.1  # seconds between two looks at the processes that an attack runs in
STARTING = 120.0  # seconds until the first attack of a process begins
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Failure:
    """what: hang, memory, died, readable, believed or internal."""

    area: str
    name: str
    what: str
    said: str


class Area:
    """One area's attacks. What hangs or dies is ended, and the rest goes on in another process."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.all = [case.name for case in cases(name)]
        self.slowest: tuple[float, str] = (0.0, "")
        self.largest: tuple[int, str] = (0, "")
        self.refused = 0

    def failures(self) -> Iterator[Failure]:
        """As they come."""
        first = 0
        while first < len(self.all):
            worker = subprocess.Popen(
                [sys.executable, "-m", f"{__package__}.worker", self.name, str(first), str(self.folder)],
                cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
                env={**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"},
                encoding="utf-8",
            )  # fmt: skip
            try:
                for failure, following in self._watched(worker, first):
                    first = following
                    if failure is not None:
                        yield failure
            finally:
                _end(worker)

    def _watched(self, worker: subprocess.Popen[str], first: int) -> Iterator[tuple[Failure | None, int]]:
        """What came of each, and which is the next."""
        lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=_read, args=(worker, lines), daemon=True).start()
        while first < len(self.all):
            begun = _next(lines, worker, STARTING)[0]
            if begun is None:
                yield self._failure(first, "died", "before it began"), first + 1
                return
            started = time.monotonic()
            ended, most, over = _next(lines, worker, MAX_SECONDS)
            self.slowest = max(self.slowest, (time.monotonic() - started, self.all[first]))
            if ended is None:
                yield self._failure(first, "died" if over else "hang", ""), first + 1
                return
            grown = max(ended["peak"] - begun["before"], most)
            self.largest = max(self.largest, (grown, self.all[first]))
            self.refused += ended["outcome"] == "refused"
            first += 1
            if grown > MAX_BYTES:
                yield self._failure(first - 1, "memory", f"{grown / 2**30:.1f} GB"), first
            elif ended["outcome"] in ("believed", "internal"):
                yield self._failure(first - 1, ended["outcome"], ended["said"]), first
            elif ended["readable"]:
                yield self._failure(first - 1, "readable", ", ".join(ended["readable"])), first
            else:
                yield None, first

    def _failure(self, number: int, what: str, said: str) -> Failure:
        return Failure(self.name, self.all[number], what, said)


def _next(
    lines: queue.Queue[dict[str, Any] | None], worker: subprocess.Popen[str], seconds: float
) -> tuple[dict[str, Any] | None, int, bool]:
    """The next line of a worker, None where it does not come in time; the most that a child of it took by then; and
    whether it has ended.
    """
    end, most = time.monotonic() + seconds, 0
    while (left := end - time.monotonic()) > 0:
        try:
            line = lines.get(timeout=min(LOOK, left))
            return line, most, line is None
        except queue.Empty:
            most = max(most, _children(worker.pid))
    return None, most, False


def _children(pid: int) -> int:
    """Bytes of the largest process below one."""
    try:
        return max((child.memory_info().rss for child in psutil.Process(pid).children(recursive=True)), default=0)
    except psutil.Error:
        return 0


def _read(worker: subprocess.Popen[str], lines: queue.Queue[dict[str, Any] | None]) -> None:
    assert worker.stdout is not None
    for line in worker.stdout:
        if line.startswith(MARK):
            lines.put(json.loads(line.removeprefix(MARK)))
    lines.put(None)


def _end(worker: subprocess.Popen[str]) -> None:
    try:
        below = psutil.Process(worker.pid).children(recursive=True)
    except psutil.Error:
        below = []
    worker.kill()
    worker.wait()
    for child in below:
        try:
            child.kill()
        except psutil.Error:
            continue


def examined(areas: list[str], quiet: bool) -> dict[str, Any]:
    """Try everything; tells of each area as it ends unless `quiet`."""
    failures: list[Failure] = []
    table: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        for name in areas:
            area = Area(name, Path(folder))
            found = list(area.failures())
            failures += found
            table[name] = {
                "tried": len(area.all), "failed": len(found), "refused": area.refused,
                "slowest": [round(area.slowest[0], 2), area.slowest[1]],
                "largest_mb": [round(area.largest[0] / 1e6), area.largest[1]],
            }  # fmt: skip
            if not quiet:
                print(f"{name:12} {table[name]}", flush=True)
                for one in found:
                    print(f"    {one.what}: {one.name}: {one.said}", flush=True)
    return {
        "tried": sum(row["tried"] for row in table.values()),
        "failed": len(failures),
        "areas": table,
        "failures": [asdict(one) for one in failures],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--area", nargs="+", choices=AREAS, default=list(AREAS), help="only these")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    found = examined(args.area, args.json)
    print(json.dumps(found, indent=1) if args.json else f"{found['tried']} tried, {found['failed']} failed")
    sys.exit(1 if found["failed"] else 0)


if __name__ == "__main__":
    main()
