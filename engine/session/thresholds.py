"""T1 and T2 of the quality presets for one model: calibrated, or those of the paper until then."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.experts.precision import EXACT, Thresholds
from engine.library import dials

# Of "hobbit", those that the paper (section 3.2) gives for Mixtral 8x7B; the others lie around them. They hold until
# a model is calibrated; then only the shares of planning.speed.dial_shares count.
UNCALIBRATED = {"hobbit": Thresholds(0.6, 0.9), "balanced": Thresholds(0.6, 0.9), "fast": Thresholds(0.4, 0.85)}

# What a router has to give an expert in memory at least, as a share of what it gives the missing one for which that
# stands in, where cache-aware routing is turned on by hand: Balanced replaces half as many experts as Fast.
BY_HAND = {"hobbit": 0.8, "balanced": 0.8, "fast": 0.5}


def substitute_for(store: Path, chosen: Mapping[str, Any]) -> float:
    """See ExpertRuntime.set_thresholds: what these settings ask for; 0: no expert stands in for another.

    Auto: what calibration found to cost no more than the preset may; nothing until then.
    """
    dial, wanted = str(chosen["dial"]), chosen["cache_aware_routing"]
    if dial == "exact" or wanted == "off":
        return 0.0
    if wanted == "on":
        return BY_HAND[dial]
    found = dials.read(store)
    return 0.0 if found is None else found.dials[dial].substitute


def thresholds_of(store: Path, dial: str) -> Thresholds:
    """T1 and T2 of a quality preset for this model: calibrated, or until then UNCALIBRATED."""
    if dial == "exact":
        return EXACT
    found = dials.read(store)
    if found is None:
        return UNCALIBRATED[dial]
    return Thresholds(found.dials[dial].t1, found.dials[dial].t2)


def thresholds_for(store: Path, chosen: Mapping[str, Any]) -> Thresholds:
    """T1 and T2 of the preset in these settings, or those set there by hand. Under Exact there are none to set."""
    dial = thresholds_of(store, str(chosen["dial"]))
    if dial.exact:
        return dial
    low, high = chosen["t1"], chosen["t2"]
    if low is None:
        low = dial.t1 if high is None else min(dial.t1, float(high))
    if high is None:
        high = max(dial.t2, float(low))
    return Thresholds(float(low), float(high))
