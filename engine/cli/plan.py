"""`underhill-cli plan`: where a model would go on this computer, and how fast it should be."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine import settings
from engine.cli.main import given
from engine.cli.output import say
from engine.hardware import probe
from engine.hardware.machine import Machine
from engine.kernels.choice import in_use
from engine.library import dials, library
from engine.library.home import BUILTIN
from engine.planning import offload
from engine.planning.facts import ModelFacts
from engine.planning.plan import dial_of, make_plan
from engine.session import builtin
from engine.session.facts import model_facts, runs_natively, spec_of
from engine.session.measured import machine_at
from engine.session.session import measure
from engine.session.verified import recalled
from engine.store.reader import Store


def run(args: argparse.Namespace) -> int:
    """Print the plan without loading the model, and what each mode would give; also for one that cannot run."""
    chosen = given(args, settings.ENGINE)
    path = library.at_hand(args.model)
    machine, facts, calibration = _unmade(chosen) if path is None else _opened(path, chosen)
    plan = make_plan(machine, facts, chosen, probe.rss())
    if path is not None:
        facts, plan = recalled(path, machine, facts, plan, chosen)
    modes = offload.outlooks(machine, facts, plan, dial_of(chosen))
    against = offload.why_not(str(chosen["mode"]), machine.gpus)
    kernels = in_use(str(chosen["kernel"]), plan.threads)
    if args.json:
        found = None if calibration is None else asdict(calibration)
        told = {"kernels": kernels, "calibration": found, "modes": list(map(asdict, modes)), "against_mode": against}
        print(json.dumps({**asdict(plan), **told}))
    else:
        calibrated = dials.in_words(calibration, str(chosen["dial"]))
        print("\n".join((*plan.sentences, calibrated, kernels, *offload.sentences(machine, modes))))
        if against:
            say(f"The plan above is {offload.NAMES[plan.mode]}: {offload.NAMES[str(chosen['mode'])]} cannot run here.")
    return 0


def _opened(path: Path, chosen: Mapping[str, Any]) -> tuple[Machine, ModelFacts, dials.Calibration | None]:
    with Store.open(path) as store:
        card = library.card(path)
        return measure(store), model_facts(store, card, spec_of(store), runs_natively(chosen)), card.calibration


def _unmade(chosen: Mapping[str, Any]) -> tuple[Machine, ModelFacts, None]:
    """Of the built-in model before its first use."""
    return machine_at(library.location(BUILTIN)), builtin.facts(runs_natively(chosen)), None
