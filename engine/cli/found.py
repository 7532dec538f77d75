"""`underhill-cli found`: models that other apps keep on this computer."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from engine.cli.output import ProgressBar, gb
from engine.library import external_models
from engine.library.entries import FoundModel
from engine.session.pills import Pills


def run(args: argparse.Namespace) -> int:
    """Print what was found and how to import it; nothing is changed."""
    bar = ProgressBar(sys.stderr.isatty())
    found = external_models.find(
        lambda phrase, done, total: bar.show("Looking", done, total, "models"), rate=Pills().config
    )
    bar.close()
    if args.json:
        print(json.dumps([asdict(model) for model in found]))
    elif not found:
        print("No other app on this computer has a model, as far as Underhill knows them.")
    else:
        print("\n".join(map(_lines, found)))
    return 0


def _lines(m: FoundModel) -> str:
    what = ", ".join(part for part in (m.architecture, m.format, m.quantization, gb(m.nbytes)) if part)
    then = f'underhill-cli import "{m.path}" --name "{m.name}"' if m.can_open else f"Cannot be imported: {m.why_not}"
    here = "" if m.fit is None else f"\n  {m.fit.sentence}"
    return f"{m.title} ({m.app}; {what}){here}\n  {then}"
