"""How much of the memory should idle models keep? The share that the engine finds against others, in real answers.

    python -m tests.benchmarks.memory_split [--models 3] [--memory 1.5] [--rounds 6] [--json]

Variants of the built-in model (those of tests.benchmarks.coserve) answer in turn, one request each, as a team's do, in
memory that holds so many of them whole (--memory). First they answer a few rounds at the usual share, and what those
took is recorded; then nothing is asked until the engine has searched (coserve, section 4.4; `searched`: what it found,
and the answers a second that it expects of it and of the usual share). Then rounds alternate between that share, the
usual one, nothing and all of the memory: answers a second, medians. `ratio`: of the share found to the usual one.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import time
from statistics import median
from typing import Any
from unittest.mock import patch

from engine import protocol, settings
from engine.library.home import HOME
from engine.service.memory_split import MemorySplit
from engine.service.model_records import FILE
from engine.service.pool import IDLE_SHARE
from tests.benchmarks.common import arguments, conditions, emit, say
from tests.benchmarks.coserve import (
    FIRST,
    THEN,
    Driver,
    Memory,
    Request,
    Stopwatch,
    bytes_of,
    make_variants,
    name_of,
    serving,
)

LEARNT = 4  # rounds before the search
PATIENCE = 20.0  # seconds for the search, from the last answer


class Rounds:
    """Requests that are answered one behind another, each by the next model."""

    def __init__(self, driver: Driver, models: int) -> None:
        self._driver, self._models, self._asked = driver, models, 0

    def answer(self) -> float:
        """One of each model; answers a second."""
        chain = tuple(name_of(variant) for variant in range(self._models))
        self._asked += 1
        request, begun = Request(self._asked, chain), time.perf_counter()
        for step in range(len(chain)):
            self._driver.result(self._driver.ask(request, step))
        return len(chain) / (time.perf_counter() - begun)


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    chosen = {s.name: s.default for s in settings.ENGINE} | {"threads": 2}
    with serving("full", Stopwatch()):
        driver = Driver(chosen)
        try:
            driver.engine.send(protocol.LoadModel("load", name_of(0), chosen))
            driver.result("load")
            models = driver.engine.models
            Memory.whole = bytes_of(next(iter(models.pool)))
            Memory.nbytes = int(args.memory * Memory.whole)
            rounds = Rounds(driver, args.models)
            for _ in range(LEARNT):
                rounds.answer()
            found = _searched(driver)
            say(f"found: {found}")
            shares = {"found": found.share, "usual": IDLE_SHARE, "none": 0.0, "all": 1.0}
            taken: dict[str, list[float]] = {name: [] for name in shares}
            for _ in range(args.rounds):
                for name, share in shares.items():
                    models.records.keep_split(dataclasses.replace(found, share=share))
                    rounds.answer()  # the first one is in what the others left
                    taken[name].append(rounds.answer())
        finally:
            driver.engine.close(60)
    ways = {name: {"share": shares[name], "throughput": median(each)} for name, each in taken.items()}
    return {
        "searched": dataclasses.asdict(found), "ways": ways,
        "ratio": ways["found"]["throughput"] / ways["usual"]["throughput"], "conditions": conditions(args),
    }  # fmt: skip


def _searched(driver: Driver) -> MemorySplit:
    """What the engine finds while nothing is asked. Raises TimeoutError."""
    begun = time.monotonic()
    while (found := driver.engine.models.records.split) is None:
        if time.monotonic() - begun > PATIENCE:
            raise TimeoutError("The engine has not searched for a split.")
        time.sleep(0.1)
    return found


def main() -> None:
    """Command line."""
    parser = arguments(__doc__, "folder")
    parser.add_argument("--models", type=int, default=3, choices=range(2, FIRST + THEN + 1), help="that answer in turn")
    parser.add_argument("--memory", type=float, default=1.5, help="models that it holds whole")
    parser.add_argument("--rounds", type=int, default=6, help="of each share")
    args = parser.parse_args()
    home = args.folder / "coserve"
    home.mkdir(parents=True, exist_ok=True)
    with patch.dict(os.environ, {HOME: str(home)}):
        make_variants(home)
        (home / FILE).unlink(missing_ok=True)
        found = measure(args)
        (home / FILE).unlink(missing_ok=True)
    emit(found, args.json)


if __name__ == "__main__":
    main()
