"""`underhill-cli rm`: a model out of the library and off the disk."""

from __future__ import annotations

import argparse
import json

from engine.hub import library


def run(args: argparse.Namespace) -> int:
    """Delete without asking; what is deleted can be imported again."""
    library.delete(args.name)
    print(json.dumps({"deleted": args.name}) if args.json else f"{args.name} is deleted.")
    return 0
