"""Measured rates, kept from one start to the next: by fingerprint, and on mains and on battery each their own."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.hardware.fingerprint import Fingerprint
from engine.hardware.rates import Rates, from_json
from engine.regular_file import read_json
from engine.store.atomic import replace_file
from engine.store.fields import DAMAGED
from engine.translatable import NO_TEXT, Translatable, msg

FILE = "hardware.json"
VERSION = 4
MOST = 16  # disks, computers and states that are remembered; the oldest go first


@dataclass(frozen=True)
class Kept:
    """What is known. rates: None where they have to be measured; then why says so in a sentence."""

    rates: Rates | None
    why: Translatable = NO_TEXT


def look(folder: Path, now: Fingerprint, on_battery: bool | None) -> Kept:
    """The rates that hold for this fingerprint and power. Never raises: what cannot be read was never kept."""
    rows = _rows(folder)
    power = _power(on_battery)
    for row in rows:
        if row["power"] == power and row["fingerprint"] == asdict(now):
            with suppress(KeyError, TypeError, ValueError, AttributeError):
                return Kept(from_json(row["rates"]))
    if not rows:
        return Kept(None, msg("This computer has not been measured yet."))
    if any(row["fingerprint"] == asdict(now) for row in rows):
        where = msg("on its battery") if on_battery else msg("on mains")
        return Kept(None, msg("This computer has not been measured {where} yet.", where=where))
    try:
        differs = Fingerprint(**rows[-1]["fingerprint"]).differs(now)
    except TypeError:
        differs = ""
    return Kept(
        None,
        msg("Since this computer was measured, {differs}.", differs=differs)
        if differs
        else msg("It has to be measured again."),
    )


def keep(folder: Path, now: Fingerprint, on_battery: bool | None, rates: Rates) -> None:
    """Remember them. Raises OSError."""
    row = {"fingerprint": asdict(now), "power": _power(on_battery), "rates": rates.as_json()}
    others = [r for r in _rows(folder) if (r["fingerprint"], r["power"]) != (row["fingerprint"], row["power"])]
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"version": VERSION, "measured": [*others, row][-MOST:]}, indent=1)
    replace_file(folder / FILE, text.encode())


def _power(on_battery: bool | None) -> str:
    return "battery" if on_battery else "mains"


def _rows(folder: Path) -> list[dict[str, Any]]:
    try:
        found = read_json(folder / FILE)
        rows = found["measured"] if found["version"] == VERSION else []
        return [row for row in rows if isinstance(row["fingerprint"], dict) and row["power"] and row["rates"]]
    except DAMAGED:
        return []
