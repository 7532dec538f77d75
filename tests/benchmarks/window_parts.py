"""What a second of a streaming window is made of: processor time by thread, and of the window's thread by handler.

    python -m tests.benchmarks.window_parts [--seconds 10] [--scripted RATE] [--hidden] [--idle] [--json]

The built-in model answers, all panels open (--hidden: none; --idle: nothing is asked). --scripted: the scripted engine
at so many tokens a second, in the window's process. It paints offscreen unless QT_QPA_PLATFORM says otherwise.

Milliseconds of processor time a second. A handler's time is without that of handlers that it calls; `Qt` is what the
window's thread does in none of them. Of the engine's process, the threads that compute are left out: they spin while
they wait for each other.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QApplication

from app.application import Application
from app.backend import EngineLink
from app.chat.running_answers import RunningAnswers
from app.platform.main_thread import MainThreadQueue
from app.storage.store import ChatStore
from app.telemetry.charts import LineChart, PartsBar, StackedChart
from app.telemetry.docks import TelemetryDocks
from app.telemetry.experts_panel import ExpertsPanel
from app.telemetry.figures_panel import FiguresPanel
from app.telemetry.heatmap import ExpertHeatmap
from app.telemetry.history import TelemetryHistory
from app.transcript.view import TranscriptView
from engine import protocol
from engine.library.home import HOME
from engine.process import engine_process
from tests.app.fake_engine import scripted
from tests.app.homes import lived_in
from tests.benchmarks import threads
from tests.benchmarks.common import arguments, emit
from tests.benchmarks.engine_process import COMPUTING, PROGRAM

HANDLERS: tuple[tuple[type, str], ...] = (
    (TranscriptView, "extend"), (TranscriptView, "paintEvent"), (RunningAnswers, "_show_news"),
    (RunningAnswers, "_save_news"), (MainThreadQueue, "_run_batch"), (EngineLink, "_deliver"),
    (EngineLink, "_deliver_texts"), (TelemetryDocks, "take"), (TelemetryHistory, "add"),
    (FiguresPanel, "show_history"), (ExpertsPanel, "show_data"), (LineChart, "paintEvent"),
    (StackedChart, "paintEvent"), (PartsBar, "paintEvent"), (ExpertHeatmap, "paintEvent"), (ChatStore, "update"),
)  # fmt: skip
WARM = 5000  # milliseconds until an idle window is read
AFTER, SLICE = 200, 2000  # milliseconds of an answer
SHORTEST = 0.4  # seconds
CHOSEN = {"cache_fraction": 0.35, "dial": "exact"}
QUESTION = "Tell me a story about a brave dog."
SAMPLING = {"temperature": 2.0, "max_tokens": 900}  # so hot, some do not end for long
PROSE = "Under the hill, in a quiet house, lived a dog that was brave by day and braver by night, or so it said. " * 4
PROSE += "\n\n"


class Ledger:
    """seconds, calls: by handler."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self._within: dict[int, list[float]] = {}

    def wrap(self, kind: type, name: str) -> None:
        """Time every call of this method from now on."""
        method: Callable[..., Any] = getattr(kind, name)
        label = f"{kind.__name__}.{name}"

        @functools.wraps(method)
        def timed(*values: Any, **named: Any) -> Any:
            within = self._within.setdefault(threading.get_ident(), [0.0])
            within.append(0.0)
            began = time.thread_time()
            try:
                return method(*values, **named)
            finally:
                took = time.thread_time() - began
                self.seconds[label] += took - within.pop()
                self.calls[label] += 1
                within[-1] += took

        setattr(kind, name, timed)


def main() -> int:
    """Print the table."""
    parser = arguments(__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--scripted", type=float, default=0.0)
    parser.add_argument("--hidden", action="store_true")
    parser.add_argument("--idle", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="underhill-window-") as folder:
        os.environ[HOME] = str(Path(folder) / "data")
        found = measure(Path(folder), options)
    emit(found, options.json)
    return 0


@dataclass(frozen=True)
class Reading:
    """seconds: of the clock. spent: processor time by thread. handlers, calls: as of the ledger. tokens: decoded."""

    seconds: float
    spent: dict[str, float]
    handlers: dict[str, float]
    calls: dict[str, int]
    tokens: int


class Meter(QObject):
    """Reads at both ends of slices of answers, so that neither their begin nor their end is in them."""

    def __init__(self, underhill: Application, ledger: Ledger, engine: int | None) -> None:
        super().__init__()
        self.slices: list[tuple[Reading, Reading]] = []
        self._underhill, self._ledger, self._engine = underhill, ledger, engine
        self._answer = 0
        self._began: Reading | None = None

    def read(self) -> Reading:
        """Now."""
        last = self._underhill.window.live.history.last
        ledger = self._ledger
        return Reading(time.perf_counter(), times(self._engine), dict(ledger.seconds), dict(ledger.calls),
                       last.tokens if last is not None else 0)  # fmt: skip

    @Slot(object, str, str)
    def grew(self, message: int, text: str, status: str) -> None:
        """More of an answer is shown."""
        if text and message != self._answer:
            self._answer, self._began = message, None
            QTimer.singleShot(AFTER, self, self._begin)

    def finished(self) -> None:
        """The answer has ended: so does the slice, unless it has already, or is too short to tell anything."""
        if self._began is not None:
            now = self.read()
            if now.seconds - self._began.seconds >= SHORTEST:
                self.slices.append((self._began, now))
        self._began = None

    def _begin(self) -> None:
        if self._underhill.conversation.working:
            self._began = self.read()
            QTimer.singleShot(SLICE, self, partial(self._end, self._answer))

    def _end(self, answer: int) -> None:
        if answer == self._answer:
            self.finished()


def measure(folder: Path, options: argparse.Namespace) -> dict[str, float]:
    """Milliseconds a second by name."""
    ledger = Ledger()
    for kind, name in HANDLERS:
        ledger.wrap(kind, name)
    engines: list[engine_process.EngineProcess] = []

    def apart(on_event: Callable[[protocol.Event], None]) -> protocol.Engine:
        engines.append(engine_process.EngineProcess(on_event, PROGRAM))
        return engines[-1]

    application = QApplication([])
    script = scripted(rate=options.scripted, script=lambda messages: PROSE * 400)
    underhill = Application(application, lived_in(folder / "window"), script if options.scripted else apart)
    talk, window = underhill.conversation, underhill.window
    window.preferences.engine = dict(CHOSEN)
    window.resize(1280, 900)
    underhill.open()
    while underhill.models.state != "ready":
        application.processEvents()
        time.sleep(0.001)
    window.live.show_all(not options.hidden)

    seeds = itertools.count(1)
    meter = Meter(underhill, ledger, engines[0].pid if engines else None)

    def ask() -> None:
        talk.sampling = dict(SAMPLING, seed=next(seeds))
        talk.new()
        talk.send(QUESTION)

    if options.idle:
        QTimer.singleShot(WARM, application.exit)
        application.exec()
        before = meter.read()
    else:
        talk.grew.connect(meter.grew)
        talk.finished.connect(lambda _: meter.finished())
        talk.finished.connect(lambda _: QTimer.singleShot(0, ask))
        ask()
    QTimer.singleShot(int(1000 * options.seconds), application.exit)
    application.exec()
    if options.idle:
        meter.slices.append((before, meter.read()))
    else:
        talk.finished.disconnect()
        talk.stop()
        while talk.working:
            application.processEvents()
    window.close()
    underhill.close()
    return table(meter.slices)


def table(slices: list[tuple[Reading, Reading]]) -> dict[str, float]:
    """All slices together."""
    spent: Counter[str] = Counter()
    handlers: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for before, after in slices:
        for total, old, new in (
            (spent, before.spent, after.spent), (handlers, before.handlers, after.handlers),
            (calls, before.calls, after.calls),
        ):  # fmt: skip
            total.update({name: value - old.get(name, 0) for name, value in new.items()})  # type: ignore[arg-type]
    seconds = sum(after.seconds - before.seconds for before, after in slices)
    own = {name: s for name, s in spent.items() if name.startswith("window: ")}
    beside = {name: s for name, s in spent.items() if name.startswith("engine: ")}
    in_handlers = sum(s for name, s in handlers.items() if not name.startswith("ChatStore"))
    rows = {"tokens a second": sum(after.tokens - before.tokens for before, after in slices) / 1000}
    rows |= {"window's process": sum(own.values())}
    rows |= dict(sorted(own.items(), key=lambda pair: -pair[1]))
    rows |= {"engine's process, but for what computes": sum(beside.values())}
    rows |= dict(sorted(beside.items(), key=lambda pair: -pair[1]))
    rows |= {f"  {name} ({calls[name] / seconds:.1f} times)": s for name, s in handlers.most_common() if s}
    rows |= {"  Qt": own["window: MainThread"] - in_handlers}
    return {name: round(1000 * value / seconds, 2) for name, value in rows.items()} | {"seconds": round(seconds, 1)}


def times(engine: int | None) -> dict[str, float]:
    """Seconds of processor time by thread."""
    found = {f"window: {name}": seconds for name, seconds in threads.own().items()}
    if engine is not None:
        found |= {f"engine: {name}": seconds for name, seconds in threads.of(engine).items() if name != COMPUTING}
    return found


if __name__ == "__main__":
    sys.exit(main())
