"""`underhill-cli import`: a checkpoint, a GGUF file, or models from another computer, into the library."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from engine import settings
from engine.cli.main import given
from engine.cli.output import ProgressBar, experts_by_bits, gb
from engine.library import library, relocation
from engine.library.entries import AdoptedModel
from engine.session import lowered, preflight


def run(args: argparse.Namespace) -> int:
    """Import; run again after an interruption, it goes on where it stopped."""
    bar = ProgressBar(sys.stderr.isatty())
    named = args.import_battery is not None
    battery = int(str(given(args, (settings.IMPORT_BATTERY,))["import_battery"] or 0)) if named else None
    library.tidy()
    source = Path(args.path)
    if relocation.holds_stores(source):
        return _tell_all(relocation.adopt(source, bar.report), as_json=args.json)
    if not source.exists() and relocation.is_unfinished(args.path):
        path = library.go_on(args.path, bar.report, battery)
    else:
        preflight.check(source)
        path = library.add(source, args.name, args.top, bar.report, battery)
    if args.tolerance is not None:
        path = lowered.in_place(path.name, args.tolerance / 100, bar.report)
    bar.close()
    card, note = library.card(path), library.source_note(path)
    if args.json:
        print(json.dumps({**asdict(card), "tiers_report": library.tier_report(path), "note": note}))
    else:
        print(f"{card.name}: {card.experts} experts in {card.moe_layers} layers, {gb(card.disk_bytes)} on disk.")
        for tier, bits, error in library.tier_report(path):
            print(f"  {tier}-bit experts: {bits:.2f} bits per weight to read, relative error {error:.4f}")
        if card.expert_bits:
            print(experts_by_bits(card))
        if note:
            print(note)
    return 0


def _tell_all(found: Sequence[AdoptedModel], *, as_json: bool) -> int:
    """Exit code 1 when one of them could not come along."""
    if as_json:
        print(json.dumps([asdict(model) for model in found]))
    for model in () if as_json else found:
        print(f"{model.name}: {model.path or f'{model.problem} {model.action}'}")
    return int(any(model.problem for model in found))
