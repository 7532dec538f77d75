"""Whole pulls killed with SIGKILL, for every form of weights: what is fetched twice, and whether the model is the same.

    python -m tests.audit.kills
    python -m tests.audit.kills --rounds 20 --form GPTQ "GGUF Q4_K" --json

Each form is a small random model on a hub on loopback. `underhill-cli pull` is killed --rounds times at random moments,
then when the last byte has come, after the manifest was written, right before and right after the final rename, and
before the rest of the download is removed; then it is let through. `twice` is what it fetched beyond the model's bytes.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from dataclasses import asdict
from pathlib import Path

from tests.engine.hub.killing import MOST, Killer, Outcome
from tests.hubserver import HubServer


def kill(form: str, rounds: int, seed: int) -> Outcome:
    """One form."""
    from tests.engine.formats.forms import FORMS  # with transformers, which the processes that are killed do without

    with tempfile.TemporaryDirectory() as temporary, HubServer() as server:
        FORMS[form](Path(temporary) / "served")
        return Killer(server, Path(temporary) / "served", Path(temporary) / "home", random.Random(seed)).kill(rounds)


def main() -> None:
    """Print one line a form. Exit code 1: a model was another one, or too much came twice."""
    from tests.engine.formats.forms import FORMS

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="kills at random moments, besides five at given ones")
    parser.add_argument("--form", nargs="+", choices=FORMS, default=list(FORMS), help="these only")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument("--json", action="store_true", help="one JSON object a form")
    args = parser.parse_args()
    good = True
    for form in args.form:
        found = kill(form, args.rounds, args.seed)
        twice = found.fetched - found.total
        right = not found.different and not found.left and 0 <= twice <= found.kills * MOST
        good &= right
        if args.json:
            print(json.dumps({"form": form, "twice": twice, "right": right, **asdict(found)}), flush=True)
        else:
            print(
                f"{form:12} {found.kills} kills, {found.total:12,} bytes, {twice:9,} of them twice, "
                f"{twice / found.kills / 1e6:.2f} MB a kill: {'the same store' if right else 'WRONG'}",
                flush=True,
            )
    raise SystemExit(not good)


if __name__ == "__main__":
    main()
