"""`underhill-cli list`: the models in the library, and what lies there that cannot be opened."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from engine.cli.output import gb, millions, pill, speed, table
from engine.library import library
from engine.library.entries import ModelCard
from engine.library.home import BUILTIN
from engine.session import builtin
from engine.session.pills import Pills

HEADER = ("NAME", "HERE", "TOKENS/S", "FAMILY", "PARAMETERS", "ON DISK", "BITS", "BACKEND", "BALANCED COSTS")


def run(args: argparse.Namespace) -> int:
    """Print the library; the built-in model is in it before anything has been made of it."""
    pills = Pills()
    cards = pills.library(library.listing())
    if not any(card.name == BUILTIN and card.usable for card in cards):
        cards = (builtin.card(pills), *(card for card in cards if card.name != BUILTIN))
    if args.json:
        print(json.dumps([asdict(card) for card in cards]))
        return 0
    usable = [card for card in cards if card.usable]
    print(table(map(_row, usable), HEADER))
    for card in cards:
        if card.problem:
            size = "" if card.usable else f" ({gb(card.disk_bytes)})"
            print(f"\n{card.name}{size}: {card.problem} {card.action}".rstrip())
    return 0


def _row(c: ModelCard) -> tuple[str, ...]:
    bits = "/".join(map(str, c.tiers))
    own = c.name, pill(c.fit), speed(c.fit), c.family, millions(c.parameters), gb(c.disk_bytes), bits
    return *own, c.backend, _cost(c)


def _cost(card: ModelCard) -> str:
    """At the most, as KL divergence from Exact."""
    worst = None if card.calibration is None else card.calibration.dials["balanced"].worst
    return "not measured" if worst is None else f"KL {worst.kl:.4f}"
