"""How an expert is named, where its bytes come from, and how urgently they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Protocol

from engine.experts.precision import full_tier
from engine.record.layout import ExpertSpec
from engine.store.reader import Extent


class ExpertKey(NamedTuple):
    """One expert of a model. layer: the model's own layer index."""

    layer: int
    expert: int


class Urgency(IntEnum):
    """The lower goes first. DEMAND: a layer waits for it; UPGRADE: a coarse expert is in use in its place; PREFETCH: it
    is only expected to be asked for."""

    # UH_DEMAND and so on: C keeps a queue for each.
    DEMAND = 0
    UPGRADE = 1
    PREFETCH = 2


class ExpertSource(Protocol):
    """What the runtime needs of a store (engine.store.reader.Store). Every method may be called from many threads."""

    @property
    def layers(self) -> tuple[int, ...]:
        """The MoE layers, ascending."""

    def experts(self, layer: int) -> int:
        """How many experts a layer has."""

    def spec(self, layer: int, expert: int = 0) -> ExpertSpec:
        """Shape, encoding and layout of an expert."""

    def extents(self, layer: int, expert: int, parts: Sequence[int]) -> Sequence[Extent]:
        """Where these parts lie: runs of bytes in files, to be read from any thread."""

    def checksums(self, layer: int, expert: int, parts: Sequence[int]) -> Sequence[int]:
        """The CRC-32 of each of these parts as it was written."""


def keys_of(source: ExpertSource) -> list[ExpertKey]:
    """Every expert of a source, in the order of the disk."""
    return [ExpertKey(layer, expert) for layer in source.layers for expert in range(source.experts(layer))]


def largest_expert(source: ExpertSource, tier: int | None) -> int:
    """Bytes of the largest expert where `tier` is full precision (see full_tier): the least to give a cache."""
    # As a set: a model has thousands of experts and mostly one spec.
    specs = {source.spec(key.layer, key.expert) for key in keys_of(source)}
    return max(spec.layout.bytes_for(full_tier(spec, tier)) for spec in specs)


@dataclass(frozen=True)
class SomeLayers:
    """Some of the layers of a store, as a source of their own."""

    store: ExpertSource
    layers: tuple[int, ...]

    def experts(self, layer: int) -> int:
        """See ExpertSource."""
        return self.store.experts(layer)

    def spec(self, layer: int, expert: int = 0) -> ExpertSpec:
        """See ExpertSource."""
        return self.store.spec(layer, expert)

    def extents(self, layer: int, expert: int, parts: Sequence[int]) -> Sequence[Extent]:
        """See ExpertSource."""
        return self.store.extents(layer, expert, parts)

    def checksums(self, layer: int, expert: int, parts: Sequence[int]) -> Sequence[int]:
        """See ExpertSource."""
        return self.store.checksums(layer, expert, parts)
