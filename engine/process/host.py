"""The engine's side: commands come by standard input, events leave by what was standard output."""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import os
import platform
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from engine import log, private_files, protocol
from engine.errors import UnderhillError
from engine.hardware import control_groups
from engine.process import pipes
from engine.process.event_writer import BROKEN, EventWriter

_log = logging.getLogger(__name__)

FIRST_TO_GO = 300  # by which the system, where memory runs out, would rather end the engine than the window


def main(served: int) -> NoReturn:
    """Serve until standard input ends, which it also does when the window's process is killed.

    served: the window's process, whose memory counts together with this one's.
    """
    try:
        _serve(served)
    except BaseException as error:  # threads of the engine would keep the process, and nobody would be answered
        _log.critical("The engine cannot go on", exc_info=error)
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(BROKEN)
    os._exit(0)  # what threads still do is for nobody


def _serve(served: int) -> None:
    private_files.write_privately()
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)  # what libraries print must not come among the events
    faulthandler.enable()
    log.to_parent()
    _log.info("The engine begins: Python %s, %s", platform.python_version(), platform.platform(terse=True))
    if sys.platform != "win32":  # comes before it is killed (see `stop_watchdog`); works while Python's lock is held
        faulthandler.register(signal.SIGUSR1, all_threads=True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is the window's to answer
    with contextlib.suppress(OSError):  # there is no such thing on this system
        Path("/proc/self/oom_score_adj").write_text(str(FIRST_TO_GO), encoding="ascii")
    writer = EventWriter(outgoing)

    def tell(event: protocol.Event) -> None:
        if isinstance(event, protocol.Done) and isinstance(event.result, protocol.ModelCard):
            protocol.settle_garbage()
        writer.send(event)

    engine = _engine(served, tell)
    with contextlib.suppress(EOFError):
        while True:
            command = pipes.read(incoming)
            if isinstance(command, protocol.Watch):
                writer.pause = command.look.pause
            engine.send(command)
    engine.close()
    writer.close()
    _log.info("The engine ends")
    sys.stderr.flush()


def _engine(served: int, tell: Callable[[protocol.Event], None]) -> protocol.Engine:
    """One that says why where there is no room for its libraries, which are imported only then."""
    try:
        control_groups.require_least_memory()
    except UnderhillError as error:
        return RefusingEngine(tell, error)
    from engine.hardware import probe
    from engine.service import Service

    probe.serve(served)
    return Service(tell)


class RefusingEngine:
    """An engine where there is no room for one: every command fails with `error`."""

    def __init__(self, on_event: Callable[[protocol.Event], None], error: UnderhillError) -> None:
        self._on_event, self._error = on_event, error

    def send(self, command: protocol.Command) -> None:
        """As protocol.Engine."""
        error = self._error
        self._on_event(protocol.Failed(command.id, error.kind, error.sentence, error.action))

    def close(self, timeout: float = 10.0) -> None:
        """As protocol.Engine."""
