"""What the window costs the engine: decode speed with all panels open against the engine alone, answers in turn.

    python -m tests.benchmarks.window [PAIRS]

One process, the built-in model with a third of its experts in memory, the same question and seed each time. Alone: the
window's thread sleeps until the answer is there, and the engine is asked for nothing beside it. The window paints
offscreen unless QT_QPA_PLATFORM says otherwise.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from app.assembly import Underhill
from engine import api
from engine.hub.home import HOME
from tests.app.homes import lived_in

PAIRS = 12
QUESTION = "Tell me a story about a brave dog."
SAMPLING = {"temperature": 0.9, "seed": 5, "max_tokens": 400}
CHOSEN = {"cache_fraction": 0.35, "dial": "balanced"}


class Spy:
    """Stands between engine and window, and notes the figures of every answer."""

    def __init__(self) -> None:
        self.answered = threading.Event()
        self.speeds: list[float] = []

    def start(self, on_event: Callable[[api.Event], None]) -> api.Engine:
        """As api.start."""

        def heard(event: api.Event) -> None:
            on_event(event)
            if isinstance(event, api.Done) and isinstance(event.result, api.Stats):
                self.speeds.append(event.result.decode_tokens_per_second)
                self.answered.set()

        return api.start(heard)


def main() -> int:
    """Print the medians and their ratio."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    with tempfile.TemporaryDirectory(prefix="underhill-window-") as folder:
        os.environ[HOME] = str(Path(folder) / "data")
        alone, beside = measure(Path(folder), pairs)
    ratios = [b / a for a, b in zip(alone, beside, strict=True)]
    print(f"alone       {statistics.median(alone):8.1f} tokens/s")
    print(f"with window {statistics.median(beside):8.1f} tokens/s, painted at 5 Hz with both panels open")
    print(f"ratio       {statistics.median(ratios):8.3f} (of {pairs} pairs, {min(ratios):.3f} to {max(ratios):.3f})")
    return 0


def measure(folder: Path, pairs: int) -> tuple[list[float], list[float]]:
    """Decode speeds in tokens per second: alone, and with the window."""
    application = QApplication([])
    spy = Spy()
    underhill = Underhill(application, lived_in(folder / "window"), spy.start)
    window = underhill.window
    window._preferences.engine = dict(CHOSEN)
    underhill.conversation.sampling = dict(SAMPLING)
    window.resize(1280, 900)
    underhill.open()

    def until(condition: Callable[[], bool]) -> None:
        while not condition():
            application.processEvents()
            time.sleep(0.001)

    def alone() -> None:
        underhill.link.watch(api.Look())
        underhill.link.send(api.Generate("alone", (api.Message("user", QUESTION),), dict(SAMPLING)))
        spy.answered.wait()

    def beside() -> None:
        underhill.link.watch(api.Look(maps=True))
        underhill.conversation.new()
        underhill.conversation.send(QUESTION)
        until(spy.answered.is_set)

    until(lambda: underhill.models.state == "ready")
    assert window.live.shown
    found: tuple[list[float], list[float]] = ([], [])
    for number in range(2 * pairs + 2):
        which = (number // 2 + number) % 2  # ABBA
        spy.answered.clear()
        (alone, beside)[which]()
        until(lambda: not underhill.conversation.working)
        if number >= 2:  # the cache is warm from then on
            found[which].append(spy.speeds[-1])
    window.close()
    underhill.close()
    return found


if __name__ == "__main__":
    sys.exit(main())
