"""What the window costs the engine: decode speed with all panels open and without, in turns within each answer.

    python -m tests.benchmarks.window [--pairs 12] [--tokens 900] [--same] [--json]

The built-in model with a third of its experts in memory, the same question and seed each time, on the Exact dial, so
that every answer has the same words: it is asked hot, with the first seed that makes it go on to the end, where it
else ends after some hundred tokens. One engine, in its own process as always; while it answers, what it says is
switched on and off every TURN seconds. Off, nothing leaves it, as if a command line had it, and the window sleeps; on
again, text comes when it would be due had it come all along.
When it has been switched off, the window first does what it has left to do; that time counts for neither. Two answers
make a pair, the second of which begins with the other turn, so that both turns have the same tokens. The window paints
offscreen unless QT_QPA_PLATFORM says otherwise. As often as it has come to paint in the answers before
(app/telemetry/frame_throttle.py), it paints to the end.
--same: switched off at the first word for good, which tells what the method makes up.

Why one engine: two of them, with the same model and nobody watching, differed by 8 % in all of twelve pairs.

slowdown: what the tokens a second lack beside the window. resolution: two standard errors of it, from how the pairs
differ; a slowdown smaller than that is not told from none. rise: what a token takes of processor time beside the
window, all threads of both processes together, above what it takes without, with a resolution of its own; where the
engine keeps all cores busy it is the slowdown, and other programs disturb it less. Beside them stands the time of
processors that the window takes: as a part of what all cores can do, and by thread, in milliseconds a second; and what
the threads of the engine take that do not compute, in both turns.

Exit code 1: the window takes more than BAR of the cores, or the slowdown is more than BAR beyond doubt.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.application import Application
from engine import protocol
from engine.library.home import HOME
from engine.process import engine_process
from tests.app.homes import lived_in
from tests.benchmarks.common import arguments, emit
from tests.benchmarks.engine_process import COMPUTING, PROGRAM, Switch, seconds_by_thread

PAIRS = 12
WARM = 3  # answers before them, in which the cache fills and the window finds its pace
TURN, LEFT = 0.7, 0.03  # seconds of a turn; in which the window has nothing left to do
BAR = 0.02  # of the speed, and of the cores
TOKENS = 900
QUESTION = "Tell me a story about a brave dog."
HOT = 2.0  # temperature
SEEDS = 500  # tried, at most
CHOSEN = {"cache_fraction": 0.35, "dial": "exact"}
RESTING, LOOK = 0.02, 0.5  # of a core that an engine takes at most when it has nothing more of its own to do; seconds


@dataclass(frozen=True)
class Turn:
    """began, ended: by time.perf_counter. window, engine: processor time by thread meanwhile, in seconds."""

    began: float
    ended: float
    window: Counter[str]
    engine: Counter[str]


@dataclass
class Spent:
    """All turns of one kind in the answers of a pair. told: tokens, of which seconds are the time."""

    told: int = 0
    seconds: float = 0.0
    window: Counter[str] = field(default_factory=Counter)
    engine: Counter[str] = field(default_factory=Counter)

    def add(self, turn: Turn, times: list[tuple[float, int]]) -> None:
        """times: when tokens were told, and how many; a turn counts where it is within the answer."""
        if not times or turn.began < times[0][0] or turn.ended > times[-1][0]:
            return
        self.told += sum(count for at, count in times if turn.began < at <= turn.ended)
        self.seconds += turn.ended - turn.began
        self.window += turn.window
        self.engine += turn.engine

    @property
    def speed(self) -> float:
        """Tokens a second."""
        return self.told / self.seconds

    @property
    def price(self) -> float:
        """Processor time of a token."""
        return (self.window.total() + self.engine.total()) / self.told


@dataclass(frozen=True)
class Pair:
    """Two answers of the same words. alone: without the window. tokens: of one of them."""

    alone: Spent
    beside: Spent
    tokens: int


class Engine:
    """A process that answers; notes the end of every answer."""

    def __init__(self, folder: Path, on_event: Callable[[protocol.Event], None]) -> None:
        self.stats: protocol.Stats | None = None
        self.begun = threading.Event()  # an answer has
        self.ended = threading.Event()
        self._on_event = on_event
        self.apart = engine_process.EngineProcess(self._hear, (*PROGRAM, "--switch", str(folder)))

    def spent(self) -> Counter[str]:
        """Seconds of processor time by thread."""
        return seconds_by_thread(self.apart.pid)

    def _hear(self, event: protocol.Event) -> None:
        if isinstance(event, protocol.Failed):
            print(event.sentence, event.cause, file=sys.stderr)
            os._exit(2)
        if isinstance(event, protocol.TextDelta):
            self.begun.set()
        if isinstance(event, protocol.Done) and isinstance(event.result, protocol.Stats):
            self.stats = event.result
            self.ended.set()
        self._on_event(event)


def main() -> int:
    """Print what the pairs say."""
    parser = arguments(__doc__)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--tokens", type=int, default=TOKENS)
    parser.add_argument("--same", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="underhill-window-") as folder:
        os.environ[HOME] = str(Path(folder) / "data")
        sampling = {"temperature": HOT, "max_tokens": options.tokens}
        pairs = measure(Path(folder), options.pairs, sampling, options.same)
    found = compared(pairs)
    emit(found, options.json)
    beyond_doubt = found["slowdown"] - found["resolution"]
    return 0 if found["window_share_of_cores"] <= BAR and beyond_doubt <= BAR else 1


def compared(pairs: list[Pair]) -> dict[str, float]:
    """Slowdown, rise and shares, with what they can tell."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    alone, beside = [p.alone for p in pairs], [p.beside for p in pairs]
    speeds = [math.log(p.beside.speed / p.alone.speed) for p in pairs]
    prices = [math.log(p.beside.price / p.alone.price) for p in pairs]
    share = sum(b.window.total() for b in beside) / sum(b.seconds for b in beside) / cores
    figures = {
        "alone_tokens_per_second": statistics.median(a.speed for a in alone),
        "with_window_tokens_per_second": statistics.median(b.speed for b in beside),
        "tokens_of_an_answer": statistics.median(p.tokens for p in pairs),
        "slowdown": 1 - math.exp(statistics.mean(speeds)), "resolution": doubt(speeds), "bar": BAR,
        "rise": math.exp(statistics.mean(prices)) - 1, "resolution_of_rise": doubt(prices),
        "cores_busy_alone": sum(a.engine.total() for a in alone) / sum(a.seconds for a in alone),
        "window_share_of_cores": share, "share_to_bar": share / BAR, "pairs": len(pairs),
    }  # fmt: skip
    figures |= {f"window: {name}, ms/s": ms for name, ms in by_thread(beside, lambda x: x.window).items()}
    watched, single = by_thread(beside, lambda x: x.engine), by_thread(alone, lambda x: x.engine)
    for name in sorted({*watched, *single} - {COMPUTING}):
        figures |= {f"engine beside it: {name}, ms/s": watched[name], f"engine alone: {name}, ms/s": single[name]}
    return {name: round(value, 4) for name, value in figures.items()}


def doubt(values: list[float]) -> float:
    """Two standard errors of their mean."""
    return 2 * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def by_thread(turns: list[Spent], of: Callable[[Spent], Counter[str]]) -> Counter[str]:
    """Milliseconds a second, the most first."""
    seconds, total = sum(t.seconds for t in turns), sum(map(of, turns), Counter[str]())
    return Counter({name: 1000 * s / seconds for name, s in total.most_common() if 1000 * s / seconds >= 0.05})


def measure(folder: Path, count: int, sampling: dict[str, float], same: bool) -> list[Pair]:
    """So many pairs."""
    application = QApplication([])
    switch = Switch(folder)
    engines: list[Engine] = []

    def start(on_event: Callable[[protocol.Event], None]) -> protocol.Engine:
        engines.append(Engine(folder, on_event))
        return engines[-1].apart

    underhill = Application(application, lived_in(folder / "window"), start)
    (engine,) = engines
    window, talk = underhill.window, underhill.conversation
    window.preferences.engine = dict(CHOSEN)
    window.resize(1280, 900)
    underhill.open()
    over = QTimer(singleShot=True, interval=round(1000 * TURN))
    over.timeout.connect(application.exit)  # quit() would close the window, too

    def until(condition: Callable[[], bool]) -> None:
        while not condition():
            application.processEvents()
            time.sleep(0.001)

    def rests() -> bool:
        before, end = engine.spent().total(), time.monotonic() + LOOK
        until(lambda: time.monotonic() > end)
        return engine.spent().total() - before < RESTING * LOOK

    def finish_up() -> None:
        """What the window has left to do."""
        quiet = time.monotonic()
        while time.monotonic() < quiet + LEFT:
            worked = time.thread_time()
            application.processEvents()
            if time.thread_time() - worked > LEFT / 100:
                quiet = time.monotonic()
            time.sleep(0.001)

    def turn(beside: bool) -> Turn:
        spent, own, began = engine.spent(), seconds_by_thread(), time.perf_counter()
        if beside:
            switch.turn(not same)
            over.start()
            application.exec()  # as the window runs
        else:
            engine.ended.wait(TURN)
        ended = time.perf_counter()
        switch.turn(False)
        made = Turn(began, ended, seconds_by_thread() - own, engine.spent() - spent)
        if beside:
            finish_up()
        return made

    def answer(beside: bool) -> tuple[list[Turn], list[Turn]]:
        """Turns without the window and with it; beside: this comes first."""
        until(lambda: not talk.working)
        engine.begun.clear()
        engine.ended.clear()
        switch.turn(True)
        talk.new()
        talk.send(QUESTION)
        until(engine.begun.is_set)
        switch.turn(False)
        finish_up()
        found: tuple[list[Turn], list[Turn]] = [], []
        while not engine.ended.is_set():
            found[beside].append(turn(beside))
            beside = not beside
        return found

    def pair() -> Pair:
        alone, beside = Spent(), Spent()
        for first in (False, True):
            found = answer(first)
            for spent, turns in zip((alone, beside), found):
                for one in turns:
                    spent.add(one, switch.kept())
        assert engine.stats is not None
        if not alone.told or not beside.told:
            raise SystemExit(f"No turn of {TURN} s has room in so short an answer: more --tokens are needed.")
        return Pair(alone, beside, len(engine.stats.token_ids))

    until(lambda: underhill.models.state == "ready")
    assert window.live.shown
    until(rests)
    switch.turn(True)

    def length(seed: int) -> int:
        """Tokens of an answer."""
        talk.sampling = {**sampling, "seed": seed}
        talk.new()
        talk.send(QUESTION)
        until(lambda: not talk.working)
        assert engine.stats is not None
        return len(engine.stats.token_ids)

    for seed in range(SEEDS):
        if length(seed) >= sampling["max_tokens"]:
            break
    else:
        raise SystemExit(f"No seed makes an answer of {sampling['max_tokens']} tokens.")
    for _ in range(WARM):
        length(seed)
    # it would see a window that works half of the time
    underhill.link.telemetry.disconnect(underhill.frame_throttle.take)
    found = [pair() for _ in range(count)]
    window.close()
    underhill.close()
    return found


if __name__ == "__main__":
    sys.exit(main())
