"""`underhill-cli plan`: where a model would go on this computer, and how fast it should be."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from engine import settings
from engine.cli.main import given
from engine.cli.output import say
from engine.hardware import offload, probe
from engine.hardware.plan import dial_of, make_plan
from engine.hub import dials, library
from engine.kernels.choice import in_use
from engine.session.facts import model_facts, runs_natively, spec_of
from engine.session.session import measure
from engine.session.verified import recalled
from engine.store.reader import Store


def run(args: argparse.Namespace) -> int:
    """Print the plan without loading the model, and what each mode would give; also for one that cannot run."""
    path = library.prepare(args.model)
    with Store.open(path) as store:
        chosen = given(args, settings.ENGINE)
        card = library.card(path)
        facts = model_facts(store, card, spec_of(store), runs_natively(chosen))
        machine = measure(store)
        facts, plan = recalled(path, machine, facts, make_plan(machine, facts, chosen, probe.rss()), chosen)
    modes = offload.outlooks(machine, facts, plan, dial_of(chosen))
    against = offload.why_not(str(chosen["mode"]), machine.gpus)
    kernels = in_use(str(chosen["kernel"]), plan.threads)
    if args.json:
        found = None if card.calibration is None else asdict(card.calibration)
        told = {"kernels": kernels, "calibration": found, "modes": list(map(asdict, modes)), "against_mode": against}
        print(json.dumps({**asdict(plan), **told}))
    else:
        calibrated = dials.in_words(card.calibration, str(chosen["dial"]))
        print("\n".join((*plan.sentences, calibrated, kernels, *offload.sentences(machine, modes))))
        if against:
            say(f"The plan above is {offload.NAMES[plan.mode]}: {offload.NAMES[str(chosen['mode'])]} cannot run here.")
    return 0
