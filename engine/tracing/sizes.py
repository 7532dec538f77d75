"""What an expert weighs at the two precisions between which a dial chooses."""

from __future__ import annotations

from dataclasses import dataclass

from engine.experts.precision import tiers_of
from engine.store.layout import ExpertSpec

UNKNOWN_SPEC = ExpertSpec(2048, 1024, 4)  # of traces that do not say: some expert of 4 bits; only ratios matter


@dataclass(frozen=True)
class Sizes:
    """Bytes of one expert. coarse, full: read and kept at either. rest: read to raise a coarse one to full."""

    coarse: int
    full: int
    rest: int


def sizes_of(spec: ExpertSpec | None, tier: int | None, low: int | None = None) -> Sizes:
    """Of an expert of this shape. tier: bits of full precision (None: the finest stored); low: of a coarse one (None:
    the coarsest stored).
    """
    spec = spec or UNKNOWN_SPEC
    _, coarse, full = tiers_of(spec, tier, low)
    layout = spec.layout
    return Sizes(layout.bytes_for(coarse), layout.bytes_for(full), layout.bytes_for(full, layout.parts_for(coarse)))
