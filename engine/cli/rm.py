"""`underhill-cli rm`: a model out of the library, into the trash or off the disk."""

from __future__ import annotations

import argparse
import json

from engine.library import library, trash
from engine.library.home import BUILTIN


def run(args: argparse.Namespace) -> int:
    """Delete without asking; what is deleted can be brought back for a week."""
    restorable = library.delete(args.name, now=args.now)
    library.tidy()
    if args.json:
        print(json.dumps({"deleted": args.name, "restorable": restorable}))
    elif restorable:
        print(f"{args.name} is in the trash for {trash.DAYS} days; `underhill-cli restore {args.name}` brings it back.")
    elif args.name == BUILTIN:
        print("The built-in model is deleted; it is made anew when it is next used.")
    else:
        print(f"{args.name} is deleted.")
    return 0
