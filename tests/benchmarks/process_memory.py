"""What does the process itself take before any model, and with the built-in one? MB resident, and of it anonymous.

    python -m tests.benchmarks.process_memory

One process, step after step, on Linux. docs/benchmarks-offloading.md has the figures.
"""

from __future__ import annotations

import importlib
import mmap
from collections.abc import Callable
from pathlib import Path


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
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()
    rss, file_backed = (int(count) * mmap.PAGESIZE / 1e6 for count in pages[1:3])
    print(f"| {step} | {rss:.0f} | {rss - file_backed:.0f} |")


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
