"""What the precision dials cost on one model, as measured and kept beside its store. Imports nothing heavy."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from engine.filesystem import replace_file
from engine.regular_file import read_json
from engine.store.fields import DAMAGED
from engine.translatable import Translatable, msg

FILE = "calibration.json"
VERSION = 5  # of calibration.json: others but BEFORE are measured again
BEFORE = 4  # had no thresholds of the dial "hobbit"
DIALS = ("hobbit", "balanced", "fast")
NAMES = {"hobbit": msg("HOBBIT 67/30/3"), "balanced": msg("Balanced"), "fast": msg("Fast")}
HOBBIT = (0.67, 0.97)  # of expert uses up to T1 and up to T2: high precision, and high or low (hobbit, section 3.2)


@dataclass(frozen=True)
class Cost:
    """Against Exact on the same text. perplexity_rise: 0.01 is 1 %. kl: nats a token, from Exact."""

    perplexity_rise: float
    kl: float


@dataclass(frozen=True)
class DialCost:
    """A dial of this model: T1, T2, and what it costs.

    worst: were every expert that is used missing from memory. here: with what this computer's cache held then; None
    where it held everything, or was not measured yet. substitute: of cache-aware routing, the least score that may
    stand in for a missing expert's, as a share of it, with which `here` was measured; 0: none may.
    """

    t1: float
    t2: float
    worst: Cost | None = None
    here: Cost | None = None
    substitute: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """tokens: that T1 and T2 are quantiles over. scored: tokens of other text that `worst` was measured on.

    share: of the experts' bytes that the cache could hold when `here` was measured, on `scored_here` tokens. scores:
    how many unimportance scores fell into each of so many equal parts of 0 to 1; () where that was not kept. low: bits
    that coarse experts had when the costs were measured.
    """

    tokens: int
    scored: int
    scored_here: int
    share: float
    exact_perplexity: float
    dials: dict[str, DialCost]
    scores: tuple[int, ...] = ()
    low: int = 2

    def at(self, low: int) -> Calibration:
        """What of it holds where coarse experts have so many bits: what the dials cost with others is not known."""
        if low == self.low:
            return self
        cuts = {dial: DialCost(one.t1, one.t2) for dial, one in self.dials.items()}
        return replace(self, low=low, scored=0, scored_here=0, share=0.0, dials=cuts)

    def shares(self, t1: float, t2: float) -> tuple[float, float, float]:
        """Of expert uses under these thresholds: at full precision, coarse, skipped. Needs `scores`."""
        whole = max(1, sum(self.scores))
        low, high = (self._below(cut) / whole for cut in (t1, t2))
        return low, high - low, 1 - high

    def _below(self, cut: float) -> float:
        """Scores up to `cut`, those of one part being taken to lie evenly in it, but for the first: most are 0."""
        at = cut * len(self.scores)
        whole = min(len(self.scores), max(1, int(at)))
        part = at - whole if whole < len(self.scores) and at > whole else 0.0
        return sum(self.scores[:whole]) + (part * self.scores[whole] if part else 0.0)


def read(store: Path) -> Calibration | None:
    """What was measured; None if nothing was, or the file is damaged or of another version: then measure again."""
    try:
        found = read_json(store / FILE)
        if found["version"] not in (BEFORE, VERSION):
            return None
        scores = tuple(int(count) for count in found.get("scores", ()))
        own = {"hobbit": _by_shares(scores)} if found["version"] == BEFORE else {}
        dials = {dial: own.get(dial) or _dial(found["dials"][dial]) for dial in DIALS}
        numbers = [float(found[name]) for name in ("share", "exact_perplexity")]
        counts = [int(found[name]) for name in ("tokens", "scored", "scored_here")]
        low = int(found.get("low", 2))
    except DAMAGED:
        return None
    if not all(math.isfinite(n) and n >= 0 for n in (*numbers, *counts, *scores)):
        return None
    return Calibration(
        tokens=counts[0],
        scored=counts[1],
        scored_here=counts[2],
        share=numbers[0],
        exact_perplexity=numbers[1],
        dials=dials,
        scores=scores,
        low=low,
    )


def at(store: Path, low: int) -> Calibration | None:
    """As `read`, with coarse experts of so many bits: see Calibration.at."""
    found = read(store)
    return None if found is None else found.at(low)


def write(store: Path, found: Calibration) -> None:
    """Keep it. Raises OSError."""
    replace_file(store / FILE, json.dumps({"version": VERSION, **asdict(found)}).encode())


def in_words(calibration: Calibration | None, dial: str) -> Translatable:
    """What a dial costs on this model, in a sentence."""
    if dial == "exact":
        return msg("Exact: always full precision.")
    called = NAMES[dial]
    cost = None if calibration is None else calibration.dials.get(dial)
    if calibration is None or cost is None or cost.worst is None:
        return msg("{called}: quality loss not measured yet.", called=called)
    most = msg("{figures} if all experts are read from disk", figures=_figures(cost.worst))
    if cost.here is None:
        return msg("{called}: {most}, no loss when all are in memory.", called=called, most=most)
    return msg(
        "{called}: {figures} with {share}% of experts in memory, {most}.",
        called=called,
        figures=_figures(cost.here),
        share=f"{100 * calibration.share:.0f}",
        most=most,
    )


def _figures(cost: Cost) -> Translatable:
    return msg("KL {kl} vs. Exact", kl=f"{cost.kl:.4f}")


def _dial(found: dict[str, Any]) -> DialCost:
    t1, t2 = float(found["t1"]), float(found["t2"])
    if not 0 <= t1 <= t2 <= 1:
        raise ValueError("impossible thresholds")
    substitute = float(found.get("substitute", 0.0))  # calibrations of versions before did not know it
    if not 0 <= substitute <= 1:
        raise ValueError("an impossible share")
    return DialCost(t1, t2, _cost(found["worst"]), _cost(found["here"]), substitute)


def _cost(found: dict[str, Any] | None) -> Cost | None:
    if found is None:
        return None
    cost = Cost(float(found["perplexity_rise"]), float(found["kl"]))
    if not (math.isfinite(cost.perplexity_rise) and math.isfinite(cost.kl)):
        raise ValueError("not a number")
    return cost


def _by_shares(scores: tuple[int, ...]) -> DialCost:
    """The dial "hobbit" where only the distribution of scores was kept: the ends of the parts that reach its shares."""
    whole = sum(scores)
    if not whole or min(scores) < 0:
        raise ValueError("no distribution of scores")
    reached = list(accumulate(scores))
    t1, t2 = (next(at for at, n in enumerate(reached, 1) if n >= share * whole) / len(scores) for share in HOBBIT)
    return DialCost(t1, t2)
