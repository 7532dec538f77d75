"""The weights of the cache policy that were fitted to a model's own routing, kept beside its store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.experts.policies import DEFAULT, HobbitWeights, HobbitWeightsByShare
from engine.experts.precision import Thresholds
from engine.filesystem import replace_file
from engine.regular_file import read_json
from engine.store.fields import DAMAGED
from engine.store.manifest import fingerprint
from engine.translatable import msg

FILE = "policy.json"
VERSION = 2  # of policy.json: another one is fitted anew


@dataclass(frozen=True)
class Fitted:
    """What was found for one dial, whose thresholds and bits of coarse experts were these then; low: None where no
    expert runs coarse, or the file does not say.
    """

    thresholds: Thresholds
    weights: HobbitWeightsByShare
    low: int | None = None

    def serves(self, thresholds: Thresholds, low: int | None) -> bool:
        """Whether it was found for these thresholds and this many bits of coarse experts."""
        return self.thresholds == thresholds and self.low == low


def read(store: Path) -> dict[str, Fitted]:
    """By dial; nothing where the file is missing, damaged or of another model: then it is fitted again."""
    try:
        found = read_json(store / FILE)
        if found["version"] != VERSION or found["fingerprint"] != fingerprint(store):
            return {}
        return {str(dial): _fitted(one) for dial, one in found["hobbit"].items()}
    except (*DAMAGED, UnderhillError):
        return {}


def _fitted(found: dict[str, Any]) -> Fitted:
    rows = tuple((float(share), HobbitWeights(*(float(w) for w in weights))) for share, weights in found["weights"])
    if not rows:
        raise ValueError("no weights")
    return Fitted(Thresholds(float(found["t1"]), float(found["t2"])), HobbitWeightsByShare(rows), found.get("low"))


def weights_of(store: Path, dial: str) -> HobbitWeightsByShare:
    """The weights fitted for this model and dial; the default ones until then, or where the file was damaged."""
    found = read(store).get(dial)
    return DEFAULT if found is None else found.weights


def in_force(store: Path, chosen: Mapping[str, Any]) -> HobbitWeightsByShare:
    """Those given by hand in the settings, which serve caches of any size; otherwise the fitted ones."""
    by_hand = chosen["policy_weights"]
    if by_hand is None:
        return weights_of(store, str(chosen["dial"]))
    return HobbitWeightsByShare(((1.0, HobbitWeights(*by_hand)),))


def keep(store: Path, found: Mapping[str, Fitted]) -> None:
    """Write them, by dial, for `read` to find. Raises UnderhillError(DISK_ERROR)."""
    path = store / FILE
    rows = {
        dial: {
            "t1": one.thresholds.t1,
            "t2": one.thresholds.t2,
            "low": one.low,
            "weights": [(share, [round(w, 6) for w in astuple(weights)]) for share, weights in one.weights.pairs],
        }
        for dial, one in found.items()
    }
    body = {"version": VERSION, "fingerprint": fingerprint(store), "hobbit": rows}
    try:
        replace_file(path, json.dumps(body).encode())
    except OSError as e:
        raise UnderhillError(
            Kind.DISK_ERROR,
            msg("Can't save eviction weights in {parent}.", parent=path.parent),
            msg("Check that the folder is writable."),
        ) from e
