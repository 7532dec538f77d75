"""Importing a checkpoint: quantized expert by expert into a store, with flat memory, resumable at every expert."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch

from engine.convert.encoding import GROUPS, codings, dense_chunks, dense_shapes, encoded, keeps, vision_shapes
from engine.convert.expert_plan import find_experts
from engine.convert.journal import ChecksumMismatch, ImportJournal, ImportPart, StreamSource, parts
from engine.convert.pieces import ExpertPlan, piece_shape
from engine.errors import Kind, UnderhillError, damaged_checkpoint
from engine.formats.checkpoint import origin, verified
from engine.formats.errors import unreadable
from engine.formats.opening import open_source
from engine.formats.source import WeightSource, suited
from engine.limits import COMPANION_BYTES
from engine.quantization.planes import EncodedExpert
from engine.record.coding import Coding
from engine.record.layout import ExpertSpec
from engine.regular_file import open_unbuffered, read_regular
from engine.store import dtypes
from engine.store.datafile import TensorShape
from engine.store.manifest import VERSION, FileHash, Source, TierQuality
from engine.store.writer import Description, LayerShape, StoreWriter, record_key
from engine.translatable import Translatable, msg

Report = Callable[[Translatable, int, int], None]  # phrase, bytes done, bytes in all; may raise to stop the import


def file_sha256(file: Path, hashed: Callable[[int], None] = lambda n: None) -> str:
    """SHA-256 of a file, in hex. hashed: told after each block how many bytes were hashed; it may raise to stop.

    Raises UnderhillError(DISK_ERROR).
    """
    sha, done = hashlib.sha256(), 0
    try:
        with open_unbuffered(file) as f:
            while chunk := f.read(8 << 20):
                sha.update(chunk)
                done += len(chunk)
                hashed(done)
    except OSError as cause:
        raise unreadable(file, cause) from cause
    return sha.hexdigest()


def _report_hashing(report: Report, before: int, total: int, hashed: int) -> None:
    report(msg("Checking source files"), before + hashed, total)


def hash_files(journal: ImportJournal, files: tuple[Path, ...], report: Report) -> tuple[FileHash, ...]:
    """Of each file. Raises UnderhillError(DISK_ERROR)."""
    sizes = [f.stat().st_size for f in files]
    done, hashes = 0, []
    for file, size in zip(files, sizes):
        key = f"sha256 {file.name}"
        # A download has compared it with the hub's checksum already: gigabytes need not be read for it again.
        digest = journal.done(key) or verified(file)
        if digest is None:
            digest = file_sha256(file, partial(_report_hashing, report, done, sum(sizes)))
            journal.note(key, digest)
        done += size
        hashes.append(FileHash(file.name, size, digest))
    return tuple(hashes)


__all__ = ["GROUPS", "Report", "import_checkpoint"]

ENCODER = 2  # raised whenever the same checkpoint would become other bytes: no import is resumed across it
REST = 1.0  # seconds between two looks whether a resting import may go on


def import_checkpoint(
    source: Path | str | StreamSource,
    destination: Path | str,
    top: int = 8,
    *,
    group: int | None = None,
    progress: Report | None = None,
    cancel: Callable[[], bool] | None = None,
    wait: Callable[[], Translatable] | None = None,
) -> Path:
    """Import `source`, a folder, a GGUF file or what is still arriving, as the store `destination`.

    That is replaced when all is whole.
    top: 4 or 8 bits, or 16 (bf16) or 32 (float32) unquantized; 0 takes what suits the source. group: None takes the
    widest of GROUPS that fits; with top 0 or 4, of a source of about 4 bits, its own codes and groups (kept_codes.py).
    wait: asked between experts; as long as it answers with a sentence, that is reported and nothing else is done.
    Interrupted in whatever way, the next call with the same arguments continues, and ends in the same bytes.
    Raises UnderhillError: what open_source, find_experts, StoreWriter and StreamSource raise, BROKEN_FILE where weights
    are not finite, CANCELLED once cancel() is true.
    """
    report = _stoppable(progress, cancel)
    incoming = None if isinstance(source, Path | str) else source
    checkpoint = open_source(source) if isinstance(source, Path | str) else source.source
    exact = keeps(checkpoint, top, group)
    top = top or suited(checkpoint.form.bits)
    report(msg("Reading model structure"), 0, 0)
    plan = find_experts(checkpoint)
    layers = _layer_shapes(checkpoint, plan, top, group, codings(checkpoint, plan) if exact else {})
    dense = [*dense_shapes(checkpoint, plan, exact), *vision_shapes(checkpoint, plan)]
    with (
        checkpoint.companions() as copies,
        StoreWriter(Path(destination), _identity(checkpoint, incoming, copies, layers, dense), layers, dense) as writer,
    ):
        work = _Work(
            writer,
            checkpoint,
            plan,
            found=parts(checkpoint, plan, layers, dense),
            dense=dense,
            report=report,
            wait=wait,
        )
        if incoming is None:
            work.write()
        else:
            work.write_arriving(incoming)
        return writer.finish(
            Description(
                _described_source(checkpoint, incoming, writer, report),
                str(checkpoint.config["model_type"]),
                checkpoint.config,
                copies,
                _quality(writer, layers),
            )
        )


def _stoppable(progress: Report | None, cancel: Callable[[], bool] | None) -> Report:
    """Reports to `progress`. Raises UnderhillError(CANCELLED) once cancel() is true."""

    def report(phrase: Translatable, done: int, total: int) -> None:
        if cancel is not None and cancel():
            raise UnderhillError(Kind.CANCELLED, msg("Import stopped."), msg("Import again to resume."))
        if progress is not None:
            progress(phrase, done, total)

    return report


def _described_source(
    checkpoint: WeightSource, incoming: StreamSource | None, journal: ImportJournal, report: Report
) -> Source:
    """Where the weights are from; the files that have not arrived with a checksum are hashed."""
    arrived = () if incoming is None else incoming.files
    known = {f.name for f in arrived}
    rest = tuple(path for path in checkpoint.originals if path.name not in known)
    (repo, revision), form = origin(checkpoint.path), checkpoint.form
    hashes = (*arrived, *hash_files(journal, rest, report))
    return Source(str(checkpoint.path.resolve()), repo, revision, hashes, form.name, form.bits)


def _layer_shapes(
    checkpoint: WeightSource, plan: ExpertPlan, top: int, group: int | None, kept: Mapping[int, tuple[Coding, ...]]
) -> list[LayerShape]:
    """The spec of every MoE layer, after checking that all its experts have the same shape.

    kept: by layer, how its matrices are coded, where some keep their codes.
    """
    shapes: dict[int, tuple[int, int]] = {}
    layers = plan.all_layers
    for layer, experts in layers.items():
        shape = piece_shape(checkpoint, experts[0].matrices["up"])
        if len(shape) != 2:
            raise _contradiction(layer, 0, "up")
        rows, cols = shape
        for e, expert in enumerate(experts):
            for name, piece in expert.matrices.items():
                if piece_shape(checkpoint, piece) != ((cols, rows) if name == "down" else (rows, cols)):
                    raise _contradiction(layer, e, name)
            for name, piece in expert.biases.items():
                if piece_shape(checkpoint, piece) != ((cols,) if name == "down" else (rows,)):
                    raise _contradiction(layer, e, msg("{name} bias", name=name))
        shapes[layer] = (cols, rows)
    if group is None:
        fitting = (g for g in GROUPS if all(n % g == 0 for shape in shapes.values() for n in shape))
        group = next(fitting, GROUPS[-1])
    try:
        return [
            LayerShape(i, len(layers[i]), spec_of(plan, shape, top, group, kept.get(i, ())), mtp=i in plan.mtp)
            for i, shape in shapes.items()
        ]
    except ValueError as cause:
        raise UnderhillError(
            Kind.BAD_REQUEST, msg("The experts cannot be stored like this: {cause}.", cause=cause)
        ) from cause


def spec_of(plan: ExpertPlan, shape: tuple[int, int], top: int, group: int, codings: tuple[Coding, ...]) -> ExpertSpec:
    """The spec of experts of [hidden, intermediate]. codings: () where all are quantized, in groups of `group`."""
    kept = codings[0].group if codings else group
    return ExpertSpec(*shape, top, kept, has_gate=plan.has_gate, has_bias=plan.has_bias, codings=codings)


def _identity(
    checkpoint: WeightSource, incoming: StreamSource | None, copies: tuple[Path, ...], layers: list[LayerShape],
    dense: Sequence[TensorShape],
) -> str:  # fmt: skip
    """A digest of everything that decides which bytes the store will have."""
    if incoming is None:
        # By size and time: to hash a checkpoint before every resumption would take as long as much of the import.
        files: list[Any] = [(f.name, f.stat().st_size, f.stat().st_mtime_ns) for f in checkpoint.files]
    else:
        files = [*(asdict(f) for f in incoming.files), *incoming.marks]
    # small files may be made anew every time
    small = [(f.name, hashlib.sha256(read_regular(f, COMPANION_BYTES)).hexdigest()) for f in copies]
    how = ["raw" if x.spec.raw else "native" for x in layers]  # as digests of imports that are half done have it
    what = [
        VERSION,
        ENCODER,
        how,
        str(checkpoint.path.resolve()),
        files,
        small,
        [asdict(x) for x in layers],
        [asdict(x) for x in dense],
    ]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


class _Work:
    """The parts of a store, those that are not done yet, quantized or copied and written."""

    def __init__(
        self, writer: StoreWriter, source: WeightSource, plan: ExpertPlan, *, found: tuple[ImportPart, ...],
        dense: Sequence[TensorShape], report: Report, wait: Callable[[], Translatable] | None,
    ) -> None:  # fmt: skip
        self._dense = {shape.name: shape for shape in dense}
        self._writer, self._source, self._plan = writer, source, plan
        self._parts = found
        self._report, self._wait = report, wait
        self._layers = sorted({part.layer.index for part in found if part.layer is not None})
        self._done = self._total = 0

    def write(self) -> None:
        """Experts, then the rest, in the order in which they lie in the store."""
        for kind in ([p for p in self._parts if p.layer is not None], [p for p in self._parts if p.layer is None]):
            self._begin(kind)
            for part, expert in encoded(self._source, self._plan, self._todo(kind), None, self._rest):
                self._take(part, expert)
                del expert  # before the next one is waited for

    def write_arriving(self, incoming: StreamSource) -> None:
        """All of them, in the order in which their weights come."""
        try:
            while True:
                try:
                    self._begin(self._parts)
                    todo = self._todo(incoming.start(self._writer, self._parts))
                    for part, expert in encoded(self._source, self._plan, todo, incoming, self._rest):
                        self._take(part, expert)
                        del expert
                        # After the write: what it arrived in may be deleted from here on, once it is synced
                        # (StreamSource asks is_safe).
                        incoming.wrote(part)
                    incoming.finish()
                    return
                except ChecksumMismatch:
                    continue  # what was made of it is to be made again; a second time it is an error
        finally:
            incoming.close()

    def _begin(self, kind: Sequence[ImportPart]) -> None:
        self._total = sum(part.nbytes for part in kind)
        todo = self._todo(kind)
        self._done = self._total - sum(part.nbytes for part in todo)
        if todo:  # said before the first part is made, which of weights that arrive may take long
            self._report(self._phrase(todo[0]), self._done, self._total)

    def _todo(self, kind: Sequence[ImportPart]) -> list[ImportPart]:
        return [part for part in kind if self._writer.done(part.key) is None]

    def _rest(self) -> None:
        """Between two experts: wait for as long as there is a reason to."""
        while self._wait is not None and (reason := self._wait()):
            self._report(reason, self._done, self._total)
            time.sleep(REST)

    def _take(self, part: ImportPart, expert: EncodedExpert | None) -> None:
        if part.layer is None or expert is None:
            self._writer.write_dense(part.name, self._chunks(part.name))
            return
        errors = {str(tier): error for tier, error in expert.squared_error.items()}
        self._writer.write_record(
            part.layer.index, part.expert, expert.record, {"error": errors, "norm": expert.squared_norm}
        )
        self._done += part.nbytes
        self._report(self._phrase(part), self._done, self._total)

    def _phrase(self, part: ImportPart) -> Translatable:
        if part.layer is None:
            return msg("Copying shared weights")
        first, last = self._layers[0], self._layers[-1]
        return msg("Quantizing layer {index} of {last}", index=part.layer.index - first + 1, last=last - first + 1)

    def _chunks(self, name: str) -> Iterator[memoryview]:
        shape = self._dense[name]
        dtype = dtypes.TORCH[shape.listed[0]]
        for chunk in dense_chunks(self._source, shape):
            # A single number may be a bound, such as Gemma's towers have, and be infinite where there is none.
            if dtype.is_floating_point and shape.shape and not _finite(torch.frombuffer(chunk, dtype=dtype)):
                raise damaged_checkpoint(msg("{name} holds numbers that are not finite.", name=name))
            yield chunk
            self._done += chunk.nbytes
            self._report(msg("Copying shared weights"), self._done, self._total)


def _quality(writer: StoreWriter, layers: list[LayerShape]) -> tuple[TierQuality, ...]:
    """Bits per weight and relative error of every tier, over all experts."""
    notes = [writer.done(record_key(x.index, e))[1] for x in layers for e in range(x.experts)]
    norm = math.fsum(n["norm"] for n in notes)
    weights = sum(x.experts * x.spec.parameters for x in layers)
    result = []
    for tier in layers[0].spec.tiers:
        error = math.fsum(n["error"][str(tier)] for n in notes)
        size = sum(x.experts * x.spec.layout.bytes_for(tier) for x in layers)
        result.append(TierQuality(tier, 8 * size / weights, math.sqrt(error / norm) if norm else 0.0))
    return tuple(result)


def _contradiction(layer: int, expert: int, name: str) -> UnderhillError:
    return damaged_checkpoint(
        msg(
            "The {name} of expert {expert} in layer {layer} has another shape than its neighbours.",
            name=name,
            expert=expert,
            layer=layer,
        )
    )


def _finite(numbers: torch.Tensor) -> bool:
    """A piece at a time: the test of a whole chunk would take several times its memory."""
    return all(bool(piece.float().isfinite().all()) for piece in numbers.split(1 << 19))
