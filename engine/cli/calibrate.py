"""`underhill-cli calibrate`: what the precision dials are for a model, and what each of them costs."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from engine import settings
from engine.cli.main import given
from engine.cli.output import ProgressBar, table
from engine.library import dials
from engine.session import Session
from engine.session.calibration import calibrate
from engine.session.fit_policy import fit_policy


def run(args: argparse.Namespace) -> int:
    """Measure and keep thresholds and costs."""
    if args.fit_policy:
        return _policy(args)
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


def _policy(args: argparse.Namespace) -> int:
    bar = ProgressBar(sys.stderr.isatty())
    with Session.open(args.model, given(args, settings.ENGINE), bar.report) as session:
        found = fit_policy(session, lambda done, total: bar.show("Fitting", done, total, "steps"))
    bar.close()
    if args.json:
        print(json.dumps({dial: {share: w.rounded for share, w in one.pairs} for dial, one in found.items()}))
        return 0
    rows = [
        (dial, f"{100 * share:g} % cached", *(f"{w:.3f}" for w in weights.rounded))
        for dial, one in found.items()
        for share, weights in one.pairs
    ]
    print(table(rows, ("DIAL", "CACHE", "RECENCY", "USE", "AT HIGH PRECISION", "DISTANCE")))
    return 0
