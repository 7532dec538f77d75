"""`underhill-cli restore`: a deleted model out of the trash."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from engine.library import trash
from engine.library.listing import card


def run(args: argparse.Namespace) -> int:
    """Bring back the one that was deleted last."""
    path = trash.restore(args.name, args.as_name)
    if args.json:
        print(json.dumps(asdict(card(path))))
    else:
        print(f"{path.name} is back in {path.parent}.")
    return 0
