"""What a full probe has measured, and the same as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from typing import Any

from engine import translatable
from engine.hardware.machine import DiskPoint
from engine.translatable import NO_TEXT, Translatable

# Where a rate is that much below what it was, or above, something else has begun to use it, or has ended: short looks
# at a disk and at memory that nobody else used lay between a sixth below and a fifth above what the next seconds gave.
SLOWER, FASTER = 1.4, 2.0


def settled(then: float, now: float) -> float:
    """The rate to expect after a short look, where it was another for longer before: the middle of both, for each of
    them swings; but what it is now where that is far beside.
    """
    return now if changed(then, now) else math.sqrt(then * now)


def changed(then: float, now: float) -> bool:
    """Whether two rates of the same thing are so far from each other that no swing explains it."""
    return not then / SLOWER <= now <= then * FASTER


@dataclass(frozen=True)
class Rates:
    """See Machine for most. threads: that computed fastest. seconds: that measuring took. cards: by name, bytes per
    second to a graphics card from pinned memory, and of its own memory; 0: not measured. when: seconds since 1970.
    unread: why the disk could not be measured, in a sentence or two; then there are no disk_points. busy: share of the
    processor that other programs took meanwhile, where that was enough to be seen; 0: none did."""

    memory_rate: float
    threads: int
    disk_points: tuple[DiskPoint, ...]
    kernel_shares: Mapping[int, float] = field(default_factory=dict)
    products: Mapping[int, float] = field(default_factory=dict)
    cards: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    _: KW_ONLY
    seconds: float = 0.0
    when: float = 0.0
    unread: Translatable = NO_TEXT
    busy: float = 0.0

    def shares_at(self, memory_rate: float) -> dict[int, float]:
        """Kernel shares where memory gives so many bytes a second now.

        What a kernel adds to the time in which a byte comes is its own: half of it at twice the rate would be wrong.
        """
        # share = 1 / (1 + rate * added), see compute_speed: rate * added is 1 / share - 1, and grows with the rate.
        faster = memory_rate / self.memory_rate
        return {tier: 1 / (1 + faster * max(0.0, 1 / share - 1)) for tier, share in self.kernel_shares.items()}

    def at(self, memory_rate: float) -> Rates:
        """The same where memory gives so many bytes a second."""
        return replace(self, memory_rate=memory_rate, kernel_shares=self.shares_at(memory_rate))

    def as_json(self) -> dict[str, Any]:
        """For `from_json`."""
        return {**asdict(self), "unread": translatable.as_json(self.unread)}


def from_json(found: Mapping[str, Any]) -> Rates:
    """Raises KeyError, TypeError or ValueError for what is no Rates or makes no sense."""
    points = tuple(
        DiskPoint(int(p["nbytes"]), int(p["depth"]), bool(p["direct"]), _positive(p["rate"]))
        for p in found["disk_points"]
    )
    unread = translatable.from_json(found.get("unread", ""))
    if not (points or unread) or any(point.nbytes < 1 or point.depth < 1 for point in points):
        raise ValueError("no points of the disk")
    return Rates(
        memory_rate=_positive(found["memory_rate"]),
        threads=int(_positive(found["threads"])),
        disk_points=points,
        kernel_shares={int(tier): _positive(share) for tier, share in found["kernel_shares"].items()},
        products={int(tokens): _positive(rate) for tokens, rate in found["products"].items()},
        cards={str(name): (_finite(link), _finite(own)) for name, (link, *_, own) in found["cards"].items()},
        seconds=_finite(found["seconds"]),
        when=_finite(found["when"]),
        unread=unread,
        busy=_finite(found.get("busy", 0.0)),
    )


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number) or number < 0:
        raise ValueError(f"{value!r} is no rate")
    return number


def _positive(value: Any) -> float:
    if (number := _finite(value)) == 0:
        raise ValueError("a rate of 0")
    return number
