"""What must be the same for rates measured before to hold: processor, memory, disk, system and Underhill itself."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import psutil

from engine.hardware.processor import processor
from engine.translatable import msg

RAM_STEP = 1 << 28  # bytes; what is left of the modules differs by a few megabytes from kernel to kernel
MOUNTS = Path("/proc/self/mountinfo")
BY_UUID = Path("/dev/disk/by-uuid")


@dataclass(frozen=True)
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
            "disk": msg("the disk is another one"),
            "ram": msg("the memory has another size"),
            "processor": msg("the processor is another one"),
            "physical": msg("other cores may be used"),
            "logical": msg("other cores may be used"),
            "system": msg("the operating system is another one"),
            "underhill": msg("Underhill is of another version"),
            "torch": msg("torch is of another version"),
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
    wanted = f"{os.major(device)}:{os.minor(device)}" if hasattr(os, "major") else ""
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
