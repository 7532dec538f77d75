"""What a program that works a little, often, costs the engine: decode speed beside it and without it, in turns.

    python -m tests.benchmarks.disturbed [--work 2.5] [--every 50] [--pairs 12] [--json]

The built-in model in memory answers the same question. The other program computes for --work milliseconds and sleeps,
every --every milliseconds; it gets its turn at once, as a window does.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time

from app.platform.main_thread import lower_latency
from engine import client, protocol
from engine.library.home import HOME
from tests.benchmarks.common import arguments, emit

ANSWERS = 8  # of a turn
QUESTION = "Tell me a story about a brave dog."
SAMPLING = {"temperature": 0.9, "seed": 5, "max_tokens": 400}


def disturb(work: float, every: float) -> None:
    """For ever. Seconds."""
    lower_latency()
    while True:
        end = time.perf_counter() + work
        while time.perf_counter() < end:
            pass
        time.sleep(every - work)


class Asker:
    """Asks an engine and waits for the end of it."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._result: object = None
        self.engine = client.start(self._hear)

    def _hear(self, event: protocol.Event) -> None:
        if isinstance(event, protocol.Failed):
            raise SystemExit(event.sentence)
        if isinstance(event, protocol.Done):
            self._result = event.result
            self._ended.set()

    def ask(self, command: protocol.Command) -> object:
        """Its result."""
        self._ended.clear()
        self.engine.send(command)
        self._ended.wait()
        return self._result

    def speed(self) -> float:
        """Tokens a second of a few answers."""
        tokens = seconds = 0.0
        for _ in range(ANSWERS):
            stats = self.ask(protocol.Generate("a", (protocol.Message("user", QUESTION),), dict(SAMPLING)))
            assert isinstance(stats, protocol.Stats)
            tokens += len(stats.token_ids)
            seconds += stats.decode_seconds
        return tokens / seconds


def main() -> int:
    """Print medians and the ratio of pairs."""
    parser = arguments(__doc__)
    parser.add_argument("--work", type=float, default=2.5)
    parser.add_argument("--every", type=float, default=50.0)
    parser.add_argument("--pairs", type=int, default=12)
    args = parser.parse_args()
    found: tuple[list[float], list[float]] = ([], [])
    with tempfile.TemporaryDirectory(prefix="underhill-disturbed-") as folder:
        os.environ[HOME] = folder
        asker = Asker()
        asker.ask(protocol.LoadModel("load", "builtin", {"dial": "exact"}))
        asker.speed()
        for number in range(2 * args.pairs):
            which = (number // 2 + number) % 2  # ABBA
            other = multiprocessing.get_context("spawn").Process(
                target=disturb, args=(args.work / 1000, args.every / 1000)
            )
            if which:
                other.start()
                time.sleep(1.0)
            found[which].append(asker.speed())
            if which:
                other.kill()
                other.join()
        asker.engine.close()
    figures = {
        "alone_tokens_per_second": statistics.median(found[0]),
        "beside_tokens_per_second": statistics.median(found[1]),
        "slowdown": 1 - statistics.median(b / a for a, b in zip(*found, strict=True)),
        "pairs": args.pairs,
    }
    emit(figures, args.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
