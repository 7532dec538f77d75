"""`underhill-cli calibrate`: what the precision dials are for a model, and what each of them costs."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from engine import settings
from engine.cli.main import given
from engine.cli.output import ProgressBar
from engine.hub import dials
from engine.session import Session
from engine.session.calibration import calibrate


def run(args: argparse.Namespace) -> int:
    """Measure and keep thresholds and costs."""
    bar = ProgressBar(sys.stderr.isatty())
    with Session.open(args.model, given(args, settings.ENGINE), bar.report) as session:
        found = calibrate(session, lambda done, total: bar.show("Calibrating", done, total, "windows"))
    bar.close()
    if args.json:
        print(json.dumps(asdict(found)))
    else:
        for dial, cost in found.dials.items():
            print(f"{dials.in_words(found, dial)} T1 {cost.t1:.3f}, T2 {cost.t2:.3f}.")
    return 0
