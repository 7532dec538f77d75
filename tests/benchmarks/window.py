"""What the window costs the engine: decode speed with all panels open against the engine alone, answers in turn.

    python -m tests.benchmarks.window [--groups 6] [--tokens 900] [--same] [--json]

The built-in model with a third of its experts in memory, the same question and seed each time, on the Exact dial, so
that every answer has the same words: it is asked hot, with a seed that makes it go on, where it else ends after some
hundred tokens. Each engine is a process of its own: the window's, and one like it that nobody watches and that sends
nothing but the end of its answers, as the command line has it. The one whose turn it is not is frozen, so that nothing
it does for itself gets in between. In turns: alone, window, window, alone. The window paints offscreen unless
QT_QPA_PLATFORM says otherwise. --same: the window's turns are answers of the engine alone, too.

Speeds are of decoding by the engine's own clock. resolution: two standard errors of the slowdown, from how the first
and the last answer of each group differ; a slowdown smaller than that is not told from none. Beside it stands the time
of processors that the window takes, which other programs disturb less: as a part of what all cores can do, and by
thread, in milliseconds a second; and what the threads of its engine take that do not compute, beside those of the one
alone.

Exit code 1: the window takes more than BAR of the cores, or the slowdown is more than BAR beyond doubt.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from app.assembly import Underhill
from engine import api
from engine.apart import parent
from engine.hub.home import HOME
from tests.app.homes import lived_in
from tests.benchmarks import threads
from tests.benchmarks.engine_process import COMPUTING, PROGRAM, SILENT

GROUPS = 6  # of four answers
BAR = 0.02  # of the speed, and of the cores
TOKENS = 900
QUESTION = "Tell me a story about a brave dog."
SAMPLING = {"temperature": 2.0, "seed": 55}  # which the built-in model answers at length
CHOSEN = {"cache_fraction": 0.35, "dial": "exact"}
RESTING, LOOK = 0.02, 0.5  # of a core that an engine takes at most when it has nothing more of its own to do; seconds


@dataclass(frozen=True)
class Answered:
    """speed: tokens a second. seconds: in all. window, engine: seconds of processor time by thread."""

    speed: float
    tokens: int
    seconds: float
    window: Counter[str]
    engine: Counter[str]


class Engine:
    """A process that answers; notes the figures of every answer."""

    def __init__(self, program: tuple[str, ...], on_event: Callable[[api.Event], None] | None = None) -> None:
        self.last: api.Stats | None = None
        self._on_event = on_event
        self._ended = threading.Event()
        self.apart = parent.Apart(self._hear, program)

    def ask(self, command: api.Command) -> None:
        """Send it and wait for its end."""
        self._ended.clear()
        self.apart.send(command)
        self._ended.wait()

    def let(self, run: bool) -> None:
        """Freeze it, or let it go on."""
        os.kill(self.apart.pid, signal.SIGCONT if run else signal.SIGSTOP)

    def spent(self) -> Counter[str]:
        """Seconds of processor time by thread."""
        return threads.of(self.apart.pid)

    def _hear(self, event: api.Event) -> None:
        if isinstance(event, api.Failed):
            print(event.sentence, event.cause, file=sys.stderr)
            os._exit(2)
        if isinstance(event, api.Done) and isinstance(event.result, api.Stats):
            self.last = event.result
        if self._on_event is not None:
            self._on_event(event)
        if isinstance(event, api.TERMINAL):
            self._ended.set()


def main() -> int:
    """Print the medians and their ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--groups", type=int, default=GROUPS)
    parser.add_argument("--tokens", type=int, default=TOKENS)
    parser.add_argument("--same", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="underhill-window-") as folder:
        os.environ[HOME] = str(Path(folder) / "data")
        answers = measure(Path(folder), options.groups, dict(SAMPLING, max_tokens=options.tokens), options.same)
    found = compared(answers)
    if options.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:44} {value}")
    beyond_doubt = found["slowdown"] - found["resolution"]
    return 0 if found["window_share_of_cores"] <= BAR and beyond_doubt <= BAR else 1


def compared(answers: list[Answered]) -> dict[str, float]:
    """Of groups of four: alone, window, window, alone."""
    groups = [answers[at : at + 4] for at in range(0, len(answers), 4)]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    ratios = [math.log((b.speed + c.speed) / (a.speed + d.speed)) for a, b, c, d in groups]
    same = [math.log(d.speed / a.speed) for a, _, _, d in groups]  # deviates sqrt(2) times as much as a ratio
    slowdown = 1 - math.exp(statistics.mean(ratios))
    resolution = 2 * math.sqrt(statistics.mean(x * x for x in same) / 2 / len(groups))
    alone, beside = ([x for g in groups for x in (g[i], g[j])] for i, j in ((0, 3), (1, 2)))
    share = sum(b.window.total() for b in beside) / sum(b.seconds for b in beside) / cores
    figures = {
        "alone_tokens_per_second": statistics.median(a.speed for a in alone),
        "with_window_tokens_per_second": statistics.median(b.speed for b in beside),
        "tokens_of_an_answer": statistics.median(b.tokens for b in beside),
        "slowdown": slowdown, "resolution": resolution, "bar": BAR,
        "lowest_ratio": math.exp(min(ratios)), "highest_ratio": math.exp(max(ratios)),
        "lowest_ratio_of_same": math.exp(min(same)), "highest_ratio_of_same": math.exp(max(same)),
        "window_share_of_cores": share, "share_to_bar": share / BAR, "groups": len(groups),
    }  # fmt: skip
    figures |= {f"window: {name}, ms/s": ms for name, ms in by_thread(beside, lambda x: x.window).items()}
    own, others = by_thread(beside, lambda x: x.engine), by_thread(alone, lambda x: x.engine)
    for name in sorted({*own, *others} - {COMPUTING}):
        figures |= {f"its engine: {name}, ms/s": own[name], f"engine alone: {name}, ms/s": others[name]}
    return {name: round(value, 4) for name, value in figures.items()}


def by_thread(answers: list[Answered], of: Callable[[Answered], Counter[str]]) -> Counter[str]:
    """Milliseconds a second, the most first."""
    seconds, total = sum(a.seconds for a in answers), sum(map(of, answers), Counter[str]())
    return Counter({name: 1000 * s / seconds for name, s in total.most_common() if 1000 * s / seconds >= 0.05})


def measure(folder: Path, groups: int, sampling: dict[str, float], same: bool) -> list[Answered]:
    """Answers in groups of four: alone, window, window, alone."""
    application = QApplication([])
    engines: list[Engine] = []

    def start(on_event: Callable[[api.Event], None]) -> api.Engine:
        engines.append(Engine(PROGRAM, on_event))
        return engines[-1].apart

    underhill = Underhill(application, lived_in(folder / "window"), start)
    window, talk = underhill.window, underhill.conversation
    window._preferences.engine = dict(CHOSEN)
    talk.sampling = dict(sampling)
    window.resize(1280, 900)
    underhill.open()
    talk.finished.connect(lambda _: application.exit())  # quit() would close the window, too

    def until(condition: Callable[[], bool]) -> None:
        while not condition():
            application.processEvents()
            time.sleep(0.001)

    def rests(engine: Engine) -> bool:
        before, end = engine.spent().total(), time.monotonic() + LOOK
        until(lambda: time.monotonic() > end)
        return engine.spent().total() - before < RESTING * LOOK

    until(lambda: underhill.models.state == "ready")
    watched, single = engines[0], Engine(SILENT)
    single.ask(api.LoadModel("load", "builtin", dict(CHOSEN)))
    assert window.live.shown

    def alone() -> None:
        single.ask(api.Generate("alone", (api.Message("user", QUESTION),), dict(sampling)))

    def beside() -> None:
        talk.new()
        talk.send(QUESTION)
        application.exec()  # as the window runs; it returns when the answer has ended
        assert window.live.figures.isVisible()

    def timed(with_window: bool) -> Answered:
        engine = watched if with_window and not same else single
        until(lambda: not talk.working)
        (single if engine is watched else watched).let(False)
        engine.let(True)
        before, began, own = engine.spent(), time.perf_counter(), threads.own()
        (beside if engine is watched else alone)()
        seconds = time.perf_counter() - began
        assert engine.last is not None
        return Answered(engine.last.decode_tokens_per_second, len(engine.last.token_ids), seconds,
                        threads.own() - own, engine.spent() - before)  # fmt: skip

    for engine in (watched, single):
        until(lambda engine=engine: rests(engine))  # type: ignore[misc]
    for with_window in (False, True):  # the cache is warm from then on
        timed(with_window)
    found = [timed(which) for _ in range(groups) for which in (False, True, True, False)]
    for engine in (watched, single):
        engine.let(True)
    window.close()
    underhill.close()
    single.apart.close()
    return found


if __name__ == "__main__":
    sys.exit(main())
