"""`underhill-cli import`: a checkpoint folder or a GGUF file into the library."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from engine.cli.output import ProgressBar, gb
from engine.hub import library
from engine.session import preflight


def run(args: argparse.Namespace) -> int:
    """Import; run again after an interruption, it goes on where it stopped."""
    bar = ProgressBar(sys.stderr.isatty())
    preflight.check(Path(args.path))
    path = library.add(Path(args.path), args.name, args.top, bar.report)
    bar.close()
    card, note = library.card(path), library.source_note(path)
    if args.json:
        print(json.dumps({**asdict(card), "tiers_report": library.tier_report(path), "note": note}))
    else:
        print(f"{card.name}: {card.experts} experts in {card.moe_layers} layers, {gb(card.disk_bytes)} on disk.")
        for tier, bits, error in library.tier_report(path):
            print(f"  {tier}-bit experts: {bits:.2f} bits per weight to read, relative error {error:.4f}")
        if note:
            print(note)
    return 0
