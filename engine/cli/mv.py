"""`underhill-cli mv`: a model to another folder of the library, on another disk for instance."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from engine.cli.output import ProgressBar
from engine.library import library, relocation


def run(args: argparse.Namespace) -> int:
    """Move; run again after an interruption, it goes on where it stopped."""
    bar = ProgressBar(sys.stderr.isatty())
    library.tidy()
    path = relocation.move(args.name, args.folder, bar.report)
    bar.close()
    print(json.dumps(asdict(library.card(path))) if args.json else f"{path.name} is in {path.parent}.")
    return 0
