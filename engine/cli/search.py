"""`underhill-cli search`: models on a hub that Underhill opens; without words, a choice of those people run today."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from engine import settings
from engine.cli.main import given
from engine.cli.output import gb, say, table
from engine.hub import catalogue
from engine.hub.remote.client import connect
from engine.hub.remote.search import Found, search


def run(args: argparse.Namespace) -> int:
    """List what is found, most downloaded first. Without words nothing is sent: the choice is shipped."""
    if not args.words:
        return _catalogue(args)
    with connect(given(args, settings.HUB)) as hub:
        found = search(hub, " ".join(args.words), args.limit)
    if args.json:
        print(json.dumps({"models": [asdict(one) for one in found]}))
    elif found:
        print(table(map(_row, found), ("MODEL", "PARAMETERS", "DOWNLOAD", "LICENCE", "TYPE", "")))
    else:
        say("No model of that name can be opened here. Try fewer words, such as the name of a family.")
    return 0


def _catalogue(args: argparse.Namespace) -> int:
    entries = sorted(catalogue.load(), key=lambda entry: entry.parameters)
    if args.json:
        found = [
            {**asdict(e), "active_parameters": e.shape.active_parameters, "download_bytes": e.download_bytes}
            for e in entries
        ]
        print(json.dumps({"models": found}))
        return 0
    rows = [
        (
            e.repo,
            f"{e.parameters / 1e9:.1f} B",
            f"{e.shape.active_parameters / 1e9:.1f} B",
            gb(e.download_bytes),
            e.licence,
            e.about,
        )
        for e in entries
    ]
    print(table(rows, ("MODEL", "PARAMETERS", "PER TOKEN", "DOWNLOAD", "LICENCE", "")))
    return 0


def _row(found: Found) -> tuple[str, ...]:
    notes = [f"quantized: {found.quantized}"] * bool(found.quantized) + ["needs an account"] * found.gated
    return (
        found.repo,
        f"{found.parameters / 1e9:.1f} B" if found.parameters else "?",
        gb(found.download_bytes) if found.download_bytes else "?",
        found.licence or "?",
        found.model_type,
        ", ".join(notes),
    )
