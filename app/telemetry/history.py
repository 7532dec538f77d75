"""Keeps half a minute of telemetry, as rates and counts from one snapshot to the next."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from engine import protocol
from engine.translatable import NO_TEXT

STEP = 0.2  # seconds: the engine sends at most five snapshots a second
STEPS = 150  # steps: half a minute
PRECISION = ("32", "16", "8", "4", "2", "skipped")  # the finest first

Counts = Mapping[str, int]
# what the first snapshot is compared with: all counters stand at 0
_NOTHING = protocol.Telemetry(
    id="",
    activations=(),
    residency=(),
    layer_names=(),
    hits=0,
    misses=0,
    bytes_read=0,
    precision={},
    tokens=0,
    tokens_per_second=0.0,
    disk_bytes_per_second=0.0,
    cache_bytes=0,
    cache_capacity=0,
    rss=0,
    generating=False,
    why=NO_TEXT,
)


@dataclass(frozen=True)
class TelemetrySample:
    """One step in time. fates: experts asked for that were kept in memory, that had been read ahead, that were on their
    way but came late, and that had to be fetched. ran: uses by precision.
    """

    tokens_per_second: float
    prompt_tokens_per_second: float
    disk_bytes_per_second: float
    waiting: float  # 0..1
    fates: Counts
    ran: Counts

    @cached_property
    def fate_shares(self) -> dict[str, float] | None:
        """The fates as parts of all; None where no expert was asked for."""
        return shares(self.fates)

    @cached_property
    def ran_shares(self) -> dict[str, float] | None:
        """Uses by precision as parts of all; None where none was used."""
        return shares(self.ran)


class TelemetryHistory:
    """Samples of the last half minute, the oldest first, and the last snapshot."""

    def __init__(self) -> None:
        self.samples: deque[TelemetrySample] = deque(maxlen=STEPS)
        self.last: protocol.Telemetry | None = None
        self.maps: protocol.Telemetry | None = None  # the last with matrices: not every one has, during an answer

    def add(self, now: protocol.Telemetry, steps: int = 1) -> None:
        """Take a snapshot of so many steps. Counters that fell (another model was loaded) start from 0."""
        before = self.last
        self.last = now
        if now.activations:
            self.maps = now
        if before is None or now.hits < before.hits or now.tokens < before.tokens:
            self.samples.clear()
            before = None
        then = before or _NOTHING
        ahead, late = _more(now.foreseen, then.foreseen), _more(now.foreseen_late, then.foreseen_late)
        hits, misses = now.hits - then.hits, _more(now.misses, then.misses)
        ahead, late = min(ahead, hits), min(late, misses)
        fates = {"kept": hits - ahead, "ahead": ahead, "late": late, "missed": misses - late}
        ran = {k: _more(now.precision.get(k, 0), then.precision.get(k, 0)) for k in PRECISION}
        known = now.generating or now.tokens == then.tokens or then.tokens_per_second
        ended = 0.0 if known else now.answer_tokens_per_second
        sample = TelemetrySample(
            now.tokens_per_second or ended,  # an answer may begin and end between two snapshots
            now.prompt_tokens_per_second if now.generating and not now.tokens_per_second else 0.0,
            now.disk_bytes_per_second,
            now.waiting,
            fates,
            ran,
        )
        self.samples.append(sample)
        self.samples.extend([replace(sample, fates={}, ran={})] * (steps - 1))  # what was asked for is counted once

    def clear(self) -> None:
        """Forget all (another model)."""
        self.samples.clear()
        self.last = self.maps = None


def shares(counts: Counts) -> dict[str, float] | None:
    """Each as a part of all; None where there is nothing."""
    total = sum(counts.values())
    return {k: n / total for k, n in counts.items()} if total > 0 else None


def _more(now: int, before: int) -> int:
    """What a counter grew by; one that fell started from 0."""
    return now - before if now >= before else now
