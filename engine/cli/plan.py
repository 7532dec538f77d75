"""`underhill-cli plan`: where a model would go on this computer, and how fast it should be."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from engine import settings
from engine.cli.main import given
from engine.hub import library
from engine.session.session import make_plan
from engine.store.reader import Store


def run(args: argparse.Namespace) -> int:
    """Print the plan without loading the model."""
    path = library.prepare(args.model)
    with Store.open(path) as store:
        plan = make_plan(store, path.name, given(args, settings.ENGINE))
    if args.json:
        print(json.dumps(asdict(plan)))
    else:
        print("\n".join(plan.sentences))
    return 0
