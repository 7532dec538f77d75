"""How far an expert cache may grow into memory that was planned for and is not taken. The decision is pure."""

from __future__ import annotations

from dataclasses import dataclass

MARGIN = 32_000_000  # bytes left below the ceiling: a prompt leaves 18 MB more in the heap than there was (measured)
NEAR = MARGIN // 2  # bytes below it from where on some is given back; what lies between changes nothing
CALM = 5.0  # seconds that are looked at before it grows
MEMORY = 600.0  # seconds that a peak is held against it
SPAN = 60.0  # seconds of which only the highest peak is kept
FEWEST = 4  # experts that it grows by at the least
OWN_PART = 64  # one part in so many of what comes is taken beside the experts' own bytes (see budget.held_by)


@dataclass(frozen=True)
class Slack:
    """grown: bytes of cache beyond what was planned. peaks: (since when, most bytes taken beside the cache)."""

    grown: int = 0
    peaks: tuple[tuple[float, int], ...] = ()


def follow(before: Slack, beside: int, held: int, planned: int, ceiling: int, record: int, now: float) -> Slack:
    """What follows from one look. beside: bytes that this process takes now beside `held` bytes of cache, or will.

    planned: capacity without what has grown. ceiling: of the whole process. record: bytes of an expert. now: seconds
    of a steady clock. Grows by whole experts, after CALM, and as far as the highest peak of the last MEMORY seconds
    leaves room; comes down at once, and does not grow again as long as that peak is remembered.
    """
    peaks = _with(before.peaks, beside, now)
    coming = max(0, planned + before.grown - held)  # experts that there is room for already
    free = ceiling - max(peak for _, peak in peaks) - held - coming - coming // OWN_PART
    if free < NEAR:
        fewer = -(-(MARGIN - free) // record) * record
        return Slack(max(0, before.grown - fewer), peaks)
    room = (free - MARGIN) * OWN_PART // (OWN_PART + 1)
    more = room // record * record
    if more < FEWEST * record or now - peaks[0][0] < CALM:
        return Slack(before.grown, peaks)
    return Slack(before.grown + more, peaks)


def _with(peaks: tuple[tuple[float, int], ...], beside: int, now: float) -> tuple[tuple[float, int], ...]:
    kept = tuple(p for p in peaks if now - p[0] < MEMORY)
    if kept and now - kept[-1][0] < SPAN:
        return (*kept[:-1], (kept[-1][0], max(kept[-1][1], beside)))
    return (*kept, (now, beside))
