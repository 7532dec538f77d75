"""`underhill-cli trace`: replay recorded routing through cache policies."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from engine.cli.output import table
from engine.tracing.recorder import load
from engine.tracing.replay import POLICIES, compare


def run(args: argparse.Namespace) -> int:
    """Print the hit rate of every policy at several cache sizes."""
    trace = load(Path(args.file))
    found = compare(trace)
    if args.json:
        results = [{**asdict(r), "hit_rate": r.hit_rate} for r in found]
        print(
            json.dumps(
                {"tokens": trace.tokens, "layers": len(trace.layers), "experts": trace.experts, "replays": results}
            )
        )
        return 0
    total = len(trace.layers) * trace.experts
    sizes = sorted({r.slots for r in found})
    rates = {(r.slots, r.policy): f"{100 * r.hit_rate:.1f} %" for r in found}
    print(f"{trace.tokens} tokens, {len(trace.layers)} layers of {trace.experts} experts. Hit rates:")
    rows = [(f"{100 * n / total:.0f} % cached", *(rates[n, p] for p in POLICIES)) for n in sizes]
    print(table(rows, ("CACHE", *POLICIES)))
    return 0
