"""The memory that native readers fill, whose table is native, too: the twin of ExpertCache."""

from __future__ import annotations

import weakref
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from ctypes import Array, addressof, c_char

import numpy as np

from engine.errors import Kind, UnderhillError
from engine.experts.buffers import Buffer
from engine.experts.cache import NOBODY, check_capacity
from engine.experts.entry import Entry, Lease
from engine.experts.keys import ExpertKey
from engine.experts.policed import Policed
from engine.experts.policies import Policy, Shape
from engine.experts.policies.scored import Scored
from engine.kernels.memory import Arena
from engine.kernels.native import EXPERT
from engine.kernels.shelf import Leaving, Shelf
from engine.store.layout import ExpertSpec
from engine.translatable import msg

Planner = Callable[[ExpertKey, tuple[int, ...]], None]


class _Asked:
    """What the table asks, without keeping alive who answers. plan: see NativeCache.plan."""

    def __init__(self, policy: Policy, keys: Sequence[ExpertKey], width: int, rows: Mapping[int, int]) -> None:
        self.policy, self.keys, self._width, self._rows = policy, keys, width, rows
        self.shelf: Callable[[], Shelf | None] = lambda: None
        self.plan: Planner | None = None

    def victim(self, incoming: int) -> int:
        """See shelf.h."""
        key = self.policy.victim(NOBODY if incoming < 0 else self.keys[incoming], self._evictable)
        return -1 if key is None else self._rows[key.layer] * self._width + key.expert

    def _evictable(self, key: ExpertKey) -> bool:
        shelf = self.shelf()
        assert shelf is not None
        return not shelf.library.uh_shelf_pins(shelf.address, self._rows[key.layer] * self._width + key.expert)

    def told(self, expert: int, there: int) -> None:
        """See shelf.h."""
        if there:
            self.policy.inserted(self.keys[expert])
        else:
            self.policy.removed(self.keys[expert])

    def planned(self, expert: int, parts: int) -> None:
        """See shelf.h."""
        assert self.plan is not None
        self.plan(self.keys[expert], parts_of(parts))


class NativeCache(Policed):
    """See Level. Experts are numbered as policies do: row * experts + expert, rows being MoE layers as they run.

    Python's lock guards the table itself; `lock` keeps it as it is across several calls. specs: by layer and expert.
    keys, specs, tiers: by number; a layer has `width` of them, of which the last may be nobody's (no spec). follows:
    who leaves is found by the policy's numbers, which the table then keeps as they ought to be. notes: the address of
    those that native code can keep up to date itself; 0: the policy has to be told of visits.
    """

    def __init__(
        self,
        capacity: int,
        policy: Policy,
        specs: Mapping[int, Sequence[ExpertSpec]],
        shape: Shape,
        least: int,
    ) -> None:
        super().__init__(policy)
        check_capacity(capacity, least)
        self.least = least
        self.level = 0
        self.width = shape.experts
        self._rows = {layer: row for row, layer in enumerate(shape.layers)}
        self.keys = [ExpertKey(layer, expert) for layer in shape.layers for expert in range(shape.experts)]
        self.specs = [specs[layer][expert] if expert < len(specs[layer]) else None for layer, expert in self.keys]
        self.tiers = [(0, *(() if spec is None else spec.tiers)) for spec in self.specs]
        self._asked = _Asked(policy, self.keys, self.width, self._rows)
        asked = self._asked
        self.shelf = Shelf(self.specs, capacity, Arena().take, asked.victim, asked.told, asked.planned)
        asked.shelf = weakref.ref(self.shelf)
        leaving = policy.leaving() if isinstance(policy, Scored) else None
        self.follows = leaving is not None
        self.notes = 0 if leaving is None else leaving.hobbit
        if leaving is not None:
            self.shelf.follow(Leaving(*leaving))
        self._of, self._at, self._totals = self.shelf.library, self.shelf.address, self.shelf.totals
        self._shown: dict[int, Array[c_char]] = {}
        # experts as they were asked for last, at which version; forgotten with the first memory that goes
        self._pictures: dict[int, tuple[int, Entry]] = self.shelf.blocks.pictures

    def number(self, key: ExpertKey) -> int:
        """Of an expert."""
        return self._rows[key.layer] * self.width + key.expert

    def planes(self, number: int, tier: int) -> int:
        """As native code counts precision. Raises ValueError for a tier that the expert does not have."""
        return self.tiers[number].index(tier)

    def show(self, keys: Sequence[ExpertKey], table: Array[c_char], most: int) -> None:
        """Keep up to date where these experts, one layer's, are and what they run at, at most so many planes.

        table: an EXPERT for each of them, of which only that is written.
        """
        self._shown[keys[0].layer] = table  # kept alive
        start = addressof(table)
        for index, key in enumerate(keys):
            self._of.uh_shelf_show(self._at, self.number(key), start + EXPERT.size * index, most)

    def first(self, layer: int) -> int:
        """The number of a layer's first expert."""
        return self._rows[layer] * self.width

    def plan(self, planner: Planner) -> None:
        """Who is asked how parts of an expert are read, and answers by Shelf.planned."""
        self._asked.plan = planner

    @property
    def capacity(self) -> int:
        """See Level."""
        return self._totals[0]

    @property
    def refusals(self) -> int:
        """See Level."""
        return self.shelf.blocks.refusals

    @property
    def nbytes(self) -> int:
        """See Level."""
        return self._totals[2]

    @property
    def free(self) -> int:
        """See Level."""
        return self._totals[0] - self._totals[1]

    def lacking(self, key: ExpertKey, tier: int) -> int:
        """See Level."""
        at = self.number(key)
        found: int = self._of.uh_shelf_lacking(self._at, at, self.planes(at, tier))
        return found

    def tier(self, key: ExpertKey, most: int | None = None) -> int:
        """See Level."""
        at = self.number(key)
        tiers, cap = self.tiers[at], 0
        if most is not None and not (cap := max(n for n, tier in enumerate(tiers) if tier <= most)):
            return 0
        return tiers[self._of.uh_shelf_planes(self._at, at, cap)]  # 0 planes: as many as there are

    def residency(self) -> dict[ExpertKey, int]:
        """See Level."""
        planes, _ = self.shelf.look()
        return {self.keys[at]: self.tiers[at][n] for at, n in enumerate(planes) if n}

    def entry(self, key: ExpertKey) -> Entry | None:
        """See Level. A picture of it: to change it changes nothing."""
        at = self.number(key)
        version: int = self._of.uh_shelf_version(self._at, at)
        known = self._pictures.get(at)
        if known is not None and known[0] == version:
            return known[1]
        pieces, spec = self.shelf.pieces(at), self.specs[at]
        if not pieces or spec is None:
            self._pictures.pop(at, None)
            return None
        held = {p.part: Buffer(p.block[p.start : p.start + p.nbytes], None) for p in pieces}
        made = Entry(key, spec, held, spec.layout.tier_of(held))
        self._pictures[at] = version, made
        return made

    def lookup(self, key: ExpertKey, tier: int, most: int | None = None) -> Lease | None:
        """See Level."""
        with self.lock:
            found = self.tier(key, most)
            if not found or found < tier:
                return None
            self.pin((self.number(key),))
            return self.leased(key, found)

    def leased(self, key: ExpertKey, tier: int) -> Lease:
        """A lease of an expert that has been pinned for it."""
        entry = self.entry(key)
        assert entry is not None
        return Lease(entry, tier, self.level, self._release)

    def _release(self, entry: Entry) -> None:
        self.unpin((self.number(entry.key),))

    def pin(self, numbers: Sequence[int]) -> None:
        """Leases of experts that are there, for whoever runs them as they are: to be given back by `unpin` at once."""
        found = array("i", numbers)
        with self.lock:
            self._of.uh_shelf_pin(self._at, found.buffer_info()[0], len(found))

    def unpin(self, numbers: Sequence[int]) -> None:
        """One lease of each less."""
        found = array("i", numbers)
        with self.lock:
            self._of.uh_shelf_unpin(self._at, found.buffer_info()[0], len(found))
            self.shelf.check()

    def protect(self, keys: Iterable[ExpertKey]) -> None:
        """See Policed."""
        if not self.follows:
            super().protect(keys)
            return
        expected = array("i", [self.number(key) for key in keys])
        with self.lock:
            self._of.uh_shelf_protect(self._at, expected.buffer_info()[0], len(expected))

    def make_free(self, nbytes: int) -> None:
        """See Level."""
        with self.lock:
            self._of.uh_shelf_make_free(self._at, nbytes)
            self.shelf.check()

    def drop(self, key: ExpertKey) -> None:
        """See Level."""
        with self.lock:
            at = self.number(key)
            if self._of.uh_shelf_planes(self._at, at, 0) and not self._of.uh_shelf_pins(self._at, at):
                self._of.uh_shelf_forget(self._at, at)

    def set_capacity(self, capacity: int, least: int | None = None) -> None:
        """See Level."""
        with self.lock:
            least = self.least if least is None else least
            check_capacity(capacity, least)
            self.least, self._totals[0] = least, capacity
            self._of.uh_shelf_settle(self._at, 0)
            self.shelf.check()

    def lend(self, capacity: int) -> None:
        """See Level."""
        with self.lock:
            self._totals[0] = max(capacity, self.least)
            self._of.uh_shelf_settle(self._at, 1)
            if self.nbytes > self.capacity:
                _, latest = self.shelf.look()
                for at in np.argsort(-latest, kind="stable").tolist():
                    if self.nbytes <= self.capacity or latest[at] < 0:
                        break
                    self.drop(self.keys[at])
            self._of.uh_shelf_settle(self._at, 0)
            self.shelf.check()

    def refused(self) -> UnderhillError:
        """Of memory that the system did not give."""
        problem, self.shelf.blocks.problem = self.shelf.blocks.problem, None
        error = UnderhillError(
            Kind.OUT_OF_MEMORY,
            msg("There is no memory left for experts."),
            msg("Lower the expert cache or close other programs."),
        )
        error.__cause__ = problem
        return error


def parts_of(bits: int) -> tuple[int, ...]:
    """Numbers of parts, ascending."""
    return tuple(part for part in range(bits.bit_length()) if bits >> part & 1)
