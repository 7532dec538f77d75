"""How much of a process's limit its expert cache may have, by what the rest of the process takes. It is pure.

Slack is memory that was planned for and is not taken: the cache grows into it, and gives it back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

HEADROOM, PART = 16_000_000, 64  # left below the limit: at most so many bytes, and one part in so many
SHARE = 64  # one part in so many of what the cache grows by is taken beside it (see budget.held_by)
WINDOW = 1.0  # seconds of which the most counts: a layer's own memory comes and goes within them
MARGIN = 32_000_000  # bytes left below the limit: a prompt leaves 18 MB more in the heap than there was (measured)
NEAR = MARGIN // 2  # bytes below it from where on some is given back; what lies between changes nothing
CALM = 5.0  # seconds that are looked at before it grows
MEMORY = 600.0  # seconds that a peak is held against it
SPAN = 60.0  # seconds of which only the highest peak is kept
FEWEST = 4  # experts that it grows by at the least


class UsageSample(NamedTuple):
    """taken: bytes of the process beside cache and rows, as if the cache were empty. rows: of the context, written by
    the end of the pass under way. when: seconds of a steady clock."""

    when: float
    taken: int
    rows: int


@dataclass(frozen=True, kw_only=True)
class OwnUse:
    """What this process takes beside the experts' cache.

    prompt: a prompt is being computed, `tokens` at once. looks: of the last WINDOW in this phase. decoding: taken at
    the last look while tokens were computed one by one; None: there was none. began: when the first look in this prompt
    was; steady: what every WINDOW of it took. rise: how much more than decoding the prompts before took, for so many
    tokens at once (`of`).
    """

    prompt: bool = False
    tokens: int = 1
    looks: tuple[UsageSample, ...] = ()
    decoding: int | None = None
    began: float | None = None
    steady: int | None = None
    rise: int = 0
    of: int = 1

    def most(self, rows: int) -> int | None:
        """Bytes to reckon with, the context's rows included; None where nothing was seen yet.

        In a prompt no less than prompts before it took, for what they take comes within a layer, between two looks. The
        rest of the process may take less by now than it did while tokens were decoded.
        """
        seen = [look.taken + min(look.rows, rows) for look in self.looks]
        if self.looks:
            seen.append(self.looks[-1].taken + rows)
        elif self.decoding is not None:
            seen.append(self.decoding + rows)
        if self.prompt and self.decoding is not None:
            least = min(self.decoding, *(look.taken for look in self.looks), self.decoding)
            seen.append(least + self.rise * min(self.tokens, self.of) // self.of + rows)
        return max(seen, default=None)


def turned(use: OwnUse, prompt: bool, tokens: int) -> OwnUse:
    """So many tokens are computed at once from now on. A prompt that ends leaves what it took more than decoding."""
    if prompt and use.prompt:
        return replace(use, tokens=max(use.tokens, tokens))
    if prompt == use.prompt:
        return replace(use, tokens=tokens)
    if prompt:
        return replace(use, prompt=True, tokens=tokens, looks=(), began=None, steady=None)
    taken = use.steady if use.steady is not None else max((look.taken for look in use.looks), default=None)
    rise, of = use.rise, use.of
    if taken is not None and use.decoding is not None:
        measured = max(0, taken - use.decoding)
        known = use.rise * min(use.tokens, use.of) // use.of
        if use.tokens >= use.of or measured > known:  # half of what is no longer seen is forgotten every time
            rise, of = max(measured, (measured + known) // 2), use.tokens
    return replace(use, prompt=False, tokens=tokens, looks=(), rise=rise, of=of)


def seen(use: OwnUse, own: int, held: int, written: int, rows: int, now: float) -> OwnUse:
    """One look. own: resident bytes of the process; held: of these, the cache's; written: of these, the context's rows;
    rows: see Look. now: seconds of a steady clock."""
    look = UsageSample(now, own - held - held // SHARE - written, rows)
    looks = (*(known for known in use.looks if now - known.when < WINDOW), look)
    if not use.prompt:
        return replace(use, looks=looks, decoding=look.taken)
    began = now if use.began is None else use.began
    steady = use.steady
    if now - began >= WINDOW:
        most = max(known.taken for known in looks)
        steady = most if steady is None else min(steady, most)
    return replace(use, looks=looks, began=began, steady=steady)


def allowed(use: OwnUse, before: int | None, wanted: int, rows: int, limit: int) -> int | None:
    """Most bytes of cache; None: as many as are `wanted`, for with these the process stays below its limit.

    before: what came out at the last look. rows: see Look. What changes by less than half of the headroom changes
    nothing.
    """
    taken = use.most(rows)
    if taken is None:
        return None
    # n bytes of cache take n + n / SHARE of the process (see `seen`), so what is left is divided by 1 + 1 / SHARE.
    left = (limit - taken) * SHARE // (SHARE + 1)
    if left >= wanted and before is None:
        return None
    headroom = min(HEADROOM, max(0, left) // PART)
    found = left - headroom
    if found >= wanted:
        return None
    if before is not None and abs(found - before) <= headroom // 2:
        return before
    return max(0, found)


@dataclass(frozen=True)
class Slack:
    """grown: bytes of cache beyond what was planned. peaks: (since when, most bytes taken beside the cache)."""

    grown: int = 0
    peaks: tuple[tuple[float, int], ...] = ()


def follow(before: Slack, beside: int, held: int, *, planned: int, limit: int, record: int, now: float) -> Slack:
    """What follows from one look. beside: bytes that this process takes now beside `held` bytes of cache, or will.

    planned: capacity without what has grown. limit: of the whole process. record: bytes of an expert. now: seconds
    of a steady clock. Grows by whole experts, after CALM, and as far as the highest peak of the last MEMORY seconds
    leaves room; comes down at once, and does not grow again as long as that peak is remembered.
    """
    peaks = _with(before.peaks, beside, now)
    coming = max(0, planned + before.grown - held)  # experts that there is room for already
    free = limit - max(peak for _, peak in peaks) - held - coming - coming // SHARE
    if free < NEAR:
        fewer = -(-(MARGIN - free) // record) * record
        return Slack(max(0, before.grown - fewer), peaks)
    room = (free - MARGIN) * SHARE // (SHARE + 1)
    more = room // record * record
    if more < FEWEST * record or now - peaks[0][0] < CALM:
        return Slack(before.grown, peaks)
    return Slack(before.grown + more, peaks)


def _with(peaks: tuple[tuple[float, int], ...], beside: int, now: float) -> tuple[tuple[float, int], ...]:
    kept = tuple(p for p in peaks if now - p[0] < MEMORY)
    if kept and now - kept[-1][0] < SPAN:
        # One entry per SPAN: ten minutes of looks, five a second, would be 3,000.
        return (*kept[:-1], (kept[-1][0], max(kept[-1][1], beside)))
    return (*kept, (now, beside))
