"""How far the calibration of a model has come, kept beside its store so that the next start goes on from there."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from engine.library.dials import DIALS
from engine.session.evaluate import Sums
from engine.store.arrays import arrays
from engine.store.atomic import replacing
from engine.store.fields import DAMAGED

FILE = "calibration.part.npz"
VERSION = 1


@dataclass
class CalibrationState:
    """stage: see Calibrator; window: of its windows, the first that is not done. scores: of routing decisions so far.

    worst, here: sums by dial. low: bits of the coarse experts that they are about.
    """

    stage: int = 0
    window: int = 0
    scores: Tensor = field(default_factory=lambda: torch.empty(0))
    worst: dict[str, Sums] = field(default_factory=lambda: dict.fromkeys(DIALS, Sums()))
    here: dict[str, Sums] = field(default_factory=lambda: dict.fromkeys(DIALS, Sums()))
    low: int = 2

    def fits(self, windows: Sequence[Sequence[int]]) -> bool:
        """Whether it is about these windows, as far as can be seen."""
        if not 0 <= self.window < len(windows):
            return False
        if self.stage == 0:
            return bool(self.window) == bool(len(self.scores))
        sums = self.worst if self.stage == 1 else self.here
        return all(sums[dial].tokens == sum(len(w) - 1 for w in windows[: self.window]) for dial in DIALS)

    def save(self, store: Path) -> None:
        """Write it, whole or not at all. Raises OSError."""
        state = {"version": VERSION, "stage": self.stage, "window": self.window, "worst": self.worst, "here": self.here}
        state["low"] = self.low
        text = np.frombuffer(json.dumps(state).encode(), np.uint8)
        with replacing(store / FILE) as temporary, temporary.open("wb") as file:
            np.savez(file, state=text, scores=self.scores.numpy())

    @classmethod
    def load(cls, store: Path) -> CalibrationState | None:
        """None where there is none, or it is damaged: then it begins again."""
        with suppress(*DAMAGED, EOFError, zipfile.BadZipFile):
            with arrays(store / FILE) as found:
                state = json.loads(found["state"].tobytes())
                scores = torch.from_numpy(found["scores"].astype(np.float32))
            if state["version"] == VERSION and state["stage"] in (0, 1, 2):
                worst, here = ({d: _sums(state[s][d]) for d in DIALS} for s in ("worst", "here"))
                return cls(int(state["stage"]), int(state["window"]), scores, worst, here, int(state["low"]))
        return None


def _sums(found: Sequence[float]) -> Sums:
    tokens, *rest = found
    return Sums(int(tokens), *map(float, rest))
