"""Which expert leaves when room is needed: small machines that see what happened and nothing else.

They know no model, no bytes and no clock, so a recorded trace can be replayed through them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from engine.errors import Kind, UnderhillError
from engine.experts.keys import ExpertKey


class Policy(Protocol):
    """Told of every event in order; asked for a victim."""

    def used(self, key: ExpertKey) -> None:
        """A resident expert (or one that just became so) was used."""

    def used_together(self, keys: Iterable[ExpertKey]) -> None:
        """`used`, one after the other, of resident experts of one layer."""

    def removed(self, key: ExpertKey) -> None:
        """It is resident no more."""

    def victim(self, incoming: ExpertKey, evictable: Callable[[ExpertKey], bool]) -> ExpertKey | None:
        """A resident expert to give up for `incoming`, among those that are `evictable`; None if there is none."""


class Lru:
    """The one unused for longest leaves, whatever its layer."""

    def __init__(self) -> None:
        self._order: dict[ExpertKey, None] = {}

    def used(self, key: ExpertKey) -> None:
        """See Policy.used."""
        self._order.pop(key, None)
        self._order[key] = None

    def used_together(self, keys: Iterable[ExpertKey]) -> None:
        """See Policy.used_together."""
        order = self._order
        for key in keys:
            order.pop(key, None)
            order[key] = None

    def removed(self, key: ExpertKey) -> None:
        """See Policy.removed."""
        self._order.pop(key, None)

    def victim(self, incoming: ExpertKey, evictable: Callable[[ExpertKey], bool]) -> ExpertKey | None:
        """See Policy.victim."""
        return next((key for key in self._order if evictable(key)), None)

    def __len__(self) -> int:
        return len(self._order)


class LruPerLayer:
    """Every layer keeps its own LRU of k experts (mixtral-offloading), k being an even share of what fits.

    A layer that has its share gives up one of its own; one that has less takes from the layer that has most.
    """

    def __init__(self, layers: int) -> None:
        self._layers = layers
        self._by_layer: dict[int, Lru] = {}

    def used(self, key: ExpertKey) -> None:
        """See Policy.used."""
        self._by_layer.setdefault(key.layer, Lru()).used(key)

    def used_together(self, keys: Iterable[ExpertKey]) -> None:
        """See Policy.used_together."""
        keys = iter(keys)
        for key in keys:
            self.used(key)
            self._by_layer[key.layer].used_together(keys)

    def removed(self, key: ExpertKey) -> None:
        """See Policy.removed."""
        self._by_layer[key.layer].removed(key)

    def victim(self, incoming: ExpertKey, evictable: Callable[[ExpertKey], bool]) -> ExpertKey | None:
        """See Policy.victim."""
        share = max(1, sum(map(len, self._by_layer.values())) // self._layers)
        own = self._by_layer.get(incoming.layer)
        order = sorted(self._by_layer.values(), key=len, reverse=True)
        if own is not None and len(own) >= share:
            order.remove(own)
            order.insert(0, own)
        return next((key for lru in order if (key := lru.victim(incoming, evictable)) is not None), None)


def make_policy(name: str, layers: int) -> Policy:
    """The policy of the setting `policy`: 'lru_layer' or 'lru'. layers: how many MoE layers the model has."""
    match name:
        case "lru":
            return Lru()
        case "lru_layer":
            return LruPerLayer(layers)
    raise UnderhillError(Kind.BAD_REQUEST, f"There is no cache policy called {name!r}.", "Choose lru_layer or lru.")
