"""`underhill-cli calibrate`: thresholds T1 and T2 of a model, from how its own gates weigh experts."""

from __future__ import annotations

import argparse
import json
import sys

from engine.cli.output import ProgressBar
from engine.session import Session
from engine.session.calibration import calibrate


def run(args: argparse.Namespace) -> int:
    """Measure and keep the thresholds."""
    bar = ProgressBar(sys.stderr.isatty())
    with Session.open(args.model, None, bar.report) as session:
        found = calibrate(session, lambda done, total: bar.show("Calibrating", done, total, "tokens"))
    bar.close()
    if args.json:
        print(json.dumps({dial: [cuts.t1, cuts.t2] for dial, cuts in found.items()}))
    else:
        for dial, cuts in found.items():
            print(f"{dial}: T1 {cuts.t1:.3f}, T2 {cuts.t2:.3f}")
    return 0
