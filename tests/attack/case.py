"""One attack: something hostile, and a reader that is given it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Attack = Callable[[Path], object]  # gets an empty folder of its own; raises what the reader raises


@dataclass(frozen=True)
class Case:
    """harmless: the reader may also take it, as it does no harm; else it has to refuse it with a sentence."""

    name: str
    attack: Attack
    harmless: bool = False
