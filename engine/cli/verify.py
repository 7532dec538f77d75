"""`underhill-cli verify`: read every byte of a model again and name what is damaged."""

from __future__ import annotations

import argparse
import json
import sys

from engine.cli.output import ProgressBar, say
from engine.library import damage, library
from engine.store.verify import verify


def run(args: argparse.Namespace) -> int:
    """Exit code 0 when everything is as it was written, 1 when something is damaged."""
    bar = ProgressBar(sys.stderr.isatty())
    path = library.prepare(args.model, bar.report)
    problems = verify(path, lambda done, total: bar.report("Verifying", done, total))
    bar.close()
    remedy = damage.remedy(path, named=True) if problems else ""
    if args.json:
        print(json.dumps({"damaged": list(problems), "action": remedy}))
    elif problems:
        print("\n".join(problems))
        say(remedy)
    else:
        print("Every byte is as it was written.")
    return 1 if problems else 0
