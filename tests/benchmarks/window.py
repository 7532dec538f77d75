"""What the window costs the engine: decode speed with all panels open against the engine alone, answers in turn.

    python -m tests.benchmarks.window [--pairs 12] [--json]

The built-in model with a third of its experts in memory, the same question and seed each time. Alone: an engine in this
process, as the command line has it, while the window's thread sleeps until the answer is there; nothing else is asked
of it. The window's own engine, in its process, has the same settings. The window paints offscreen unless
QT_QPA_PLATFORM says otherwise.

Beside the speeds stands what the window's process computed meanwhile, as a part of what all cores could have, which
other programs on the computer disturb less. Exit code 1: the slowdown is more than BAR.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from app.assembly import Underhill
from engine import api
from engine.hub.home import HOME
from tests.app.homes import lived_in

PAIRS = 12
BAR = 0.02  # of the speed
QUESTION = "Tell me a story about a brave dog."
SAMPLING = {"temperature": 0.9, "seed": 5, "max_tokens": 400}
CHOSEN = {"cache_fraction": 0.35, "dial": "balanced"}


@dataclass(frozen=True)
class Answered:
    """speed: tokens a second. window: seconds of processor time of this process. seconds: that it took in all."""

    speed: float
    window: float
    seconds: float


class Spy:
    """Notes the figures of every answer."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.last: api.Stats | None = None

    def hear(self, event: api.Event) -> None:
        """What an engine says."""
        if isinstance(event, api.Failed):
            raise SystemExit(event.sentence)
        if isinstance(event, api.Done):
            if isinstance(event.result, api.Stats):
                self.last = event.result
            self.ended.set()

    def start(self, on_event: Callable[[api.Event], None]) -> api.Engine:
        """As api.start_apart, overheard."""

        def heard(event: api.Event) -> None:
            on_event(event)
            self.hear(event)

        return api.start_apart(heard)


def main() -> int:
    """Print the medians and their ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="underhill-window-") as folder:
        os.environ[HOME] = str(Path(folder) / "data")
        alone, beside = measure(Path(folder), options.pairs)
    found = compared(alone, beside)
    if options.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:32} {value}")
    return 0 if found["slowdown"] <= BAR else 1


def compared(alone: list[Answered], beside: list[Answered]) -> dict[str, float]:
    """Medians over pairs of answers."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    ratios = [b.speed / a.speed for a, b in zip(alone, beside, strict=True)]
    slowdown = 1 - statistics.median(ratios)
    figures = {
        "alone_tokens_per_second": statistics.median(a.speed for a in alone),
        "with_window_tokens_per_second": statistics.median(b.speed for b in beside),
        "slowdown": slowdown, "bar": BAR, "ratio_to_bar": slowdown / BAR,
        "lowest_ratio": min(ratios), "highest_ratio": max(ratios),
        "window_share_of_cores": statistics.median(b.window / b.seconds / cores for b in beside), "pairs": len(ratios),
    }  # fmt: skip
    return {name: round(value, 4) for name, value in figures.items()}


def measure(folder: Path, pairs: int) -> tuple[list[Answered], list[Answered]]:
    """Answers of the engine alone, and with the window."""
    application = QApplication([])
    spy = Spy()
    underhill = Underhill(application, lived_in(folder / "window"), spy.start)
    window = underhill.window
    window._preferences.engine = dict(CHOSEN)
    underhill.conversation.sampling = dict(SAMPLING)
    window.resize(1280, 900)
    underhill.open()
    underhill.conversation.finished.connect(lambda _: application.exit())  # quit() would close the window, too

    def until(condition: Callable[[], bool]) -> None:
        while not condition():
            application.processEvents()
            time.sleep(0.001)

    own_spy = Spy()
    single = api.start(own_spy.hear)

    def ask(command: api.Command) -> None:
        own_spy.ended.clear()
        single.send(command)
        own_spy.ended.wait()

    def alone() -> api.Stats | None:
        ask(api.Generate("alone", (api.Message("user", QUESTION),), dict(SAMPLING)))
        return own_spy.last

    def beside() -> api.Stats | None:
        underhill.conversation.new()
        underhill.conversation.send(QUESTION)
        application.exec()  # as the window runs; it returns when the answer has ended
        assert window.live.figures.isVisible()
        return spy.last

    def timed(act: Callable[[], api.Stats | None]) -> Answered:
        began, own = time.perf_counter(), time.process_time()
        last = act()
        seconds, own = time.perf_counter() - began, time.process_time() - own
        assert last is not None
        return Answered(last.decode_tokens_per_second, own, seconds)

    until(lambda: underhill.models.state == "ready")
    ask(api.LoadModel("load", "builtin", dict(CHOSEN)))
    assert window.live.shown
    found: tuple[list[Answered], list[Answered]] = ([], [])
    for number in range(2 * pairs + 2):
        which = (number // 2 + number) % 2  # ABBA
        answered = timed((alone, beside)[which])
        until(lambda: not underhill.conversation.working)
        if number >= 2:  # the cache is warm from then on
            found[which].append(answered)
    window.close()
    underhill.close()
    single.close()
    return found


if __name__ == "__main__":
    sys.exit(main())
