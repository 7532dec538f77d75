"""What an import writes, part by part, and the bytes of the source that each is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.convert.pieces import COMPANIONS, ExpertPieces, ExpertPlan
from engine.formats.extents import FileExtent
from engine.formats.source import WeightSource
from engine.store.datafile import TensorShape
from engine.store.writer import LayerShape, dense_key, record_key


@dataclass(frozen=True)
class ImportPart:
    """An expert of a layer; or, where `layer` is None, a tensor of the rest. nbytes: in the store. key: in its journal.

    extents: where in the source's files lies all that it is made of.
    """

    key: str
    nbytes: int
    layer: LayerShape | None
    expert: int
    name: str
    extents: tuple[FileExtent, ...]


def parts(
    source: WeightSource, plan: ExpertPlan, layers: Sequence[LayerShape], dense: Sequence[TensorShape]
) -> tuple[ImportPart, ...]:
    """Everything that is to be written: experts layer by layer, then the rest."""
    return (*_experts(source, plan, layers), *_dense(source, dense))


def expert_extents(source: WeightSource, pieces: ExpertPieces) -> tuple[FileExtent, ...]:
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


def _experts(source: WeightSource, plan: ExpertPlan, layers: Sequence[LayerShape]) -> Iterator[ImportPart]:
    for x in layers:
        for e, pieces in enumerate(plan.layers[x.index]):
            extents = expert_extents(source, pieces)
            yield ImportPart(record_key(x.index, e), x.spec.layout.nbytes, x, e, "", extents)


def _dense(source: WeightSource, dense: Sequence[TensorShape]) -> Iterator[ImportPart]:
    for t in dense:
        yield ImportPart(dense_key(t.name), t.nbytes, None, 0, t.name, source.extents(t.name))
