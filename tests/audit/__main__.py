"""Does the product do what it says? One examination after another, each in a process and a home folder of its own.

    python -m tests.audit [--only f01 f07] [--json]

Prints per examination what was found (recall, misses, resets, errors, bits) and whether it is as promised. Exit code 1:
something is not, or an examination failed. Some measure speed: run it on a quiet machine.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests import audit

EXAMINATION = re.compile(r"f\d\d_\w+")
MAX_SECONDS = 900  # of one examination; the longest takes about two minutes on two cores
MARK = "audit finding: "  # before the one line of a child's output that is its finding
ROOT = Path(__file__).resolve().parents[2]


def examinations(only: list[str]) -> list[str]:
    """Module names, in order. only: beginnings of names, or none for all. Raises SystemExit for unknown ones."""
    names = sorted(m.name for m in pkgutil.iter_modules(audit.__path__) if EXAMINATION.fullmatch(m.name))
    unknown = [start for start in only if not any(name.startswith(start) for name in names)]
    if unknown:
        raise SystemExit(f"There is no examination {', '.join(unknown)}. There are: {', '.join(names)}")
    if not names:
        raise SystemExit("There are no examinations here.")
    return [name for name in names if not only or any(name.startswith(start) for start in only)]


def examine_here(name: str) -> None:
    """Run one in this process and print its finding on one line."""
    finding = importlib.import_module(f"{audit.__name__}.{name}").examine()
    print(MARK + json.dumps({"ok": finding.ok, "found": finding.found}), flush=True)


def examine(name: str) -> dict[str, Any]:
    """Run one in a process of its own. A crash or a missed deadline is a finding that is not ok."""
    began = time.monotonic()
    title = (importlib.import_module(f"{audit.__name__}.{name}").__doc__ or name).splitlines()[0]
    with tempfile.TemporaryDirectory(prefix="underhill-audit-") as home:
        environment = {**os.environ, "UNDERHILL_HOME": home, "QT_QPA_PLATFORM": "offscreen"}
        command = [sys.executable, "-m", "tests.audit", "--here", name]
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                timeout=MAX_SECONDS,
                check=False,
                encoding="utf-8",
            )
            result = outcome(done.stdout, done.stderr, done.returncode)
        except subprocess.TimeoutExpired:
            result = {"ok": False, "found": {"error": f"not done after {MAX_SECONDS} seconds"}}
    return {"item": name, "title": title, **result, "seconds": round(time.monotonic() - began, 1)}


def outcome(output: str, errors: str, code: int) -> dict[str, Any]:
    """A child's finding, or why there is none."""
    lines = [line for line in output.splitlines() if line.startswith(MARK)]
    if code or not lines:
        return {"ok": False, "found": {"error": errors.strip()[-2000:] or f"ended with code {code}"}}
    return json.loads(lines[-1].removeprefix(MARK))


def main() -> None:
    """Print one line, or one JSON object, for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these only, by how their names begin")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--here", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.here:
        examine_here(args.here)
        return
    good = True
    for name in examinations(args.only):
        report = examine(name)
        good &= report["ok"]
        if args.json:
            print(json.dumps(report, ensure_ascii=False), flush=True)
        else:
            print(f"{'ok   ' if report['ok'] else 'FALSE'} {name}: {report['title']} ({report['seconds']} s)")
            for key, value in report["found"].items():
                print(f"        {key}: {value}", flush=True)
    raise SystemExit(not good)


if __name__ == "__main__":
    main()
