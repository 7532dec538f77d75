"""What plans expect of eight models on sixty laptops, and how long sixty times eight plans take.

    python -m tests.benchmarks.planning [--json] [--chip "8 cores"] [--tier 4]

Tokens a second under Exact, from uniform routing to usual reuse, by memory and disk; `-`: does not fit.
"""

from __future__ import annotations

import argparse
import json
import time

from engine import settings
from engine.hardware.fit import Fit, fit
from engine.session.config_facts import config_facts
from tests.engine.hardware.laptops import CHIPS, DISKS, MODELS, RAM, laptops

MARKS = {"fits": "", "slow": " slow", "too_big": "–"}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--chip", choices=CHIPS, default="8 cores")
    parser.add_argument("--tier", type=int, choices=(4, 8), default=4, help="bits stored of an expert's weights")
    args = parser.parse_args()
    chosen = {**settings.validated({}, settings.ENGINE), "dial": "exact"}
    models = {name: config_facts(config, name, args.tier) for name, (_, config) in MODELS.items()}
    start = time.perf_counter()
    found = {(name, key): fit(machine, model, chosen) for name, model in models.items() for key, machine in laptops()}
    taken = time.perf_counter() - start
    if args.json:
        rows = [{"model": n, "laptop": k, "pill": f.pill, "speed": f.speed} for (n, k), f in found.items()]
        print(json.dumps({"seconds": taken, "plans": len(found), "rows": rows}))
        return
    print("| model | memory | " + " | ".join(DISKS) + " |")
    print("|---|---|" + "---|" * len(DISKS))
    for name in models:
        for ram in RAM:
            cells = [cell(found[name, (ram, disk, args.chip)]) for disk in DISKS]
            print(f"| {name if ram == RAM[0] else ''} | {ram} GB | " + " | ".join(cells) + " |")
    print(f"\n{len(found)} plans in {taken:.2f} s")


def cell(found: Fit) -> str:
    """Speeds and pill."""
    if found.speed is None:
        return MARKS[found.pill]
    low, high = (f"{speed:.0f}" if speed >= 10 else f"{speed:.1f}" for speed in found.speed)
    return (low if low == high else f"{low}–{high}") + MARKS[found.pill]


if __name__ == "__main__":
    main()
