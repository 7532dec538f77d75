"""A release: a folder with the window's code and libraries, and the list of packages that its engine needs."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import app

NOTE = "release.json"


@dataclass(frozen=True)
class Release:
    """folder: has app/ and qt/ (Python packages), bin/uv, packages/ (locks and wheels) and release.json."""

    folder: Path

    @property
    def note(self) -> dict[str, Any]:
        """What release.json says: version, parts (SHA-256 by name), updates (address and public keys)."""
        said: dict[str, Any] = json.loads((self.folder / NOTE).read_text(encoding="utf-8"))
        return said

    @property
    def version(self) -> str:
        """Its number, as 0.2.0."""
        return str(self.note["version"])

    @property
    def uv(self) -> Path:
        """The program that installs packages."""
        return self.folder / "bin" / ("uv.exe" if sys.platform == "win32" else "uv")

    @property
    def locks(self) -> tuple[Path, ...]:
        """The engine's packages with the hashes of their files; torch has a lock of its own, as its index has."""
        return self.folder / "packages" / "engine.txt", self.folder / "packages" / "torch.txt"

    @property
    def shipped(self) -> list[Path]:
        """Wheels that lie here: of packages that nobody publishes one of; in a fat installer, all."""
        return sorted((self.folder / "packages").glob("*.whl"))

    @property
    def is_fat(self) -> bool:
        """Whether the engine can be installed without a network."""
        return any(wheel.name.startswith("torch-") for wheel in self.shipped)


def running() -> Release | None:
    """The release that this code is part of; None in a checkout, or where pip installed it."""
    folder = Path(app.__file__).parents[2]
    return Release(folder) if (folder / NOTE).is_file() else None


def program_folder(data: Path) -> Path:
    """Where engines, updates and their state are kept. data: the user's folder of Underhill."""
    return data / "program"
