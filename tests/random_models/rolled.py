"""Our importer over a checkpoint whose experts are rows of one another in another order: one per layer is quantized."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from unittest.mock import patch

import torch
from torch import Tensor

from engine.convert import encoding, importer
from engine.quantization.planes import EncodedExpert, encode
from engine.record.layout import ROWS_PER_TILE, ExpertSpec
from tests.random_models.shapes import ROLL, Shape


class RolledEncoder:
    """What `encode` gives, made from expert 0 of the layer by moving whole tiles; refuses experts that are not that."""

    def __init__(self, shape: Shape) -> None:
        if ROLL % ROWS_PER_TILE or any(rows % ROLL for rows, _ in shape.matrices().values()):
            raise ValueError("rows can only be moved by whole tiles")
        self._shape = shape
        self._first: dict[int, tuple[dict[str, Tensor], EncodedExpert]] = {}
        self._lock = Lock()

    def __call__(self, matrices: Mapping[str, Tensor], spec: ExpertSpec, layer: int, expert: int) -> EncodedExpert:
        with self._lock:
            if layer not in self._first:
                own = {m.name: matrices[m.name].roll(-self._shape.shift(m.name, expert), 0) for m in spec.matrices}
                recent = {i: known for i, known in self._first.items() if i >= layer - 1}  # a layer is large
                self._first = {**recent, layer: (own, encode(own, spec, layer, 0))}
            originals, first = self._first[layer]
        for m in spec.matrices:
            if not torch.equal(matrices[m.name], originals[m.name].roll(self._shape.shift(m.name, expert), 0)):
                raise ValueError(f"{m.name} of expert {expert} in layer {layer} is not expert 0's in another order")
        return self.moved(first, spec, expert)

    def moved(self, first: EncodedExpert, spec: ExpertSpec, expert: int) -> EncodedExpert:
        """This expert of a layer, from its first."""
        record = first.record.copy()
        for m in spec.matrices:
            shift = self._shape.shift(m.name, expert)
            for part in spec.layout.parts:
                section = part.sections[m.name]
                found = record[part.offset + section.offset :][: section.nbytes]
                found[:] = torch.from_numpy(found.copy()).roll(section.nbytes * shift // m.rows).numpy()
        at = spec.layout.head.offset + 8
        record[at : at + 4] = bytearray(struct.pack("<I", expert))  # the header names it; see planes.encode
        return EncodedExpert(record, first.squared_error, first.squared_norm)


def import_rolled(shape: Shape, checkpoint: Path, store: Path, progress: Callable[[str, int, int], None]) -> None:
    """import_checkpoint as anybody would call it, but for the time it takes."""
    with patch.object(encoding, "encode", RolledEncoder(shape)):
        importer.import_checkpoint(checkpoint, store, progress=progress)
