"""What the memory of this program is taken for: parts that add up to it, now, and as a plan has it."""

from __future__ import annotations

from engine.generation.messages import MemoryUse
from engine.planning.facts import ModelFacts
from engine.planning.plan import Plan


def memory_planned(plan: Plan, facts: ModelFacts, in_use: int) -> MemoryUse:
    """As a plan has it: every part as large as it may get. in_use: bytes of the program before it opens a model."""
    dense, context = facts.dense_bytes[plan.dense], plan.context * facts.per_token(plan.dense) + facts.state_bytes
    return divided(
        plan.ceiling - plan.spare,
        plan.ceiling,
        base=in_use,
        dense=dense,
        context=context,
        cached=plan.cache_bytes,
        capacity=plan.cache_bytes,
        due=0,
    )


def divided(
    taken: int,
    ceiling: int,
    *,
    base: int,
    dense: int,
    context: int,
    cached: int,
    capacity: int,
    due: int,
    device: tuple[int, int] = (0, 0),
) -> MemoryUse:
    """`taken` in its parts, and what is left below the ceiling in its own. due: bytes that context and computing may
    take together. Where parts that are known are more than is taken, some of the last are not written to yet."""
    left, known = taken, []
    for part in (dense, context, cached, base):
        known.append(min(part, left))
        left -= known[-1]
    free = max(0, ceiling - taken)
    room = min(max(0, capacity - known[2]), free)
    aside = min(max(0, due - known[1] - left), free - room)
    return MemoryUse(
        ceiling=ceiling,
        taken=taken,
        program=known[3],
        dense=known[0],
        context=known[1],
        buffers=left,
        cached=known[2],
        room=room,
        aside=aside,
        spare=free - room - aside,
        device=device[0],
        device_cached=device[1],
    )
