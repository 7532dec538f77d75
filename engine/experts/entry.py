"""What a cache holds of one expert, the right to use it, and room for more of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.experts.buffers import Buffer
from engine.experts.keys import ExpertKey
from engine.kernels.call import Parts
from engine.store.layout import ExpertSpec


@dataclass(eq=False, slots=True)
class Entry:
    """A resident (or arriving) expert. held: parts by index. tier: the finest whose parts are all there; 0: none.

    meant: the tier that it was last fetched at. surplus: whether more may be held than that needs. pins: leases and
    reservations that keep it from being evicted.
    """

    key: ExpertKey
    spec: ExpertSpec
    held: dict[int, Buffer] = field(default_factory=dict)
    tier: int = 0
    meant: int = 0
    surplus: bool = False
    pins: int = 0
    arriving: bool = False
    _by_tier: dict[int, Parts] = field(default_factory=dict)

    def best(self, most: int | None) -> int:
        """The finest tier held that is no finer than `most`; 0: none."""
        if most is None or self.tier <= most:
            return self.tier
        return self.spec.layout.tier_of(self.held, most)

    def parts(self, tier: int) -> Parts:
        """What a kernel needs to run it at `tier`. Raises ValueError when that is not all there."""
        if tier not in self._by_tier:
            tensors = {index: buffer.tensor for index, buffer in self.held.items()}
            self._by_tier[tier] = Parts(self.spec, tensors, tier)
        return self._by_tier[tier]

    def add(self, parts: Sequence[int], buffers: Sequence[Buffer], tier: int) -> None:
        """These are there now, which it lacked for `tier`."""
        layout, held, self.meant = self.spec.layout, self.held, tier
        alone = not held
        held.update(zip(parts, buffers))
        self.tier = tier if alone else layout.tier_of(held)
        self.surplus = not alone and len(held) > len(layout.parts_for(tier))

    def clear(self) -> list[Buffer]:
        """Give up everything; nobody must run it any more."""
        self._by_tier.clear()  # nothing may keep alive what the budget does not count
        taken = [self.held[index] for index in sorted(self.held)]
        self.held.clear()
        self.tier = 0
        return taken

    def take(self, parts: Collection[int]) -> list[Buffer]:
        """Give these up; whoever runs one of them must not any more."""
        self._by_tier.clear()
        taken = [self.held.pop(index) for index in parts]
        self.tier = self.spec.layout.tier_of(self.held)
        return taken


class Lease:
    """The right to use a resident expert until released, exactly once.

    tier: what it runs at, the finest that was held when it was given and that was not too fine. level: of the cache
    that holds it (see TieredCache).
    """

    __slots__ = ("_entry", "_release", "key", "level", "tier")

    def __init__(self, entry: Entry, tier: int, level: int, release: Callable[[Entry], None]) -> None:
        self.key = entry.key
        self.tier = tier
        self.level = level
        self._release = release
        self._entry: Entry | None = entry

    @property
    def parts(self) -> Parts:
        """The expert at `tier`. Raises RuntimeError after release."""
        return self._there.parts(self.tier)

    @property
    def held(self) -> Mapping[int, Buffer]:
        """All that is held of it, by part. Raises RuntimeError after release."""
        return self._there.held

    def release(self) -> None:
        """Give it back. Raises RuntimeError the second time."""
        entry, self._entry = self._entry, None
        if entry is None:
            raise RuntimeError(f"the lease of {self.key} was released twice")
        self._release(entry)

    @property
    def _there(self) -> Entry:
        if self._entry is None:
            raise RuntimeError(f"the lease of {self.key} was released")
        return self._entry


class Reservation(NamedTuple):
    """Room for the parts that an expert lacks, to be filled and then committed or abandoned.

    parts: their indices, ascending, one for each of `buffers`. What is resident stays usable meanwhile.
    """

    key: ExpertKey
    entry: Entry
    tier: int
    parts: tuple[int, ...]
    buffers: tuple[Buffer, ...]

    @property
    def nbytes(self) -> int:
        """Bytes to be read."""
        return sum([b.nbytes for b in self.buffers])
