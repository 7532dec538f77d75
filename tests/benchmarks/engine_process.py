"""The engine's own process as the window starts it, its threads bearing their names for the system, too.

    python -m tests.benchmarks.engine_process [--switch FOLDER] PID

--switch: what it says can be switched off and on, see `Switch`; while it is off nothing leaves it but what ends a
command, as if a terminal had it: no text, no telemetry.
"""

from __future__ import annotations

import json
import mmap
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import IO, Any

from engine import protocol
from engine.process import host

PROGRAM = ("-m", "tests.benchmarks.engine_process")
COMPUTING = "underhill-model"  # the threads that do so, all of them by the name of the one that starts them


LIBRARIES = "threads of libraries"


def seconds_by_thread(pid: int | None = None) -> Counter[str]:
    """Return the processor time of every thread, as Linux counts it; elsewhere none.

    Of this process by Python's names, its libraries' threads together; of another one by the system's names.
    """
    names = {thread.native_id: thread.name for thread in threading.enumerate()}
    found: Counter[str] = Counter()
    folder = Path(f"/proc/{pid or 'self'}/task")
    for task in folder.iterdir() if folder.exists() else ():
        try:
            comm = (task / "comm").read_text(encoding="utf-8", errors="replace").strip()
            name = comm if pid else names.get(int(task.name), LIBRARIES)
            found[name] += int((task / "schedstat").read_text().split()[0]) / 1e9
        except OSError:  # it has ended meanwhile
            continue
    return found


class Switch:
    """A byte in a folder that both processes see. when: what is written of the last answer, at its end."""

    def __init__(self, folder: Path) -> None:
        self._times = folder / "times.json"
        path = folder / "switch"
        if not path.exists():
            path.write_bytes(b"\x01")
        with path.open("r+b") as file:
            self._byte = mmap.mmap(file.fileno(), 1)

    @property
    def on(self) -> bool:
        """Does the engine speak?"""
        return self._byte[0] == 1

    def turn(self, on: bool) -> None:
        """From now on."""
        self._byte[0] = on

    def keep(self, times: list[tuple[float, int]]) -> None:
        """When tokens were told, by time.perf_counter, and how many."""
        self._times.write_text(json.dumps(times), encoding="utf-8")

    def kept(self) -> list[tuple[float, int]]:
        """What was kept last."""
        return [(at, count) for at, count in json.loads(self._times.read_text(encoding="utf-8"))]


class Switched(host.EventWriter):
    """Says all or little, and notes when tokens come.

    Whoever listens again hears text when it would be due had he listened all along, not at once.
    """

    switch: Switch

    def __init__(self, stream: IO[bytes]) -> None:
        self._times: list[tuple[float, int]] = []
        self._unheard = False
        self._due = 0.0  # when the next piece of text would leave
        super().__init__(stream)

    def send(self, event: protocol.Event) -> None:
        """As a EventWriter; while it is switched off, of what ends a command."""
        now = time.perf_counter()
        if isinstance(event, protocol.TextDelta):
            self._times.append((now, len(event.token_ids)))
        if isinstance(event, protocol.Done) and isinstance(event.result, protocol.Stats):
            self.switch.keep(self._times)
            self._times = []
        if isinstance(event, protocol.TERMINAL):
            super().send(event)
        elif not self.switch.on:
            self._unheard = True
            if now >= self._due:
                self._due = now + host.EARLY * self.pause
        elif not (self._unheard and isinstance(event, protocol.TextDelta) and now < self._due):
            self._unheard = self._unheard and not isinstance(event, protocol.TextDelta)
            super().send(event)


def name_thread(frame: FrameType, event: str, argument: Any) -> None:
    """Called once as each thread begins. Threads of libraries take the name of the one that starts them."""
    sys.setprofile(None)
    comm = Path(f"/proc/self/task/{threading.get_native_id()}/comm")
    if comm.exists():
        comm.write_text(threading.current_thread().name[:15], encoding="ascii", errors="replace")


if __name__ == "__main__":
    if "--switch" in sys.argv:
        Switched.switch = Switch(Path(sys.argv[sys.argv.index("--switch") + 1]))
        host.EventWriter = Switched  # type: ignore[misc]
    threading.setprofile(name_thread)
    host.main(int(sys.argv[-1]))
