"""How fast a plan should be: bytes over rates, and what each layer costs beside them."""

from __future__ import annotations

from engine.hardware.facts import ModelFacts
from engine.hardware.machine import Machine

# Of an expert's weight, decoded and multiplied by torch, whatever its bits: 2.3 to 6 ns (measured, two cores).
TORCH_WEIGHT = 5e-9
PARAMETER_BITS = 0.5  # of a quantized weight beside those of its tier: scales and offsets of groups of 64


def expected_speed(
    machine: Machine, model: ModelFacts, tier: int, dense: str, cache: int
) -> tuple[tuple[float, float], str]:
    """Tokens per second if a token costs its bytes (all active ones from memory, the missed ones from disk too), what
    whoever computes takes for a layer, and the decoding of experts where torch does that; and what limits it.

    The slow end takes uniform routing, where a cache of a share s misses 1 - s. The fast end takes half those misses.
    """
    active = model.experts_per_token * model.moe_layers * model.record_bytes[tier]
    others = model.dense_bytes[dense] - model.looked_up_bytes.get(dense, 0)
    from_memory = (active + others) / machine.memory_rate + model.layer_seconds * model.moe_layers
    if not model.native and tier < 16:
        from_memory += TORCH_WEIGHT * active * 8 / (tier + PARAMETER_BITS)
    share = min(1.0, cache / model.expert_bytes[tier])
    missed = active * (1 - share) / machine.disk_rate
    slow, fast = 1 / (from_memory + missed), 1 / (from_memory + missed / 2)
    return (slow, fast), "disk" if missed > from_memory else "memory"


def speed_sentence(speed: tuple[float, float], limit: str, *, all_in_memory: bool) -> str:
    """The same in words."""
    what = "reading experts from disk" if limit == "disk" else "computing from memory"
    low, high = (f"{s:.0f}" if s >= 10 else f"{s:.1f}" for s in speed)
    figure = f"up to {high}" if all_in_memory else f"about {low} to {high}"
    return f"Expect {figure} tokens a second; {what} sets the pace."
