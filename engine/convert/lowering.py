"""A store whose more robust experts keep fewer bits (edgemoe, section III-B): the same bytes, less of them."""

from __future__ import annotations

import hashlib
import json
import math
import mmap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

import numpy as np

from engine.errors import Kind, UnderhillError
from engine.store.manifest import VERSION, Lowering, TierQuality
from engine.store.reader import Store
from engine.store.writer import Description, LayerShape, StoreWriter, dense_key, record_key
from engine.translatable import Translatable, msg

Report = Callable[[Translatable, int, int], None]
BITS = 2
Expert = TypeVar("Expert", bound=tuple[int, int])  # (layer, expert)


def lowered_share(store: Store) -> float:
    """Of all experts, those that keep fewer bits than they had."""
    manifest = store.manifest
    if manifest.lowering is None:
        return 0.0
    whole = max(q.tier for q in manifest.quality)
    specs = [manifest.specs[record.spec] for layer in manifest.layers for record in layer.records]
    return sum(spec.top < whole for spec in specs) / len(specs)


def write_lowered(
    store: Store,
    destination: Path,
    experts: Mapping[Expert, int],
    lowering: Lowering,
    progress: Report = lambda phrase, done, total: None,
) -> Path:
    """Write `store` once more, at `destination`, the `experts` with so many of their coarsest bits alone: 2 or 4.

    Nothing is quantized anew: an expert's record begins with what its 2 bits need, then its 4. Interrupted, the next
    call with the same arguments goes on. Raises UnderhillError: BAD_REQUEST where experts are stored unquantized or
    were lowered before, and what reading and writing stores raises.
    """
    shapes = [_shape(store, layer, experts) for layer in store.layers]
    manifest = store.manifest
    dense = [t.outline for t in manifest.dense]
    what = [VERSION, str(store.path.resolve()), asdict(manifest.source), sorted(experts.items()), asdict(lowering)]
    identity = hashlib.sha256(json.dumps(what).encode()).hexdigest()
    copies = tuple(store.path / file.name for file in manifest.files)
    with StoreWriter(destination, identity, shapes, dense) as writer:
        total = sum(spec.layout.nbytes for x in shapes for spec in x.specs) + sum(t.nbytes for t in dense)
        done = 0
        for x in shapes:
            for expert, spec in enumerate(x.specs):
                if writer.done(record_key(x.index, expert)) is None:
                    parts = range(len(spec.layout.parts))
                    writer.write_record(x.index, expert, _record(store, x.index, expert, parts), None)
                done += spec.layout.nbytes
                progress(msg("Writing the experts"), done, total)
        for t in dense:
            if writer.done(dense_key(t.name)) is None:
                writer.write_dense(t.name, _bytes_of(store, t.name))
            done += t.nbytes
            progress(msg("Copying the other weights"), done, total)
        quality = tuple(_quality(store, shapes, q) for q in manifest.quality)
        return writer.finish(
            Description(manifest.source, manifest.architecture, manifest.config, copies, quality, lowering)
        )


def _shape(store: Store, layer: int, experts: Mapping[Expert, int]) -> LayerShape:
    specs = {store.spec(layer, e) for e in range(store.experts(layer))}
    spec = next(iter(specs))
    if len(specs) > 1 or spec.raw or spec.top == BITS:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("Only experts that are all stored with 4 or 8 bits can be lowered to fewer."),
            msg("Import the model again with --top 4 or 8."),
        )
    return LayerShape(
        layer,
        store.experts(layer),
        spec,
        tuple(sorted((expert, bits) for (x, expert), bits in experts.items() if x == layer)),
    )


def _record(store: Store, layer: int, expert: int, parts: range) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """The first parts of a record, checked."""
    stored = store.spec(layer, expert).layout.parts
    memory = mmap.mmap(-1, sum(stored[index].nbytes for index in parts))  # page-aligned, as direct I/O wants it
    whole = memoryview(memory)
    ends = [stored[index].offset + stored[index].nbytes for index in parts]
    store.read_parts(layer, expert, parts, [whole[stored[i].offset : end] for i, end in zip(parts, ends)])
    return np.frombuffer(memory, np.uint8)


def _bytes_of(store: Store, name: str) -> Iterator[memoryview]:
    yield memoryview(store.dense.raw(name).numpy().data)


def _quality(store: Store, shapes: list[LayerShape], q: TierQuality) -> TierQuality:
    """Bits as they are now; the error as of experts of equal norm, since the original weights are not at hand."""
    specs = [spec for x in shapes for spec in x.specs]
    sizes = [spec.layout.bytes_for(q.tier if q.tier in spec.tiers else spec.top) for spec in specs]
    errors = {other.tier: other.relative_error for other in store.manifest.quality}
    squares = [errors[q.tier if q.tier in spec.tiers else spec.top] ** 2 for spec in specs]
    error = math.sqrt(math.fsum(squares) / len(squares))
    return TierQuality(q.tier, 8 * sum(sizes) / sum(spec.parameters for spec in specs), error)
