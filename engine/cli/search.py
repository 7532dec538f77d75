"""`underhill-cli search`: models on a hub that Underhill opens; without words, a choice of those people run today."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from engine.cli.hub import connected
from engine.cli.output import gb, millions, pill, say, speed, table
from engine.library.entries import HubModel
from engine.session.offers import judged, listed, of_catalogue
from engine.session.pills import Pills

HEADER = ("MODEL", "HERE", "TOKENS/S", "PARAMETERS", "PER TOKEN", "DOWNLOAD", "ON DISK", "LICENCE", "")


def run(args: argparse.Namespace) -> int:
    """List what is found, most downloaded first. Without words nothing is sent: the choice is shipped."""
    if args.words:
        with connected(args) as hub:
            found = judged(hub, listed(hub, " ".join(args.words))[: args.limit], Pills())
    else:
        found = of_catalogue(Pills())
    if args.json:
        print(json.dumps({"models": [asdict(one) for one in found]}))
    elif found:
        print(table(map(_row, found), HEADER))
    else:
        say("No model of that name can be opened here. Try fewer words, such as the name of a family.")
    return 0


def _row(m: HubModel) -> tuple[str, ...]:
    quantized, gated = f"quantized: {m.quantized}" if m.quantized else "", "needs an account" if m.gated else ""
    own = f"in the library as {m.here}" if m.here else ""
    form = f"{m.form} instead of {gb(m.original_bytes)} ({m.original})" if m.form else ""
    chosen = f"--gguf {m.gguf_name}" if m.gguf_name else ""
    return (
        m.repo,
        pill(m.fit),
        speed(m.fit),
        millions(m.parameters),
        millions(m.active_parameters),
        gb(m.download_bytes) if m.download_bytes else "?",
        gb(m.fit.disk) if m.fit is not None else "?",
        m.licence or "?",
        ", ".join(part for part in (own, m.about.rstrip("."), form, chosen, quantized, gated) if part),
    )
