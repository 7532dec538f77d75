"""Thresholds T1 and T2 per model: quantiles of unimportance scores on calibration text, kept beside the store."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from engine import resources
from engine.errors import Kind, UnderhillError
from engine.experts.precision import EXACT, Thresholds
from engine.experts.thresholds import HIGH_SHARE, LOW_SHARE, ScoreRecorder, from_scores

if TYPE_CHECKING:
    from engine.session.session import Session

FILE = "calibration.json"
# Shares of expert uses at full precision and coarse; the rest is skipped. Balanced: hobbit 3.2. Fast: our own.
SHARES = {"balanced": (HIGH_SHARE, LOW_SHARE), "fast": (0.45, 0.45)}
UNCALIBRATED = {"balanced": Thresholds(0.6, 0.9), "fast": Thresholds(0.4, 0.85)}  # balanced: hobbit's for Mixtral
TOKENS = 4096  # of calibration text; enough for quantiles to settle to a percent
QUICK = 1024  # tokens, for models so small that they are calibrated unasked when first opened


def thresholds_of(store: Path, dial: str) -> Thresholds:
    """T1 and T2 of a dial for this model: calibrated, or until then the paper's for Mixtral."""
    if dial == "exact":
        return EXACT
    return (read(store) or UNCALIBRATED)[dial]


def read(store: Path) -> dict[str, Thresholds] | None:
    """The calibrated cuts per dial; None if there are none (or the file was damaged: then calibrate again)."""
    try:
        found = json.loads((store / FILE).read_text(encoding="utf-8"))["thresholds"]
        return {dial: Thresholds(float(found[dial][0]), float(found[dial][1])) for dial in SHARES}
    except (OSError, ValueError, KeyError, TypeError, IndexError, UnderhillError):
        return None


def calibrate(
    session: Session, progress: Callable[[int, int], None] = lambda done, total: None, tokens: int = TOKENS
) -> dict[str, Thresholds]:
    """Run `tokens` of calibration chats through the model, take the score quantiles, keep them with the store.

    Raises UnderhillError(DISK_ERROR) where the store cannot be written to.
    """
    recorder, done = ScoreRecorder(), 0
    with session.listening(recorder), session.exactly():  # so that what was cached has no part in it
        for ids in _text(session):
            session.logits(ids, one_by_one=False)
            done += len(ids)
            progress(min(done, tokens), tokens)
            if done >= tokens:
                break
    cuts = {dial: from_scores(recorder.scores, *share) for dial, share in SHARES.items()}
    _write(session.store.path / FILE, cuts, done)
    return cuts


def _text(session: Session) -> list[list[int]]:
    from engine.session.evaluate import sequences

    file = resources.path("calibration", "calibration.jsonl")
    return sequences(session.chat, file, session.context.limit, None)


def _write(path: Path, cuts: dict[str, Thresholds], tokens: int) -> None:
    temporary = path.with_suffix(".tmp")
    found = {"thresholds": {dial: [c.t1, c.t2] for dial, c in cuts.items()}, "tokens": tokens}
    try:
        temporary.write_text(json.dumps(found), encoding="utf-8")
        temporary.replace(path)
    except OSError as e:
        raise UnderhillError(
            Kind.DISK_ERROR, f"The thresholds cannot be kept in {path.parent}.", "Check that the folder can be written."
        ) from e
