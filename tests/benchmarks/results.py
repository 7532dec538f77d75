"""What is kept of a measurement: the rows that its table shows, and under which conditions they were measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import psutil

from engine.hardware import processor
from engine.hardware.machine import GB
from tests.benchmarks.pipe import ROOT
from tests.benchmarks.questions import RUNS, Column, Question, Run

FOLDER = ROOT / "docs" / "figures"
ROW = "row"  # the key of a row's name


@dataclass(frozen=True)
class Result:
    """One run. date: ISO. others: share of all cores that other programs took meanwhile; None where this system does
    not say, or the figures are not of time. rows: by ROW and by the paths of the question's columns."""

    command: str
    date: str
    revision: str
    processor: str
    cores: int
    memory_gb: float
    others: float | None
    rows: tuple[dict[str, Any], ...]

    def answers(self, question: Question, run: Run) -> bool:
        """Whether it is of the command as it is now, and has all that the table shows."""
        wanted = {column.path for column in columns(question)}
        return self.command == run.command and all(wanted <= set(row) for row in self.rows)


class Watch:
    """How busy other programs are from now on, by what the system counts of all and of our ended children."""

    def __init__(self) -> None:
        self._start, self._busy, self._own = time.monotonic(), _busy_seconds(), _own_seconds()

    def others(self) -> float | None:
        """Share of all cores since then. Right when every child has ended."""
        if sys.platform == "win32":  # which does not say what ended children took
            return None
        spent = (_busy_seconds() - self._busy) - (_own_seconds() - self._own)
        cores = psutil.cpu_count() or 1
        return round(max(0.0, spent / cores / (time.monotonic() - self._start)), 3)


def _busy_seconds() -> float:
    now = psutil.cpu_times()
    return float(sum(now) - now.idle - getattr(now, "iowait", 0.0) - getattr(now, "guest", 0.0))


def _own_seconds() -> float:
    taken = os.times()
    return taken.user + taken.system + taken.children_user + taken.children_system


def columns(question: Question) -> tuple[Column, ...]:
    """All whose values are kept."""
    return question.columns if question.plot is None else (question.plot.x, *question.columns)


def value(found: Any, path: str) -> Any:
    """What lies at a path. Raises KeyError, naming the path, where nothing does."""
    at = found
    try:
        for part in path.split(".") if path else ():
            at = at[int(part)] if isinstance(at, list) else at[part]
    except (KeyError, IndexError, TypeError, ValueError) as cause:
        raise KeyError(path) from cause
    return at


def kept_rows(question: Question, found: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """The rows of a table from a benchmark's answer. Raises KeyError where a row lacks what is not optional."""
    if not question.rows:
        named: Mapping[str, Any] = {"": found}
    elif "|" in question.rows:
        named = {name: found[name] for name in question.rows.split("|")}
    elif isinstance(rows := value(found, question.rows), list):
        named = {", ".join(str(value(row, path)) for path in question.labels): row for row in rows}
    else:
        named = rows
    return tuple({ROW: name} | {c.path: _cell(row, c) for c in columns(question)} for name, row in named.items())


def _cell(row: Any, column: Column) -> Any:
    try:
        found = value(row, column.path)
    except KeyError:
        if column.optional:
            return None
        raise
    return float(f"{found:.5g}") if isinstance(found, float) else found


def path_of(run: Run, folder: Path = FOLDER) -> Path:
    """Where its result is kept."""
    return folder / f"{run.name}.json"


def keep(run: Run, question: Question, found: Mapping[str, Any], others: float | None, folder: Path = FOLDER) -> Path:
    """Write what its table needs, under the conditions of now. Raises KeyError as kept_rows does."""
    made = Result(
        command=run.command,
        date=date.today().isoformat(),
        revision=revision(),
        processor=processor.name(),
        cores=psutil.cpu_count() or 1,
        memory_gb=round(psutil.virtual_memory().total / GB, 1),
        others=others,
        rows=kept_rows(question, found),
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = path_of(run, folder)
    fresh = path.with_suffix(".part")  # an interruption leaves the result before it whole
    fresh.write_text(json.dumps(asdict(made), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    fresh.replace(path)
    return path


def load(run: Run, folder: Path = FOLDER) -> Result | None:
    """What is kept of it; None where nothing is."""
    path = path_of(run, folder)
    if not path.exists():
        return None
    known = json.loads(path.read_text(encoding="utf-8"))
    return Result(**{**known, "rows": tuple(known["rows"])})


def revision() -> str:
    """Of the tree, with a + where files differ from it; "" where that is not known. Results themselves do not count."""
    try:
        head = _git("rev-parse", "--short=10", "HEAD")
        changed = _git("status", "--porcelain", "--", "app", "engine", "resources", "tests")
    except (OSError, subprocess.CalledProcessError):
        return ""
    return head + "+" * bool(changed)


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def missing(folder: Path = FOLDER) -> list[str]:
    """Names of the runs without a result of the command and the columns as they are now."""
    return [
        name
        for name, (question, run) in RUNS.items()
        if (kept := load(run, folder)) is None or not kept.answers(question, run)
    ]
