"""The interface of cache policies: the events they are told, and the victim they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from engine.experts.keys import ExpertKey

Evictable = Callable[[ExpertKey], bool]


@dataclass(frozen=True)
class ExpertGrid:
    """The experts of a model. layers: its MoE layers in the order they run. experts: of the layer that has most."""

    layers: tuple[int, ...]
    experts: int


class LayerVisit(NamedTuple):
    """A layer's turn: it uses these experts, each named once, resident or not.

    high: which of them at high precision; None: all. counts: by how many of the pass's `tokens`; None: by one.
    The sequences are kept for a while: the caller does not change them any more.
    """

    layer: int
    experts: Sequence[int]
    high: Sequence[bool] | None = None
    counts: Sequence[int] | None = None
    tokens: int = 1


class Policy(Protocol):
    """Chooses victims from every event of the cache, told in order. One thread at a time: under the cache's lock."""

    def begin_sequence(self) -> None:
        """A new sequence begins: what was seen in the last one says little about it."""

    def put_aside(self) -> object:
        """A sequence runs beside this one, which goes on afterwards: its records, for `bring_back` alone.

        Until then the policy is as at the beginning of a sequence, and nothing that is told counts as an end of one.
        """

    def bring_back(self, records: object) -> None:
        """Go on with the sequence of these records; what is resident is as it has become."""

    def routed(self, visit: LayerVisit) -> None:
        """Record the layer that runs now, before any of its experts is loaded. Costs well under a microsecond."""

    def inserted(self, key: ExpertKey) -> None:
        """Record that an expert is resident now, or more finely so; used or not (a prefetch)."""

    def removed(self, key: ExpertKey) -> None:
        """Record that an expert is resident no more."""

    def protect(self, keys: Iterable[ExpertKey]) -> None:
        """Evict these only when no other can be, until the next call: they are expected soon (hobbit 3.3)."""

    def victim(self, incoming: ExpertKey, evictable: Evictable) -> ExpertKey | None:
        """The resident expert to evict for `incoming`, among those that are `evictable`; None if there is none."""
