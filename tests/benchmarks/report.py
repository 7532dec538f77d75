"""Which figures are published, measured by which command? Runs them, keeps what they say, writes docs/figures.md.

    python -m tests.benchmarks.report                        write the page from what is kept
    python -m tests.benchmarks.report --run [NAME …]         measure these, or all, one after another; then write it
    python -m tests.benchmarks.report --missing              measure what has no result, or changed since
    python -m tests.benchmarks.report --list

What is asked, and by which commands, is in tests/benchmarks/questions.py. Each command runs in a process and with a
home folder of Underhill's of its own, as soon as other programs leave the processor alone; where they do not within
--patience seconds, it is not run. Its result, as much as the table shows, goes to docs/figures/NAME.json at once, so
that what is interrupted keeps what is done, with the share of all cores that others took meanwhile; above 15 % the page
calls it disturbed. What lacks rights, or models that would have to be made first, is left out with a sentence.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time

from engine.library.home import HOME
from tests.benchmarks.common import OPTIONS, Quiet, arguments, say
from tests.benchmarks.figures_page import BUSY, write
from tests.benchmarks.pipe import ROOT
from tests.benchmarks.questions import RUNS, Question, Run
from tests.benchmarks.results import Watch, keep, load, missing


class NotMeasured(Exception):
    """Why a run has no result: a sentence."""


def measure(question: Question, run: Run, patience: float) -> None:
    """Run one command and keep its result. Raises NotMeasured."""
    folder = OPTIONS["folder"]["default"]
    lacking = [name for name in run.needs if not (folder / name).exists()]
    if lacking:
        raise NotMeasured(
            f"{lacking[0]} is not in {folder}. Make it first: python -m tests.benchmarks.prepare "
            f"--shape {lacking[0].partition('/')[0].partition('-')[0]}{' --large' if 'x' in lacking[0] else ''}"
        )
    if not run.timed:
        keep(run, question, answer(run), None)
        return
    quiet = Quiet(patience)
    quiet.wait()
    if quiet.others[-1] > BUSY:
        raise NotMeasured(f"Other programs take {100 * quiet.others[-1]:.0f} % of the processor.")
    watch = Watch()
    found = answer(run)
    keep(run, question, found, watch.others())


def answer(run: Run) -> dict[str, object]:
    """The JSON object that a command prints, whatever its exit code says of its bars. Raises NotMeasured."""
    command = [sys.executable, "-m", *shlex.split(run.command)[2:]]
    with tempfile.TemporaryDirectory(prefix="underhill-report-") as home:
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, HOME: home}, capture_output=True, text=True)
    lines = done.stdout.strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else None
    except json.JSONDecodeError:
        found = None
    if isinstance(found, dict):
        return found
    said = done.stderr.strip().splitlines()
    raise NotMeasured(said[-1] if said else f"It ended with code {done.returncode} and said nothing.")


def measure_all(names: list[str], patience: float) -> bool:
    """One after another; False where one has no result. The page is written behind each."""
    complete = True
    for number, name in enumerate(names):
        question, run = RUNS[name]
        say(f"{number + 1} of {len(names)}, {name}: {run.command}")
        start = time.monotonic()
        try:
            measure(question, run, patience)
        except NotMeasured as why:
            complete = False
            say(f"Not measured: {why}")
            continue
        say(f"Kept, after {time.monotonic() - start:.0f} s")
        write()
    return complete


def main() -> int:
    """Command line."""
    parser = arguments(__doc__, "patience", json=False)
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--run", nargs="*", choices=tuple(RUNS), metavar="NAME", help="measure these; without names all")
    way.add_argument("--missing", action="store_true", help="measure what has no result of its command as it is now")
    way.add_argument("--list", action="store_true", help="names, and when each was measured")
    args = parser.parse_args()
    if args.list:
        for name, (question, run) in RUNS.items():
            kept = load(run)
            print(f"{name:18} {kept.date if kept else 'not yet':12} {question.title}")
        return 0
    names = missing() if args.missing else list(RUNS) if args.run == [] else args.run or []
    complete = measure_all(names, args.patience)
    write()
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
