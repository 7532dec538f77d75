"""The engine's own process as the window starts it, its threads bearing their names for the system, too.

    python -m tests.benchmarks.engine_process [--silent] PID

--silent: nothing leaves it but what ends a command, as if a terminal had it: no text, no telemetry.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

from engine import api
from engine.apart import child

PROGRAM = ("-m", "tests.benchmarks.engine_process")
SILENT = (*PROGRAM, "--silent")
COMPUTING = "underhill-model"  # the threads that do so, all of them by the name of the one that starts them


class Silent(child.Mouth):
    """Sends only what ends a command."""

    def say(self, event: api.Event) -> None:
        """As a Mouth, of what ends a command."""
        if isinstance(event, api.TERMINAL):
            super().say(event)


def name_thread(frame: FrameType, event: str, argument: Any) -> None:
    """Called once as each thread begins. Threads of libraries take the name of the one that starts them."""
    sys.setprofile(None)
    comm = Path(f"/proc/self/task/{threading.get_native_id()}/comm")
    if comm.exists():
        comm.write_text(threading.current_thread().name[:15], encoding="ascii", errors="replace")


if __name__ == "__main__":
    if "--silent" in sys.argv:
        child.Mouth = Silent  # type: ignore[misc]
    threading.setprofile(name_thread)
    child.main(int(sys.argv[-1]))
