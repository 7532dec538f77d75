"""`underhill-cli list`: the models in the library."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from engine.cli.output import gb, table
from engine.hub import library


def run(args: argparse.Namespace) -> int:
    """Print the library."""
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
