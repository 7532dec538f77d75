"""`underhill-cli lower`: a smaller store of a model, its most robust experts with 2 bits."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from engine.cli.output import ProgressBar, gb
from engine.errors import Kind, UnderhillError
from engine.hub import library
from engine.hub.lowering import write_lowered
from engine.session import Session
from engine.session.robustness import choose, estimated, measured


def run(args: argparse.Namespace) -> int:
    """Rank, choose, write. Run again after an interruption, it goes on."""
    destination = library.location(args.name)
    if destination.exists():
        raise UnderhillError(
            Kind.BAD_REQUEST,
            f"There is already a model called {args.name}.",
            "Choose another name, or delete that one.",
        )
    bar = ProgressBar(sys.stderr.isatty())
    with Session.open(args.model, {"dial": "exact"}, bar.report) as session:
        found = choose(
            session,
            args.tolerance / 100,
            lambda phrase, done, total: bar.show(phrase, done, total, "steps"),
            measured if args.measure else estimated,
        )
        path = write_lowered(session.store, destination, found.lowered, found.lowering, bar.report)
        before = session.card.expert_bytes
    bar.close()
    card = library.card(path)
    layers: dict[int, list[int]] = {}
    for key in sorted(found.lowered):
        layers.setdefault(key.layer, []).append(key.expert)
    if args.json:
        report = {"experts": len(found.ranked), "lowered": layers, "bytes": card.expert_bytes, "bytes_before": before}
        print(json.dumps({"model": asdict(card), **report, **asdict(found.lowering)}))
    else:
        print(f"{card.name}: {len(found.lowered)} of {len(found.ranked)} experts keep 2 bits.")
        print(f"Experts take {gb(card.expert_bytes)}, before {gb(before)}.")
        rise, kl = 100 * found.lowering.perplexity_rise, found.lowering.kl
        print(f"Perplexity {rise:+.2f} %, KL {kl:.4f} over {found.lowering.tokens} tokens of other text.")
    return 0
