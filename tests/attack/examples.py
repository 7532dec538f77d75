"""No attacks but what the command has to see, for its own test."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.attack.case import Case


def cases() -> list[Case]:
    return [
        Case("hangs", lambda folder: time.sleep(600), True),
        Case("takes memory", lambda folder: len(bytearray(b"x") * (300 << 20)), True),
        Case("dies", lambda folder: os._exit(3), True),
        Case("lets others read", _open_to_others, True),
        Case("does no harm", lambda folder: None, True),
    ]


def _open_to_others(folder: Path) -> None:
    (folder / "file").write_text("x", encoding="utf-8")
    (folder / "file").chmod(0o644)
