"""A copy of a model whose more robust experts keep fewer bits (edgemoe, section III-B), and how it takes its place.

The copy has the same bytes, less of them. The original waits in the trash, from which it can take its place back.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

import numpy as np

from engine import filesystem
from engine.errors import Kind, UnderhillError
from engine.filesystem import sync_directory
from engine.library import display_name, trash
from engine.store.manifest import VERSION, Lowering, TierQuality
from engine.store.output import writing
from engine.store.reader import Store, load_manifest
from engine.store.writer import Description, LayerShape, StoreWriter, dense_key, is_busy, record_key, remove, store_lock
from engine.translatable import Translatable, msg

Report = Callable[[Translatable, int, int], None]
BITS = 2  # what an expert is lowered to: the coarsest tier, and so the most room for one loss
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
    shapes = [_shape(store, layer, experts) for layer in (*store.layers, *store.mtp)]
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
                progress(msg("Writing experts"), done, total)
        for t in dense:
            if writer.done(dense_key(t.name)) is None:
                writer.write_dense(t.name, [memoryview(store.dense.raw(t.name).numpy().data)])
            done += t.nbytes
            progress(msg("Copying shared weights"), done, total)
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
            msg("Only models stored with 4 or 8 bits can be shrunk."),
            msg("Import the model again with a precision of 4 or 8 bits."),
        )
    return LayerShape(
        layer,
        store.experts(layer),
        spec,
        tuple(sorted((expert, bits) for (x, expert), bits in experts.items() if x == layer)),
        mtp=layer in store.mtp,
    )


def _record(store: Store, layer: int, expert: int, parts: range) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """The first parts of a record, checked."""
    stored = store.spec(layer, expert).layout.parts
    memory = mmap.mmap(-1, sum(stored[index].nbytes for index in parts))  # page-aligned, as direct I/O wants it
    whole = memoryview(memory)
    ends = [stored[index].offset + stored[index].nbytes for index in parts]
    store.read_parts(layer, expert, parts, [whole[stored[i].offset : end] for i, end in zip(parts, ends)])
    return np.frombuffer(memory, np.uint8)


def _quality(store: Store, shapes: list[LayerShape], q: TierQuality) -> TierQuality:
    """Bits as they are now; the error as of experts of equal norm, since the original weights are not at hand."""
    specs = [spec for x in shapes for spec in x.specs]
    sizes = [spec.layout.bytes_for(q.tier if q.tier in spec.tiers else spec.top) for spec in specs]
    errors = {other.tier: other.relative_error for other in store.manifest.quality}
    # Squared errors add up, relative ones do not.
    squares = [errors[q.tier if q.tier in spec.tiers else spec.top] ** 2 for spec in specs]
    error = math.sqrt(math.fsum(squares) / len(squares))
    return TierQuality(q.tier, 8 * sum(sizes) / sum(spec.parameters for spec in specs), error)


BESIDE = ".lowered"  # ends the hidden name of a copy that is not in place yet


def beside(path: Path) -> Path:
    """Where the copy of the model at `path` is written: no list shows it."""
    return path.with_name(f".{path.name}{BESIDE}")


def write_beside(store: Store, bits: Mapping[Expert, int], lowering: Lowering, progress: Report) -> None:
    """Write the copy; what there is of it goes when that is stopped. Raises what write_lowered raises, DISK_FULL first:
    the original stays until the copy is in its place, so there must be room for both.
    """
    copy = beside(store.path)
    remove(copy)
    try:
        write_lowered(store, copy, bits, lowering, progress)
    except BaseException:
        with suppress(UnderhillError):
            remove(copy)
        raise


def put_in_place(path: Path) -> None:
    """The copy of the model at `path` is that model from now on, and the original is in the trash.

    Nobody has it open. Raises UnderhillError: BUSY, DISK_ERROR.
    """
    with store_lock(path), writing(path):
        display_name.keep(beside(path), display_name.read(path))
        # A crash between this and the next rename leaves the original in the trash and the copy under its hidden name:
        # remove_leftovers puts the copy in place.
        trash.put(path)
        filesystem.replace(beside(path), path)
        sync_directory(path.parent)


def original(name: str) -> bool:
    """Whether the original of a lowered model is still in the trash."""
    return any(found.name == name for found in trash.deleted())


def restore(path: Path) -> None:
    """Put the original of the lowered model at `path` back, and remove the copy. Nobody has it open.

    Raises UnderhillError: NOT_A_MODEL where the original is gone, BUSY, DISK_ERROR.
    """
    if load_manifest(path).lowering is None or not original(path.name):
        raise UnderhillError(
            Kind.NOT_A_MODEL,
            msg("The original of {name} no longer exists.", name=path.name),
            msg("Download or import the model again."),
        )
    copy = beside(path)
    remove(copy)
    with store_lock(path), writing(path):
        filesystem.replace(path, copy)
    try:
        trash.restore(path.name)
    except UnderhillError:
        with writing(path):
            filesystem.replace(copy, path)
        raise
    with writing(path):
        display_name.keep(path, display_name.read(copy))
    remove(copy)


def remove_leftovers(folder: Path) -> None:
    """Remove copies of which nothing became. One that was cut off between two renames takes its place."""
    for left in folder.glob(f".?*{BESIDE}*"):
        path = folder / left.name[1:].split(BESIDE)[0]
        with suppress(UnderhillError, OSError):
            if is_busy(beside(path)) or is_busy(path) or not os.access(folder, os.W_OK):
                continue
            if beside(path).is_dir() and not path.exists():
                filesystem.replace(beside(path), path)
            else:
                remove(beside(path))
