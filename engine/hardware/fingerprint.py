"""What must be the same for rates measured before to hold: processor, memory, disk, system and Underhill itself."""

from __future__ import annotations

import json
import os
import platform
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

from engine.filesystem import replace_file
from engine.hardware.processor import processor
from engine.hardware.rates import Rates, from_json
from engine.regular_file import read_json
from engine.store.fields import DAMAGED
from engine.translatable import NO_TEXT, Translatable, msg

RAM_STEP = 1 << 28  # bytes; what is left of the modules differs by a few megabytes from kernel to kernel
MOUNTS = Path("/proc/self/mountinfo")
BY_UUID = Path("/dev/disk/by-uuid")


@dataclass(frozen=True, kw_only=True)
class Fingerprint:
    """ram: bytes, rounded. disk: what tells the disk (or part of one) from another."""

    processor: str
    physical: int
    logical: int
    ram: int
    system: str
    underhill: str
    torch: str
    disk: str

    def differs(self, other: Fingerprint) -> str:
        """The first thing that is another, in a few words; '' if nothing is."""
        words = {
            "disk": msg("the disk has changed"),
            "ram": msg("the memory size has changed"),
            "processor": msg("the processor has changed"),
            "physical": msg("the usable cores have changed"),
            "logical": msg("the usable cores have changed"),
            "system": msg("the operating system has changed"),
            "underhill": msg("the app version has changed"),
            "torch": msg("the torch version has changed"),
        }
        return next((text for name, text in words.items() if getattr(self, name) != getattr(other, name)), "")


def fingerprint(place: Path) -> Fingerprint:
    """Of this computer and the disk that holds `place`."""
    found = processor()
    return Fingerprint(
        processor=found.name,
        physical=found.physical,
        logical=found.logical,
        ram=round(psutil.virtual_memory().total / RAM_STEP) * RAM_STEP,
        system=f"{platform.system()} {platform.machine()}",
        underhill=_version("underhill"),
        torch=_version("torch"),
        disk=disk_of(place),
    )


def disk_of(place: Path, mounts: Path = MOUNTS, by_uuid: Path = BY_UUID) -> str:
    """The file system's own name where the system tells one, else its device and where it is mounted.

    Device numbers alone are given out anew at every start. On Windows they are the volume's serial number.
    """
    device = os.stat(existing(place)).st_dev
    wanted = ""
    if sys.platform != "win32":
        wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in _lines(mounts):
        fields, _, kind = line.partition(" - ")
        parts, types = fields.split(), kind.split()
        if len(parts) > 4 and len(types) > 1 and parts[2] == wanted:
            return " ".join([types[0], _uuid(types[1], by_uuid) or f"{types[1]} at {parts[4]}"])
    return f"volume {device:x}"


def existing(place: Path) -> Path:
    """The place itself, or the nearest folder around it that there is."""
    place = place.absolute()
    return next(path for path in (place, *place.parents) if path.exists())


def _uuid(device: str, by_uuid: Path) -> str:
    if not device.startswith("/") or not by_uuid.is_dir():
        return ""
    real = os.path.realpath(device)
    return next((link.name for link in sorted(by_uuid.iterdir()) if os.path.realpath(link) == real), "")


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # run straight from a checkout
        return ""


FILE = "hardware.json"
VERSION = 4  # raised with what is measured, or how: files of another version are measured anew
MOST = 16  # disks, computers and states that are remembered; the oldest go first


@dataclass(frozen=True)
class KeptRates:
    """What is known. rates: None where they have to be measured; then why says so in a sentence."""

    rates: Rates | None
    why: Translatable = NO_TEXT


def look(folder: Path, now: Fingerprint, on_battery: bool | None) -> KeptRates:
    """The rates that hold for this fingerprint and power. Never raises: what cannot be read was never kept."""
    rows = kept_rows(folder)
    power = _power(on_battery)
    for row in rows:
        if row["power"] == power and row["fingerprint"] == asdict(now):
            with suppress(KeyError, TypeError, ValueError, AttributeError):
                return KeptRates(from_json(row["rates"]))
    if not rows:
        return KeptRates(None, msg("This computer hasn't been measured yet."))
    if any(row["fingerprint"] == asdict(now) for row in rows):
        where = msg("on battery") if on_battery else msg("on mains power")
        return KeptRates(None, msg("This computer hasn't been measured {where} yet.", where=where))
    try:
        differs = Fingerprint(**rows[-1]["fingerprint"]).differs(now)
    except TypeError:
        differs = ""
    return KeptRates(
        None,
        msg("Since this computer was measured, {differs}.", differs=differs)
        if differs
        else msg("It will be measured again."),
    )


def keep(folder: Path, now: Fingerprint, on_battery: bool | None, rates: Rates) -> None:
    """Remember them. Raises OSError."""
    row = {"fingerprint": asdict(now), "power": _power(on_battery), "rates": rates.as_json()}
    # Replaced and put last: of MOST rows the first is the one that goes.
    others = [r for r in kept_rows(folder) if (r["fingerprint"], r["power"]) != (row["fingerprint"], row["power"])]
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"version": VERSION, "measured": [*others, row][-MOST:]}, indent=1)
    replace_file(folder / FILE, text.encode())


def _power(on_battery: bool | None) -> str:
    return "battery" if on_battery else "mains"


def kept_rows(folder: Path) -> list[dict[str, Any]]:
    """Return the rates kept so far; none where the file cannot be read."""
    try:
        found = read_json(folder / FILE)
        rows = found["measured"] if found["version"] == VERSION else []
        return [row for row in rows if isinstance(row["fingerprint"], dict) and row["power"] and row["rates"]]
    except DAMAGED:
        return []
