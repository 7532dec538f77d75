"""`underhill-cli` info, plan, probe: what this computer has, and what it does with a model."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from engine import settings
from engine.cli.output import gb, say
from engine.cli.parser import given, version
from engine.hardware import graphics, probe
from engine.hardware.machine import Machine
from engine.library import builtin, dials, library
from engine.library.computer import machine_at, measure_computer
from engine.library.facts import largest_file, model_facts, spec_of
from engine.library.fit_estimates import FitEstimates
from engine.library.home import BUILTIN
from engine.library.lowering import lowered_share
from engine.library.speed_record import planned
from engine.native.library import default_threads, isas, kernels_in_use
from engine.planning import offload
from engine.planning.facts import ModelFacts
from engine.planning.speed import dial_of
from engine.service.model_records import ModelRecords
from engine.store.reader import Store

PARTS = {  # of what is taken; they add up to it
    "program": "Underhill itself",
    "dense": "other weights",
    "context": "context",
    "buffers": "for computing",
    "cached": "experts",
}


def run_info(args: argparse.Namespace) -> int:
    """Print what is known, without loading the model."""
    found: dict[str, Any] = {"computer": _computer()}
    if args.model is not None:
        path = library.at_hand(args.model)
        found["model"] = _unmade() if path is None else _stored(path)
    if args.json:
        print(json.dumps(found))
    else:
        _print_computer(found["computer"])
        if "model" in found:
            _print_model(found["model"])
    return 0


def _stored(path: Path) -> dict[str, Any]:
    with Store.open(path) as store:
        return {
            **asdict(library.card(path)),
            "source": asdict(store.manifest.source),
            "source_note": library.source_note(path),
            "lowered_share": lowered_share(store),
            "lowering": None if store.manifest.lowering is None else asdict(store.manifest.lowering),
            "quality": [asdict(q) for q in store.manifest.quality],
            "io_mode": store.io_mode,
            "memory": None if (use := FitEstimates().memory(library.card(path))) is None else asdict(use),
        }


def _verified(found: dict[str, Any]) -> str:
    """When its files were verified last, and what was found."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(found["at"]))
    if not found["damaged"]:
        return f"Verified on {when}: all files are intact."
    return f"Verified on {when}, {found['damaged']} damaged: {found['problem']} {found['action']}"


def _unmade() -> dict[str, Any]:
    """Of the built-in model before its first use: what a store alone would tell is null, or empty."""
    lacking: dict[str, Any] = {"source": None, "lowered_share": 0.0, "lowering": None, "quality": [], "io_mode": None}
    lacking["memory"], lacking["source_note"] = None, ""
    return {**asdict(builtin.card(FitEstimates())), **lacking}


def _computer() -> dict[str, Any]:
    threads = default_threads()
    memory = probe.memory()
    return {
        "underhill": version(),
        "torch": metadata.version("torch"),
        "kernels": {"isa": isas()[-1], "threads": threads, "reason": kernels_in_use(threads)},
        "cores": probe.cores(),
        "ram_limit": memory.limit,
        "ram_free": memory.available,
        "gpus": [asdict(gpu) for gpu in graphics.gpus()],
        "split": None if (split := ModelRecords().split) is None else split.to_json(),
        "library": str(library.home()),
    }


def _print_computer(c: dict[str, Any]) -> None:
    print(f"Underhill {c['underhill']}, torch {c['torch']}")
    print(c["kernels"]["reason"])
    print(f"{c['cores']} cores; {gb(c['ram_free'])} of {gb(c['ram_limit'])} memory free")
    for gpu in c["gpus"]:
        print(f"{gpu['name']}: {gb(gpu['free'])} of {gb(gpu['total'])} free")
    if c["split"] is not None:
        print(
            f"Open models that are not in use keep up to {100 * c['split']['share']:.0f} % of the memory for models, "
            "by how models were used here"
        )
    print(f"Models folder: {c['library']}")


def _print_model(m: dict[str, Any]) -> None:
    print()
    print(f"{m['title']} ({m['family']}, {m['backend']} decoder)")
    print(f"{m['parameters'] / 1e6:,.1f} M parameters, {m['active_parameters'] / 1e6:,.1f} M used per token")
    print(f"{m['experts']} experts in {m['moe_layers']} layers, {m['experts_per_token']} per token")
    print(m["problem"] or f"{gb(m['disk_bytes'])} on disk in {m['path']}")
    sizes = dict(m["tier_bytes"])
    if not m["quality"]:
        for tier, nbytes in sizes.items():
            print(f"  {tier}-bit experts: {gb(nbytes)} in all")
    for q in m["quality"]:
        print(
            f"  {q['tier']}-bit experts: {gb(sizes.get(q['tier'], 0))} in all, "
            f"{q['bits_per_weight']:.2f} bits per weight to read, relative error {q['relative_error']:.4f}"
        )
    if m["source_note"]:
        print(m["source_note"])
    if m["verified"] is not None:
        print(_verified(m["verified"]))
    if m["lowering"] is not None:
        print(
            f"{100 * m['lowered_share']:.0f} % of the experts keep fewer bits: KL {m['lowering']['kl']:.4f} from Exact"
        )
    if m["memory"] is not None:
        parts = ", ".join(f"{words} {gb(m['memory'][key])}" for key, words in PARTS.items())
        print(f"Open, it takes {gb(m['memory']['taken'])} of memory at most: {parts}.")
    if m["note"]:
        print(m["note"])


def run_plan(args: argparse.Namespace) -> int:
    """Print the plan without loading the model, and what each mode would give; also for one that cannot run."""
    chosen = given(args, settings.ENGINE)
    path = library.at_hand(args.model)
    if path is None:  # the built-in model before its first use
        machine, facts, calibration = machine_at(library.location(BUILTIN)), builtin.facts(), None
    else:
        machine, facts, calibration = _opened(path, chosen)
    if path is None:
        plan = offload.make_plan_with_card(machine, facts, chosen, probe.rss())
    else:
        facts, plan = planned(path, machine, facts, chosen, probe.rss())
    modes = offload.outlooks(machine, facts, plan, dial_of(chosen))
    against = offload.why_not(str(chosen["mode"]), machine.gpus)
    kernels = kernels_in_use(plan.threads)
    if args.json:
        found = None if calibration is None else asdict(calibration)
        told = {"kernels": kernels, "calibration": found, "modes": list(map(asdict, modes)), "against_mode": against}
        print(json.dumps({**asdict(plan), **told}))
    else:
        calibrated = dials.in_words(calibration, str(chosen["dial"]))
        print("\n".join((*plan.sentences, calibrated, kernels, *offload.sentences(machine, modes, plan.mode))))
        if against:
            say(f"The plan above is {offload.NAMES[plan.mode]}: {offload.NAMES[str(chosen['mode'])]} cannot run here.")
    return 0


def _opened(path: Path, chosen: Mapping[str, Any]) -> tuple[Machine, ModelFacts, dials.Calibration | None]:
    with Store.open(path) as store:
        card = library.card(path)
        return (machine_at(largest_file(store)), model_facts(store, card, spec_of(store)), card.calibration)


def run_probe(args: argparse.Namespace) -> int:
    """Measure what is not known yet, and print it."""
    shown = sys.stderr.isatty()

    def report(text: str, done: int, total: int) -> None:
        if shown:
            print(f"\r\x1b[K{text} ({100 * done // max(1, total)} %)", end="", file=sys.stderr, flush=True)

    try:
        found = measure_computer(args.again, report)
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    print(json.dumps(asdict(found)) if args.json else "\n".join(found.sentences))
    return 0
