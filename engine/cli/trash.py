"""`underhill-cli trash`: deleted models that can be brought back."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict

from engine.cli.output import gb, table
from engine.library import trash


def run(args: argparse.Namespace) -> int:
    """Print what is in the trash, or empty it."""
    if args.empty:
        freed = trash.empty()
        print(json.dumps({"freed": freed}) if args.json else f"{gb(freed)} are free again.")
        return 0
    found = trash.deleted()
    if args.json:
        print(json.dumps([asdict(model) for model in found]))
    elif not found:
        print("The trash is empty.")
    else:
        left = [max(0.0, (model.expires - time.time()) / 86400) for model in found]
        rows = [(m.name, gb(m.nbytes), f"{days:.0f} days", m.folder) for m, days in zip(found, left)]
        print(table(rows, ("NAME", "SIZE", "KEPT FOR", "FOLDER")))
    return 0
