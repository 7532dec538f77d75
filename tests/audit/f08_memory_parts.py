"""The parts of memory add up to what is taken, at every moment of a chat and in `info`."""

from __future__ import annotations

import contextlib
import io
import json

from engine.calibration.calibrator import open_calibrated
from engine.cli.main import main
from engine.generation.messages import Look, MemoryUse, Snapshot
from tests.audit.finding import Finding
from tests.engine.session.sizes import chat

PARTS = ("program", "dense", "context", "buffers", "cached")
REST = ("room", "aside", "spare")
UNNAMED = 0.35  # of what is taken, the most that may be called 'for computing' with a small model


def examine() -> Finding:
    """Every snapshot that a panel could be given, layer by layer, through prompts, answers and a lower ceiling."""
    told: list[Snapshot] = []
    with open_calibrated("builtin", {"memory_gb": 0.7}) as session:

        def layer(*_: object) -> None:
            found = session.snapshot(Look())
            if found is not None:
                told.append(found)

        with session.listening(layer):
            chat(session, 300, 40)
            session.update({"memory_gb": 0.6})
            chat(session, 30, 40)
    uses = [found.memory for found in told if found.memory is not None]
    off = max(abs(sum(_of(use, PARTS)) - found.rss) for use, found in zip(uses, told, strict=True))
    whole = max(abs(sum(_of(use, (*PARTS, *REST))) - max(use.ceiling, use.taken)) for use in uses)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        main(["info", "builtin", "--json"])
    info = json.loads(said.getvalue())["model"]["memory"]
    in_info = abs(sum(info[part] for part in PARTS) - info["taken"])
    found = {
        "moments": len(uses),
        "off_from_taken_bytes": off,
        "off_from_ceiling_bytes": whole,
        "least_part_bytes": min(min(_of(use, (*PARTS, *REST))) for use in uses),
        "unnamed_share": round(max(use.buffers / use.taken for use in uses), 3),
        "off_in_info_bytes": in_info,
        "taken_in_info": info["taken"],
    }
    fine = not (off or whole or in_info) and found["least_part_bytes"] >= 0 and found["unnamed_share"] <= UNNAMED
    return Finding(ok=fine and len(uses) > 40, found=found)


def _of(use: MemoryUse, parts: tuple[str, ...]) -> list[int]:
    return [getattr(use, part) for part in parts]
