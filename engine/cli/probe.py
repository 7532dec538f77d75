"""`underhill-cli probe`: measure this computer, so that plans know what to expect of it."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from engine.session.measured import measure_computer


def run(args: argparse.Namespace) -> int:
    """Measure what is not known yet, and print it."""
    shown = sys.stderr.isatty()

    def report(text: str, done: int, total: int) -> None:
        if shown:
            print(f"\r\x1b[K{text} ({100 * done // max(1, total)} %)", end="", file=sys.stderr, flush=True)

    try:
        found = measure_computer(args.again, report)
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    print(json.dumps(asdict(found)) if args.json else "\n".join(found.sentences))
    return 0
