"""What an import writes, part by part, and the bytes of the source that each is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.convert.conversion_tables import ExpertPieces, ExpertPlan
from engine.convert.pieces import COMPANIONS
from engine.formats.extents import Extent
from engine.formats.source import Source
from engine.store.datafile import TensorShape
from engine.store.writer import LayerShape, dense_key, record_key


@dataclass(frozen=True)
class Part:
    """An expert of a layer; or, where `layer` is None, a tensor of the rest. nbytes: in the store. key: in its journal.

    extents: where in the source's files lies all that it is made of.
    """

    key: str
    nbytes: int
    layer: LayerShape | None
    expert: int
    name: str
    extents: tuple[Extent, ...]


def parts(
    source: Source, plan: ExpertPlan, layers: Sequence[LayerShape], dense: Sequence[TensorShape]
) -> tuple[Part, ...]:
    """Everything that is to be written: experts layer by layer, then the rest."""
    return (*_experts(source, plan, layers), *_dense(source, dense))


def expert_extents(source: Source, pieces: ExpertPieces) -> tuple[Extent, ...]:
    """Where all bytes lie that one expert is made of."""
    places = {(piece.key, piece.index) for piece in (*pieces.matrices.values(), *pieces.biases.values())}
    found = dict.fromkeys(
        extent
        for key, index in sorted(places, key=str)
        for name in (key, *(key + ending for ending in COMPANIONS))
        if name in source.entries
        for extent in source.extents(name, () if index is None else (index,))
    )
    return tuple(found)


def _experts(source: Source, plan: ExpertPlan, layers: Sequence[LayerShape]) -> Iterator[Part]:
    for x in layers:
        for e, pieces in enumerate(plan.layers[x.index]):
            extents = expert_extents(source, pieces)
            yield Part(record_key(x.index, e), x.spec.layout.nbytes, x, e, "", extents)


def _dense(source: Source, dense: Sequence[TensorShape]) -> Iterator[Part]:
    for t in dense:
        yield Part(dense_key(t.name), t.nbytes, None, 0, t.name, source.extents(t.name))
