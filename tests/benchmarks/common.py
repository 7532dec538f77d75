"""What benchmarks share: options, busy neighbours, turns, output."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import platformdirs
import psutil

from engine.library.home import HOME
from engine.native.library import default_threads
from tests.benchmarks.other_disks import DISKS
from tests.random_models.shapes import SHAPES
from tests.random_models.tokens import STREAMS

LOOK = 0.25  # seconds
CALM = 0.1  # of all cores


def default_folder() -> Path:
    """Where prepared models are kept."""
    return Path(platformdirs.user_cache_dir("underhill", appauthor=False)) / "benchmarks"


def setting(text: str) -> tuple[str, str]:
    """NAME=VALUE of a command line."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


OPTIONS: dict[str, dict[str, Any]] = {
    "shape": {"choices": tuple(SHAPES), "required": True},
    "layers": {"type": int, "help": "another cut of the model than that of 8 GB at 4 bits"},
    "limit": {"type": float, "default": 0.5, "help": "most memory, as a share of the model's bytes"},
    "stream": {"choices": STREAMS, "default": "uniform", "help": "how tokens are drawn"},
    "dial": {"choices": ("exact", "balanced", "fast"), "default": "exact"},
    "tier": {"type": int, "choices": (8, 4, 2), "default": 4, "help": "bits of our experts"},
    "set": {"type": setting, "action": "append", "default": [], "metavar": "NAME=VALUE",
            "help": "a setting of our engine; may be given several times"},
    "threads": {"type": int, "default": default_threads(), "help": "of both"},
    "patience": {"type": float, "default": 60.0, "help": "seconds to wait in all for other programs' rest"},
    "folder": {"type": Path, "default": default_folder(), "help": "where prepared models are kept"},
    "disk": {"choices": DISKS, "default": "own",
             "help": "where the store lies: where it is, on a RAM disk, or on a disk held to 0.5 GB/s, as SATA's"},
    "keep-only": {"action": "store_true", "help": "first remove the prepared models of other shapes"},
}  # fmt: skip


def several(kind: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """Values of this kind on a command line, separated by commas; none of an empty text."""
    return lambda text: [kind(one) for one in text.split(",") if one]


def arguments(description: str | None, *options: str, json: bool = True) -> argparse.ArgumentParser:
    """A parser with these of OPTIONS, and with `--json`."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    for name in options:
        parser.add_argument(f"--{name}", **OPTIONS[name])
    if json:
        parser.add_argument("--json", action="store_true", help="one JSON object")
    return parser


def limit_options(description: str | None, *, shape: bool = True) -> argparse.ArgumentParser:
    """With the options of all that runs a model under a memory limit. shape: whether one must be named."""
    parser = arguments(description, *(name for name in OPTIONS if shape or name != "shape"))
    if not shape:
        parser.add_argument("--shape", choices=tuple(SHAPES))
    return parser


class Quiet:
    """Waits until other programs leave the processor alone, and notes when they did not.

    A busy neighbour costs two threads that wait for each other far more than the core it takes.
    """

    def __init__(self, patience: float) -> None:
        self._left = patience
        self.others: list[float] = []  # share of all cores that was busy just before each turn

    def wait(self) -> None:
        """Return when it is quiet, or when patience, in seconds for the whole run, is at an end."""
        start = time.monotonic()
        while (share := psutil.cpu_percent(LOOK) / 100) > CALM and time.monotonic() - start < self._left:
            pass
        self._left -= time.monotonic() - start - LOOK
        self.others.append(round(share, 2))


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that do nothing but keep a core busy.

    Of sessions of their own, as another program is: the system may share the cores out among sessions.
    """
    command = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@contextmanager
def orderly() -> Iterator[None]:
    """Asked by the system to end, a program goes through everything that cleans up after it."""

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def conditions(args: argparse.Namespace, **more: Any) -> dict[str, Any]:
    """What a figure was measured under."""
    given = {k: v for k, v in vars(args).items() if k not in ("json", "folder", "home")}
    return {**given, **more, "load": round(os.getloadavg()[0], 2)}


def say(what: str) -> None:
    """To whoever waits, apart from the figures."""
    print(what, file=sys.stderr, flush=True)


def milliseconds(seconds: Iterable[float]) -> list[float]:
    """Turns from the shortest to the longest."""
    return [round(1e3 * s, 3) for s in sorted(seconds)]


@contextmanager
def own_home() -> Iterator[Path]:
    """A home folder of Underhill's, empty at first, for as long as this lasts."""
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, {HOME: folder}):
        yield Path(folder)


def in_turns(actions: Mapping[str, Callable[[], object]], turns: int, warm: int = 1) -> dict[str, list[float]]:
    """Seconds of each, which come one after the other in every turn; the first turns, to warm up, do not count."""
    taken: dict[str, list[float]] = {name: [] for name in actions}
    for turn in range(-warm, turns):
        for name, action in actions.items():
            start = time.perf_counter()
            action()
            if turn >= 0:
                taken[name].append(time.perf_counter() - start)
    return taken


def medians(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Of each value that the rows have."""
    return {name: median(row[name] for row in rows) for name in rows[0]}


def emit(result: dict[str, Any], as_json: bool) -> None:
    """Print one object, or a line for each of its values, and of tables for each row."""
    if as_json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        rows = dict(enumerate(value)) if isinstance(value, list) else value
        if isinstance(rows, dict) and rows and all(isinstance(row, dict) for row in rows.values()):
            print(name)
            for key, row in rows.items():
                print(f"    {key!s:40} {_short(row)}")
        else:
            print(f"{name:44} {_short(value)}")


def _short(value: Any) -> str:
    """JSON with four digits of each number that has a point."""
    return json.dumps(json.loads(json.dumps(value), parse_float=lambda text: float(f"{float(text):.4g}")))
