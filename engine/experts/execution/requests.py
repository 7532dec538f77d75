"""What one layer call asks for: each of its experts once, with the tier that it should have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from torch import Tensor

from engine.experts.keys import ExpertKey
from engine.experts.precision import RequestedPrecision, Thresholds, requested_precisions
from engine.record.layout import ExpertSpec


class ExpertRequest(NamedTuple):
    """One expert of a layer call. tier: fetched at, if missing (0: then skipped); full: never run finer than that.

    slots: t * K + k for every token t that chose it. high: whether the dial asks for full precision.
    """

    key: ExpertKey
    spec: ExpertSpec
    tier: int
    full: int
    slots: Sequence[int]
    high: bool


class Call(NamedTuple):
    """One layer call. x: [T, H]. out: [T * k, H], a row per slot; added up in order, whichever came first."""

    x: Tensor
    k: int
    out: Tensor


def slots_by_expert(ids: Sequence[int]) -> dict[int, list[int]]:
    """Slots of each expert, from ids[t * K + k]; experts in the order in which they first appear."""
    slots: dict[int, list[int]] = {}
    for slot, expert in enumerate(ids):
        slots.setdefault(expert, []).append(slot)
    return slots


def requests_of(
    layer: int,
    slots: Mapping[int, Sequence[int]],
    weights: Tensor,
    specs: Sequence[ExpertSpec],
    tiers: Sequence[tuple[int, int, int]],
    thresholds: Thresholds,
) -> list[ExpertRequest]:
    """The experts asked for, and at which tier: of several tokens the highest requested precision wins.

    slots: by expert. weights: [T, K]. specs, tiers: of the layer, by expert; tiers by RequestedPrecision. Raises
    ValueError for an expert that does not exist.
    """
    _check(layer, slots, specs)
    # Many tokens visit many experts: then the order of the disk serves, else that of the router.
    order = sorted(slots) if weights.shape[0] > 1 else list(slots)
    asked = None if thresholds.exact else requested_precisions(weights, thresholds).ravel().tolist()
    requests = []
    for expert in order:
        chosen, by_precision = slots[expert], tiers[expert]
        wanted = RequestedPrecision.HIGH if asked is None else max(asked[slot] for slot in chosen)
        key, full = ExpertKey(layer, expert), by_precision[RequestedPrecision.HIGH]
        high = wanted == RequestedPrecision.HIGH
        requests.append(ExpertRequest(key, specs[expert], by_precision[wanted], full, chosen, high))
    return requests


def requests_as_if_missing(
    layer: int,
    slots: Mapping[int, Sequence[int]],
    weights: Tensor,
    specs: Sequence[ExpertSpec],
    tiers: Sequence[tuple[int, int, int]],
    thresholds: Thresholds,
) -> tuple[list[ExpertRequest], list[ExpertRequest], list[int]]:
    """Every slot at the tier that it would get were its expert missing and it the only token: high, low, and skipped.

    What single tokens cost with nothing in memory, for many at once. Arguments as for requests_of.
    """
    _check(layer, slots, specs)
    asked = requested_precisions(weights, thresholds).ravel().tolist()
    found: dict[int, list[ExpertRequest]] = {RequestedPrecision.HIGH: [], RequestedPrecision.LOW: []}
    skipped = []
    for expert in sorted(slots):
        for wanted, requests in found.items():
            chosen = [slot for slot in slots[expert] if asked[slot] == wanted]
            tier, high = tiers[expert][wanted], wanted == RequestedPrecision.HIGH
            if chosen:
                requests.append(ExpertRequest(ExpertKey(layer, expert), specs[expert], tier, tier, chosen, high))
        skipped += [slot for slot in slots[expert] if asked[slot] == RequestedPrecision.SKIP]
    return found[RequestedPrecision.HIGH], found[RequestedPrecision.LOW], skipped


def _check(layer: int, slots: Mapping[int, Sequence[int]], specs: Sequence[ExpertSpec]) -> None:
    unknown = [expert for expert in slots if not 0 <= expert < len(specs)]
    if unknown:
        raise ValueError(f"layer {layer} has no expert {unknown[0]}; it has {len(specs)}")
