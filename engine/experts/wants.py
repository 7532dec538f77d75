"""What one layer call asks for: each of its experts once, with the tier that it should have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from torch import Tensor

from engine.experts.keys import ExpertKey
from engine.experts.precision import Demand, Thresholds, demands
from engine.store.layout import ExpertSpec


class Want(NamedTuple):
    """One expert of a layer call. tier: fetched at, if missing (0: then skipped); full: never run finer than that.

    slots: t * K + k for every token t that chose it. high: whether the dial asks for full precision.
    """

    key: ExpertKey
    spec: ExpertSpec
    tier: int
    full: int
    slots: Sequence[int]
    high: bool


def wants_of(
    layer: int,
    slots: Mapping[int, Sequence[int]],
    weights: Tensor,
    specs: Sequence[ExpertSpec],
    tiers: Sequence[tuple[int, int, int]],
    thresholds: Thresholds,
) -> list[Want]:
    """Who is asked for, and at which tier: of several tokens the strongest demand wins.

    slots: by expert. weights: [T, K]. specs, tiers: of the layer, by expert; tiers by Demand. Raises ValueError for an
    expert that does not exist.
    """
    _check(layer, slots, specs)
    # Many tokens visit many experts: then the order of the disk serves, else that of the router.
    order = sorted(slots) if weights.shape[0] > 1 else list(slots)
    asked = None if thresholds.exact else demands(weights, thresholds).flatten().tolist()
    wants = []
    for expert in order:
        chosen, by_demand = slots[expert], tiers[expert]
        demand = Demand.HIGH if asked is None else max(asked[slot] for slot in chosen)
        key, full = ExpertKey(layer, expert), by_demand[Demand.HIGH]
        wants.append(Want(key, specs[expert], by_demand[demand], full, chosen, demand == Demand.HIGH))
    return wants


def wants_as_missing(
    layer: int,
    slots: Mapping[int, Sequence[int]],
    weights: Tensor,
    specs: Sequence[ExpertSpec],
    tiers: Sequence[tuple[int, int, int]],
    thresholds: Thresholds,
) -> tuple[list[Want], list[Want], list[int]]:
    """Every slot at the tier that it would get were its expert missing and it the only token: high, low, and skipped.

    What single tokens cost with nothing in memory, for many at once. Arguments as for wants_of.
    """
    _check(layer, slots, specs)
    asked = demands(weights, thresholds).flatten().tolist()
    by_demand: dict[int, list[Want]] = {Demand.HIGH: [], Demand.LOW: []}
    skipped = []
    for expert in sorted(slots):
        for demand, wants in by_demand.items():
            chosen = [slot for slot in slots[expert] if asked[slot] == demand]
            tier = tiers[expert][demand]
            if chosen:
                wants.append(Want(ExpertKey(layer, expert), specs[expert], tier, tier, chosen, demand == Demand.HIGH))
        skipped += [slot for slot in slots[expert] if asked[slot] == Demand.SKIP]
    return by_demand[Demand.HIGH], by_demand[Demand.LOW], skipped


def _check(layer: int, slots: Mapping[int, Sequence[int]], specs: Sequence[ExpertSpec]) -> None:
    unknown = [expert for expert in slots if not 0 <= expert < len(specs)]
    if unknown:
        raise ValueError(f"layer {layer} has no expert {unknown[0]}; it has {len(specs)}")
