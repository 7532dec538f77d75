"""What plans expect of eight models on sixty laptops, and how long sixty times eight plans take.

    python -m tests.benchmarks.planning [--json] [--chip "8 cores"] [--tier 4]
    python -m tests.benchmarks.planning --cards [--disk "NVMe 3"]

Tokens a second under Exact, from uniform routing to usual reuse, by memory and disk; `-`: does not fit. --cards: by
memory and graphics memory instead, in the mode that is planned by itself; none of it was run on a card.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence

from engine import settings
from engine.errors import UnderhillError
from engine.hardware.machine import Machine
from engine.library.config_facts import config_facts
from engine.planning.facts import ModelFacts
from engine.planning.fit import PROGRAM, Fit, fit
from engine.planning.offload import ASSISTED, CPU, make_plan_with_card
from tests.benchmarks.common import arguments
from tests.engine.planning.laptops import CARDS, CHIPS, DISKS, MODELS, RAM, laptop, laptops, with_card

LETTERS = {CPU: "", ASSISTED: " a"}
MARKS = {"fits": "", "slow": " slow", "too_big": "–"}


def main() -> None:
    """Print the table."""
    parser = arguments(__doc__)
    parser.add_argument("--chip", choices=CHIPS, default="8 cores")
    parser.add_argument("--tier", type=int, choices=(4, 8), default=4, help="bits stored of an expert's weights")
    parser.add_argument("--cards", action="store_true", help="what graphics cards would make of it")
    parser.add_argument("--disk", choices=DISKS, default="NVMe 3", help="the one that laptops with cards have")
    args = parser.parse_args()
    chosen = {**settings.validated({}, settings.ENGINE), "dial": "exact"}
    models = {name: config_facts(config, name, args.tier) for name, (_, config) in MODELS.items()}
    if args.cards:
        cards = ["no card", *(f"{card} GB" for card in CARDS if card)]
        show(cards, lambda name, ram: [
            automatic(with_card(laptop(ram, args.disk, args.chip), card), models[name], chosen) for card in CARDS
        ])  # fmt: skip
        return
    start = time.perf_counter()
    found = {(name, key): fit(machine, model, chosen) for name, model in models.items() for key, machine in laptops()}
    taken = time.perf_counter() - start
    if args.json:
        rows = [{"model": n, "laptop": k, "pill": f.pill, "speed": f.speed} for (n, k), f in found.items()]
        print(json.dumps({"seconds": taken, "plans": len(found), "rows": rows}))
        return
    show(DISKS, lambda name, ram: [cell(found[name, (ram, disk, args.chip)]) for disk in DISKS])
    print(f"\n{len(found)} plans in {taken:.2f} s")


def show(columns: Sequence[str], cells: Callable[[str, int], list[str]]) -> None:
    """A row for each model and memory."""
    print("| model | memory | " + " | ".join(columns) + " |")
    print("|---|---|" + "---|" * len(columns))
    for name in MODELS:
        for ram in RAM:
            print(f"| {name if ram == RAM[0] else ''} | {ram} GB | " + " | ".join(cells(name, ram)) + " |")


def automatic(machine: Machine, model: ModelFacts, values: Mapping[str, object]) -> str:
    """Speeds and mode of the plan that is made by itself."""
    try:
        plan = make_plan_with_card(machine, model, values, PROGRAM)
    except UnderhillError:
        return MARKS["too_big"]
    return span(plan.speed) + LETTERS[plan.mode]


def cell(found: Fit) -> str:
    """Speeds and pill."""
    return MARKS[found.pill] if found.speed is None else span(found.speed) + MARKS[found.pill]


def span(speed: tuple[float, float]) -> str:
    """From worse to better."""
    low, high = (f"{end:.0f}" if end >= 10 else f"{end:.1f}" for end in speed)
    return low if low == high else f"{low}–{high}"


if __name__ == "__main__":
    main()
