"""`underhill-cli list`: the models in the library."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from engine.cli.output import ProgressBar, gb, table
from engine.hub import library
from engine.hub.cards import BUILTIN


def run(args: argparse.Namespace) -> int:
    """Print the library; the built-in model is in it from the first time anyone looks."""
    bar = ProgressBar(sys.stderr.isatty())
    library.prepare(BUILTIN, bar.report)
    bar.close()
    cards = library.cards()
    if args.json:
        print(json.dumps([asdict(card) for card in cards]))
        return 0
    rows = [
        (c.name, c.family, f"{c.parameters / 1e9:.2f} B", gb(c.disk_bytes), "/".join(map(str, c.tiers)), c.backend)
        for c in cards
    ]
    print(table(rows, ("NAME", "FAMILY", "PARAMETERS", "ON DISK", "BITS", "BACKEND")))
    return 0
