"""The weights of the cache policy that were fitted to a model's own routing, kept beside its store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.experts.policies import DEFAULT, Weights, WeightsByShare
from engine.store.atomic import replace_file
from engine.store.fields import DAMAGED

FILE = "policy.json"


def weights_of(store: Path, dial: str) -> WeightsByShare:
    """The weights fitted for this model and dial; those of the house until then, or where the file was damaged."""
    try:
        rows = json.loads((store / FILE).read_text(encoding="utf-8"))["hobbit"][dial]
        pairs = tuple((float(share), Weights(*(float(w) for w in weights))) for share, weights in rows)
    except (*DAMAGED, UnderhillError):
        return DEFAULT
    return WeightsByShare(pairs) if pairs else DEFAULT


def in_force(store: Path, chosen: Mapping[str, Any]) -> WeightsByShare:
    """Those given by hand in the settings, which serve caches of any size; otherwise the fitted ones."""
    by_hand = chosen["policy_weights"]
    if by_hand is None:
        return weights_of(store, str(chosen["dial"]))
    return WeightsByShare(((1.0, Weights(*by_hand)),))


def keep(store: Path, found: Mapping[str, WeightsByShare]) -> None:
    """Write them, by dial, for `weights_of` to find. Raises UnderhillError(DISK_ERROR)."""
    path = store / FILE
    rows = {
        dial: [(share, [round(w, 6) for w in astuple(weights)]) for share, weights in one.pairs]
        for dial, one in found.items()
    }
    try:
        replace_file(path, json.dumps({"hobbit": rows}).encode())
    except OSError as e:
        raise UnderhillError(
            Kind.DISK_ERROR,
            f"The cache policy's weights cannot be kept in {path.parent}.",
            "Check that the folder can be written.",
        ) from e
