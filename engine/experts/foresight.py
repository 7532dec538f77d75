"""What reading ahead did, in plain counters."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Foresight:
    """What reading ahead did since it was turned on. said, right: experts expected at width k, and of these chosen, by
    layers ahead less one; first_said, first_right: the same of the first layer, before it has run. Bytes:
    useful (asked for; early: those of them that were there or in hand by then), wasted
    (read, and not asked for by the layer they were read for).

    started, used, joined, cancelled: reads begun ahead, those asked for, of these those under way, those given up.
    failed: reads that ended in an error while nobody waited for them. seconds: of the model's thread. rests: how often
    it was let rest because it did not pay.
    """

    said: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    useful: int = 0
    early: int = 0
    wasted: int = 0
    started: int = 0
    used: int = 0
    joined: int = 0
    cancelled: int = 0
    failed: int = 0
    seconds: float = 0.0
    rests: int = 0
    first_said: int = 0
    first_right: int = 0

    @property
    def recall(self) -> tuple[float, ...]:
        """Share of the chosen experts that were among the k expected most, by layers ahead."""
        return tuple(right / said if said else 0.0 for said, right in zip(self.said, self.right))

    @property
    def first_recall(self) -> float:
        """As `recall`, of the first layer, before it has run."""
        return self.first_right / self.first_said if self.first_said else 0.0
