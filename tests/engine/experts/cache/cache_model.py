"""A plain model of the expert cache, to compare the native one with: what is held of each expert, in how many bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.experts.cache.expert_cache import NO_EXPERT
from engine.experts.keys import ExpertKey
from engine.experts.policies import ExpertGrid, Policy
from engine.record.layout import ExpertSpec

IDLE = 50  # one part in so many of the capacity may lie idle in lengths that are not asked for (room.c)


@dataclass(eq=False)
class Block:
    """Memory as it came from the system. number: the later it came, the higher."""

    number: int
    nbytes: int


@dataclass(eq=False)
class Piece:
    """Some bytes of a block."""

    block: Block
    start: int
    nbytes: int


class Arena:
    """Pieces whose total, the free ones included, stays within `capacity` bytes: room.c in plain Python."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.in_use, self.total = capacity, 0, 0
        self._free: list[Piece] = []  # in the order in which they came to be so
        self._blocks = 0

    def take(self, sizes: Sequence[int], *, anew: bool = False) -> list[Piece] | None:
        """Pieces of exactly these lengths; None without room for all. anew: no expert can leave for them any more."""
        if self.in_use + sum(sizes) > self.capacity:
            return None
        taken: list[Piece] = []
        for nbytes in sizes:
            piece = self._one(nbytes, anew)
            if piece is None:
                self.give(taken)
                return None
            self.in_use += nbytes
            taken.append(piece)
        return taken

    def give(self, pieces: Sequence[Piece]) -> None:
        for piece in pieces:
            self.in_use -= piece.nbytes
            for other in [one for one in self._free if one.block is piece.block]:  # as one with its neighbours
                if other.start + other.nbytes == piece.start or piece.start + piece.nbytes == other.start:
                    self._free.remove(other)
                    start = min(piece.start, other.start)
                    piece = Piece(piece.block, start, piece.nbytes + other.nbytes)
            self._free.append(piece)
        self.shrink(self.capacity)

    def shrink(self, most: int) -> None:
        """Whole free blocks go back to the system, the longest first, until the total is at most that."""
        for piece in sorted(self._free, key=lambda piece: -piece.nbytes):
            if self.total > most and piece.nbytes == piece.block.nbytes:
                self._free.remove(piece)
                self.total -= piece.nbytes

    def _one(self, nbytes: int, anew: bool) -> Piece | None:
        for piece in self._free:
            if piece.nbytes == nbytes:
                self._free.remove(piece)
                return piece
        if self.total + nbytes > self.capacity:
            if not anew and self.total - self.in_use <= self.capacity // IDLE:
                return None
            longer = [piece for piece in self._free if piece.nbytes > nbytes]
            if longer:
                cut = min(longer, key=lambda piece: piece.nbytes)  # the first of the shortest
                self._free.remove(cut)
                self._free.append(Piece(cut.block, cut.start + nbytes, cut.nbytes - nbytes))
                return Piece(cut.block, cut.start, nbytes)
            self.shrink(self.capacity - nbytes)
            if self.total + nbytes > self.capacity:
                return None
        self.total += nbytes
        self._blocks += 1
        return Piece(Block(self._blocks, nbytes), 0, nbytes)


@dataclass(eq=False)
class Entry:
    """An expert. held, coming: parts by index. meant: the tier it was last loaded at; aims: that it is being loaded at.
    surplus: whether more may be held than `meant` needs."""

    spec: ExpertSpec
    held: dict[int, Piece] = field(default_factory=dict)
    coming: dict[int, Piece] = field(default_factory=dict)
    meant: int = 0
    aims: int = 0
    pins: int = 0
    surplus: bool = False

    def tier(self, most: int | None = None) -> int:
        """The finest tier whose parts are all held."""
        fit = [tier for tier in self.spec.tiers if most is None or tier <= most]
        return max((tier for tier in fit if self.held.keys() >= set(self.spec.layout.parts_for(tier))), default=0)


class CacheModel:
    """What ExpertCache promises, step by step. specs: by layer and expert."""

    def __init__(
        self, capacity: int, policy: Policy, specs: dict[int, list[ExpertSpec]], shape: ExpertGrid, least: int
    ) -> None:
        self.policy, self.least = policy, least
        self.entries = {ExpertKey(layer, e): Entry(spec) for layer, own in specs.items() for e, spec in enumerate(own)}
        self.arena = Arena(capacity)

    @property
    def nbytes(self) -> int:
        return self.arena.total

    @property
    def free(self) -> int:
        return self.arena.capacity - self.arena.in_use

    def residency(self) -> dict[ExpertKey, int]:
        return {key: entry.tier() for key, entry in self.entries.items() if entry.tier()}

    def missing_bytes(self, key: ExpertKey, tier: int) -> int:
        entry = self.entries[key]
        return 0 if entry.coming else entry.spec.layout.bytes_for(tier, entry.held)

    def lookup(self, key: ExpertKey, tier: int, most: int) -> int:
        """The tier leased, 0: a miss."""
        found = self.entries[key].tier(most)
        if not found or found < tier:
            return 0
        self.entries[key].pins += 1
        return found

    def unpin(self, key: ExpertKey) -> None:
        entry = self.entries[key]
        entry.pins -= 1
        self._tidy(entry)
        self._settle()

    def reserve(self, key: ExpertKey, tier: int) -> tuple[int, ...] | None:
        """The parts that are to be filled; None: no room."""
        entry = self.entries[key]
        layout = entry.spec.layout
        needed = layout.parts_for(tier)
        missing = tuple(part for part in needed if part not in entry.held)
        assert missing
        assert not entry.coming
        sizes = [layout.parts[part].nbytes for part in missing]
        entry.pins += 1
        pieces = self._take(sizes, key)
        if pieces is None and entry.pins == 1 and entry.held.keys() - needed:
            self._let_go(entry, needed)
            pieces = self._take(sizes, key)
        if pieces is None:
            self._lost(key)
            return None
        entry.coming, entry.aims = dict(zip(missing, pieces)), tier
        return missing

    def place(self, key: ExpertKey, *, pin: bool) -> None:
        entry = self.entries[key]
        alone = not entry.held
        entry.held |= entry.coming
        entry.coming, entry.meant = {}, entry.aims
        entry.surplus = not alone and len(entry.held) > len(entry.spec.layout.parts_for(entry.meant))
        self.policy.inserted(key)
        entry.pins -= 1
        self._tidy(entry)
        entry.pins += pin
        self._settle()

    def abandon(self, key: ExpertKey) -> None:
        entry = self.entries[key]
        coming, entry.coming = entry.coming, {}
        self.arena.give([coming[part] for part in sorted(coming)])
        self._lost(key)

    def drop(self, key: ExpertKey) -> None:
        if self.entries[key].tier() and not self.entries[key].pins:
            self.arena.give(self._taken(key))

    def make_free(self, nbytes: int) -> None:
        while self.free < nbytes and self._evict():
            pass

    def set_capacity(self, capacity: int) -> None:
        self.arena.capacity = capacity
        self._settle()

    def lend(self, capacity: int) -> None:
        self.arena.capacity = max(capacity, self.least)
        self.arena.shrink(self.arena.capacity)
        latest = {
            key: max(piece.block.number for piece in entry.held.values())
            for key, entry in self.entries.items()
            if entry.held
        }
        for key in sorted(latest, key=lambda key: -latest[key]):
            if self.nbytes > self.arena.capacity:
                self.drop(key)
        self._settle()

    def _take(self, sizes: Sequence[int], incoming: ExpertKey) -> list[Piece] | None:
        while (pieces := self.arena.take(sizes)) is None:
            key = self._victim(incoming)
            if key is None:
                return self.arena.take(sizes, anew=True)
            left = self._taken(key)
            if self.arena.in_use <= self.arena.capacity and [piece.nbytes for piece in left] == list(sizes):
                return left
            self.arena.give(left)
        return pieces

    def _victim(self, incoming: ExpertKey) -> ExpertKey | None:
        return self.policy.victim(incoming, lambda key: not self.entries[key].pins)

    def _evict(self) -> bool:
        key = self._victim(NO_EXPERT)
        if key is not None:
            self.arena.give(self._taken(key))
        return key is not None

    def _settle(self) -> None:
        self.arena.shrink(self.arena.capacity)
        while self.arena.total > self.arena.capacity and self._evict():
            pass

    def _taken(self, key: ExpertKey) -> list[Piece]:
        entry = self.entries[key]
        self.policy.removed(key)
        left = [entry.held[part] for part in sorted(entry.held)]
        entry.held, entry.surplus = {}, False
        return left

    def _lost(self, key: ExpertKey) -> None:
        """What was reserved does not come."""
        entry = self.entries[key]
        if entry.held and not entry.tier():
            self.arena.give(self._taken(key))
        self.unpin(key)

    def _tidy(self, entry: Entry) -> None:
        if entry.surplus and not entry.pins and entry.held:
            self._let_go(entry, entry.spec.layout.parts_for(entry.meant))
            entry.surplus = False

    def _let_go(self, entry: Entry, needed: Sequence[int]) -> None:
        left = [entry.held.pop(part) for part in sorted(entry.held.keys() - set(needed))]
        self.arena.give(left)
