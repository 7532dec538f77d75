"""Thresholds T1 and T2 per model: quantiles of unimportance scores on calibration text, kept beside the store."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine import resources
from engine.errors import Kind, UnderhillError
from engine.experts.precision import unimportance
from engine.experts.thresholds import quantile_cuts

if TYPE_CHECKING:
    from engine.session.session import Session

FILE = "calibration.json"
# Shares of expert uses at full precision and coarse; the rest is skipped. Balanced: hobbit 3.2. Fast: our own.
SHARES = {"balanced": (0.67, 0.30), "fast": (0.45, 0.45)}
UNCALIBRATED = {"balanced": (0.6, 0.9), "fast": (0.4, 0.85)}  # balanced: hobbit's values for Mixtral
EXACT = (1.0, 1.0)
TOKENS = 4096  # of calibration text; enough for quantiles to settle to a percent


def thresholds_of(store: Path, dial: str) -> tuple[float, float]:
    """T1 and T2 of a dial for this model: calibrated, or until then the paper's for Mixtral."""
    if dial == "exact":
        return EXACT
    return (read(store) or UNCALIBRATED)[dial]


def read(store: Path) -> dict[str, tuple[float, float]] | None:
    """The calibrated cuts per dial; None if there are none (or the file was damaged: then calibrate again)."""
    try:
        found = json.loads((store / FILE).read_text(encoding="utf-8"))["thresholds"]
        cuts = {dial: (float(found[dial][0]), float(found[dial][1])) for dial in SHARES}
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None
    return cuts if all(0 <= t1 <= t2 <= 1 for t1, t2 in cuts.values()) else None


def calibrate(
    session: Session, progress: Callable[[int, int], None] = lambda done, total: None
) -> dict[str, tuple[float, float]]:
    """Run calibration chats through the model, take the score quantiles, and keep them with the store.

    Raises UnderhillError(DISK_ERROR) where the store cannot be written to.
    """
    scores: list[Tensor] = []

    def note(layer: int, ids: Tensor, weights: Tensor) -> None:
        scores.append(unimportance(weights).flatten())

    with session.runtime.listening(note):
        done = 0
        for ids in _text(session):
            session.logits(ids, one_by_one=False)
            done += len(ids)
            progress(min(done, TOKENS), TOKENS)
            if done >= TOKENS:
                break
    together = torch.cat(scores)
    cuts = {dial: quantile_cuts(together, *share) for dial, share in SHARES.items()}
    _write(session.store.path / FILE, cuts, done)
    return cuts


def _text(session: Session) -> list[list[int]]:
    from engine.session.evaluate import sequences

    file = resources.path("calibration", "calibration.jsonl")
    return sequences(session.chat, file, session.context.limit, None)


def _write(path: Path, cuts: dict[str, tuple[float, float]], tokens: int) -> None:
    temporary = path.with_suffix(".tmp")
    try:
        temporary.write_text(json.dumps({"thresholds": cuts, "tokens": tokens}), encoding="utf-8")
        temporary.replace(path)
    except OSError as e:
        raise UnderhillError(
            Kind.DISK_ERROR, f"The thresholds cannot be kept in {path.parent}.", "Check that the folder can be written."
        ) from e
