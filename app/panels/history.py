"""The last half minute of telemetry, as rates and shares from one snapshot to the next."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from engine import api

LENGTH = 150  # snapshots: half a minute at five a second
ORDER = ("32", "16", "8", "4", "2", "skipped")  # precision, the finest first


@dataclass(frozen=True)
class Sample:
    """One step in time. hit_rate and mix are None where no expert was used since the step before."""

    tokens_per_second: float
    disk_bytes_per_second: float
    hit_rate: float | None  # 0..1
    mix: dict[str, float] | None  # share of expert uses at each precision, sums to 1


class History:
    """Samples, the oldest first, and the last snapshot."""

    def __init__(self) -> None:
        self.samples: deque[Sample] = deque(maxlen=LENGTH)
        self.last: api.Telemetry | None = None

    def add(self, now: api.Telemetry) -> None:
        """Take a snapshot. Counters that fell (another model was loaded) begin anew."""
        before = self.last
        self.last = now
        if before is None or now.hits < before.hits or now.tokens < before.tokens:
            self.samples.clear()
            before = None
        hits = now.hits - (before.hits if before else 0)
        uses = hits + now.misses - (before.misses if before else 0)
        ran = {k: now.precision.get(k, 0) - (before.precision.get(k, 0) if before else 0) for k in ORDER}
        total = sum(ran.values())
        self.samples.append(
            Sample(
                now.tokens_per_second,
                now.disk_bytes_per_second,
                hits / uses if uses > 0 else None,
                {k: n / total for k, n in ran.items()} if total > 0 else None,
            )
        )

    def clear(self) -> None:
        """Forget all (another model)."""
        self.samples.clear()
        self.last = None

    def overall_hit_rate(self) -> float | None:
        """Hits among all uses since the model was loaded."""
        if self.last is None or self.last.hits + self.last.misses == 0:
            return None
        return self.last.hits / (self.last.hits + self.last.misses)
