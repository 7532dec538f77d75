"""How many of a token's experts each precision dial lets run in full, coarse, and not at all."""

from __future__ import annotations

# Of the experts of a token beyond its first, which is always full: the full and the coarse share; the rest is skipped.
# What 1.4 and 2 times the pace of Exact ask for where the disk is the bottleneck (docs/offloading.md).
BEYOND_FIRST = {"exact": (1.0, 0.0), "balanced": (0.15, 0.62), "fast": (0.0, 0.5)}
HOBBIT = (0.67, 0.30)  # of all experts: what T1 = 0.6 and T2 = 0.9 give on Mixtral (hobbit, section 3.2)


def dial_shares(dial: str, k: int) -> tuple[float, float]:
    """Of all uses of experts, should each be missing: the full and the coarse share. k: experts per token."""
    first = 1 / k
    if dial == "hobbit":
        full, coarse = max(HOBBIT[0], first), HOBBIT[1]
        return full, min(coarse, 1 - full)
    full, coarse = BEYOND_FIRST[dial]
    return first + (1 - first) * full, (1 - first) * coarse
