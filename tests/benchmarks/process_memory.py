"""What does the process itself take before any model, and with the built-in one? MB resident, and of it anonymous.

    python -m tests.benchmarks.process_memory

One process, step after step, on Linux. docs/benchmarks-offloading.md has the figures.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path


def resident() -> tuple[float, float]:
    """MB of this process: all that is resident, and of it what no file backs."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines())
    rss, anonymous = (float(fields[name].split()[0]) * 1024 / 1e6 for name in ("VmRSS", "RssAnon"))
    return rss, anonymous


def _answer() -> None:
    from engine.calibration.calibrator import open_calibrated
    from engine.generation.messages import Message
    from engine.generation.sampling import Sampling
    from tests.audit.unheard import Unheard

    with open_calibrated("builtin") as session:
        show("the built-in model open")
        session.generate(
            (Message("user", "tell me a story " * 150),), Sampling(temperature=0, max_tokens=16), (), Unheard()
        )
        show("a prompt of some 600 tokens and 16 of answer")


def show(step: str) -> None:
    """A line of the table."""
    print("| {} | {:.0f} | {:.0f} |".format(step, *resident()))


def main() -> None:
    steps: dict[str, Callable[[], object]] = {
        "Python": lambda: None,
        "numpy": lambda: importlib.import_module("numpy"),
        "torch": lambda: importlib.import_module("torch"),
        "the engine's own modules, without a model": lambda: importlib.import_module("engine.service"),
    }
    for step, run in steps.items():
        run()
        show(step)
    _answer()


if __name__ == "__main__":
    main()
