"""What every memory for experts does, whoever keeps its table."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Protocol

from engine.experts.entry import Entry, Lease
from engine.experts.keys import ExpertKey
from engine.experts.policies import Visit, Weights


class Level(Protocol):
    """Experts in the memory of one device: mixed precisions in one byte budget, leases, and a policy that picks who
    leaves. Thread-safe. Two kinds: ExpertCache and NativeCache.

    least: bytes of the largest expert, below which no capacity is accepted. level: 0 is the fastest memory. lock: while
    it is held no expert comes or goes.
    """

    least: int
    level: int
    lock: threading.RLock

    @property
    def capacity(self) -> int:
        """Most bytes held."""

    @property
    def refusals(self) -> int:
        """How often the system gave no memory. Where others could leave instead, `capacity` came down to what was held;
        it stays there until it is set again."""

    @property
    def nbytes(self) -> int:
        """Bytes held now, buffers waiting for reuse included."""

    @property
    def free(self) -> int:
        """Bytes that can be had without letting anybody go."""

    def lacking(self, key: ExpertKey, tier: int) -> int:
        """Bytes that an expert lacks to be held at this tier; 0 too while it is arriving."""

    def tier(self, key: ExpertKey, most: int | None = None) -> int:
        """The finest tier held of an expert, no finer than `most`; 0: not resident."""

    def residency(self) -> dict[ExpertKey, int]:
        """Every resident expert and its finest tier. Waits for nobody."""

    def entry(self, key: ExpertKey) -> Entry | None:
        """What is held of an expert, to be used under the lock only."""

    def routed(self, visit: Visit) -> None:
        """The layer that runs now, and what it uses: see Policy.routed."""

    def begin_sequence(self) -> None:
        """A new sequence begins."""

    def put_aside(self) -> object:
        """The policy's records of the sequence, which goes on when what runs beside it is over: see Policy."""

    def bring_back(self, records: object) -> None:
        """What `put_aside` gave: see Policy."""

    def protect(self, keys: Iterable[ExpertKey]) -> None:
        """These are expected to be used soon and leave last, until the next call: see Policy.protect."""

    def reweigh(self, weights: Weights) -> None:
        """Other weights for the policy, where it is the one that has some."""

    def lookup(self, key: ExpertKey, tier: int, most: int | None = None) -> Lease | None:
        """A lease if the expert is held at `tier` or finer, but no finer than `most`: of these the finest.

        None is a miss. Tier 0 takes whatever is there. An expert raised to 4 bits is no expert of 2 bits any more, nor
        one of 8 bits one of 4: codes alone cannot be decoded.
        """

    def make_free(self, nbytes: int) -> None:
        """Let experts go until so much can be had at once, or until the rest is in use."""

    def drop(self, key: ExpertKey) -> None:
        """Let an expert go, if it is there and nobody uses it."""

    def set_capacity(self, capacity: int, least: int | None = None) -> None:
        """Change the ceiling at once. What is leased stays until released, and nothing new comes in before that.

        least: bytes of the largest expert, where that changes too. Raises UnderhillError(BAD_REQUEST) when not even
        one expert would fit; nothing is changed then.
        """

    def lend(self, capacity: int) -> None:
        """Change the ceiling at once, for a while: whose memory came last leaves first, whatever the policy says.

        What was cut last lies together, so that whole huge pages go back to the system. Where one goes here and one
        there, their neighbours are left small pages, which the disk reads into at half the rate (docs/offloading.md).
        """
