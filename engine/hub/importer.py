"""Importing a checkpoint: quantized expert by expert into a store, with flat memory, resumable at every expert."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.hardware.priority import give_way
from engine.hub.headers import unreadable
from engine.hub.layouts import find_experts
from engine.hub.mapping import ExpertPieces, ExpertPlan
from engine.hub.origin import origin
from engine.hub.pieces import ExpertMatrices, piece_shape
from engine.hub.sources.opening import open_source
from engine.hub.sources.source import Source as WeightSource
from engine.kernels.native import default_threads
from engine.quantization import encoder
from engine.quantization.planes import EncodedExpert, encode
from engine.store.datafile import TensorShape
from engine.store.layout import ExpertSpec
from engine.store.manifest import VERSION, FileHash, Source, TierQuality
from engine.store.writer import Description, LayerShape, StoreWriter, dense_key, record_key

Report = Callable[[str, int, int], None]  # phrase, bytes done, bytes in all; may raise to stop the import

ENCODER = 2  # raised whenever the same checkpoint would become other bytes: no import is resumed across it
WORKERS = 8  # threads that read and quantize: these outrun any disk
TORCH_WORKERS = 4  # of torch's code; more of them wait for one another
MEMORY = 1_400_000_000  # bytes that all experts under way may take together
REST = 1.0  # seconds between two looks whether a resting import may go on
GROUPS = (64, 32, 16)  # columns per group; the widest that divides every width is taken


def import_checkpoint(
    source: Path | str,
    destination: Path | str,
    top: int = 8,
    group: int | None = None,
    progress: Report | None = None,
    cancel: Callable[[], bool] | None = None,
    wait: Callable[[], str] | None = None,
) -> Path:
    """Import `source`, a folder or a GGUF file, as the store `destination`, which it replaces when whole.

    top: 4 or 8 bits, or 16 (bf16) or 32 (float32) unquantized. group: None takes the widest of GROUPS that fits.
    wait: asked between experts; as long as it answers with a sentence, that is reported and nothing else is done.
    Interrupted in whatever way, the next call with the same arguments continues, and ends in the same bytes.
    Raises UnderhillError: what open_source, find_experts and StoreWriter raise, BROKEN_FILE when weights are not
    finite, CANCELLED once cancel() is true.
    """

    def report(phrase: str, done: int, total: int) -> None:
        if cancel is not None and cancel():
            raise UnderhillError(Kind.CANCELLED, "The import was stopped.", "Import again to continue it.")
        if progress is not None:
            progress(phrase, done, total)

    checkpoint = open_source(source)
    report("Reading the model's outline", 0, 0)
    plan = find_experts(checkpoint)
    layers = _layer_shapes(checkpoint, plan, top, group)
    dense = [TensorShape(e.name, e.dtype, e.shape) for e in map(checkpoint.entry, plan.dense)]
    with (
        checkpoint.companions() as copies,
        StoreWriter(Path(destination), _identity(checkpoint, copies, layers), layers, dense) as writer,
    ):
        _write_experts(writer, checkpoint, plan, layers, report, wait)
        _write_dense(writer, checkpoint, dense, report)
        hashes = _hashes(writer, checkpoint.originals, report)
        (repo, revision), form = origin(checkpoint.path), checkpoint.form
        return writer.finish(
            Description(
                Source(str(checkpoint.path.resolve()), repo, revision, hashes, form.name, form.bits),
                str(checkpoint.config["model_type"]),
                checkpoint.config,
                copies,
                _quality(writer, layers),
            )
        )


def _layer_shapes(checkpoint: WeightSource, plan: ExpertPlan, top: int, group: int | None) -> list[LayerShape]:
    """The spec of every MoE layer, after checking that all its experts have the same shape."""
    shapes: dict[int, tuple[int, int]] = {}
    for layer, experts in plan.layers.items():
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
                    raise _contradiction(layer, e, f"{name} bias")
        shapes[layer] = (cols, rows)
    if group is None:
        fitting = (g for g in GROUPS if all(n % g == 0 for shape in shapes.values() for n in shape))
        group = next(fitting, GROUPS[-1])
    try:
        return [
            LayerShape(i, len(plan.layers[i]), ExpertSpec(hidden, inner, top, group, plan.has_gate, plan.has_bias))
            for i, (hidden, inner) in shapes.items()
        ]
    except ValueError as cause:
        raise UnderhillError(Kind.BAD_REQUEST, f"The experts cannot be stored like this: {cause}.") from cause


def _identity(checkpoint: WeightSource, copies: tuple[Path, ...], layers: list[LayerShape]) -> str:
    """A digest of everything that decides which bytes the store will have."""
    files = [(f.name, f.stat().st_size, f.stat().st_mtime_ns) for f in checkpoint.files]
    small = [(f.name, hashlib.sha256(f.read_bytes()).hexdigest()) for f in copies]  # may be made anew every time
    how = [encoder.name(x.spec) for x in layers]  # native code and torch differ in the last bits
    what = [VERSION, ENCODER, how, str(checkpoint.path.resolve()), files, small, [asdict(x) for x in layers]]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


# ---- experts ------------------------------------------------------------------------------------------------------


def _write_experts(
    writer: StoreWriter, checkpoint: WeightSource, plan: ExpertPlan, layers: list[LayerShape], report: Report,
    wait: Callable[[], str] | None,
) -> None:  # fmt: skip
    """Quantize what is not done yet, several experts at once, and write it in order."""
    total = sum(x.experts * x.spec.layout.nbytes for x in layers)
    done = 0
    todo: list[tuple[LayerShape, int]] = []
    for x in layers:
        missing = [e for e in range(x.experts) if writer.done(record_key(x.index, e)) is None]
        done += (x.experts - len(missing)) * x.spec.layout.nbytes
        todo += ((x, e) for e in missing)
    first = layers[0].index

    def rest() -> None:
        """Between two experts: wait for as long as there is a reason to."""
        while wait is not None and (reason := wait()):
            report(reason, done, total)
            time.sleep(REST)

    for (x, e), encoded in _encoded(checkpoint, plan, todo, rest):
        errors = {str(tier): error for tier, error in encoded.squared_error.items()}
        writer.write_record(x.index, e, encoded.record, {"error": errors, "norm": encoded.squared_norm})
        del encoded  # before the next one is waited for
        done += x.spec.layout.nbytes
        report(f"Quantizing layer {x.index - first + 1} of {layers[-1].index - first + 1}", done, total)


def _encoded(
    checkpoint: WeightSource, plan: ExpertPlan, todo: list[tuple[LayerShape, int]], rest: Callable[[], None]
) -> Iterator[tuple[tuple[LayerShape, int], EncodedExpert]]:
    """The encoded experts, in the order of `todo`; never more at once than MEMORY allows. rest: called before each."""
    if not todo:
        return
    workers = _workers({x.spec for x, _ in todo})
    under_way: deque[tuple[tuple[LayerShape, int], Future[EncodedExpert]]] = deque()
    pool = ThreadPoolExecutor(workers, "quantize", give_way)
    try:
        for x, e in todo:
            if len(under_way) == workers:
                yield _first(under_way)
            rest()
            under_way.append(((x, e), pool.submit(_encode, checkpoint, plan.layers[x.index][e], x, e)))
        while under_way:
            yield _first(under_way)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _first(
    under_way: deque[tuple[tuple[LayerShape, int], Future[EncodedExpert]]],
) -> tuple[tuple[LayerShape, int], EncodedExpert]:
    """Wait for the oldest and let go of it: a record may be hundreds of megabytes."""
    item, future = under_way.popleft()
    return item, future.result()


def _encode(checkpoint: WeightSource, pieces: ExpertPieces, x: LayerShape, expert: int) -> EncodedExpert:
    return encode(ExpertMatrices(checkpoint, pieces), x.spec, x.index, expert)


def _workers(specs: set[ExpertSpec]) -> int:
    """Threads for experts of these specs: one more than compute, to read meanwhile."""
    most = min(WORKERS, default_threads() + 1)
    if any(encoder.name(spec) == "torch" for spec in specs):
        most = min(TORCH_WORKERS, default_threads())
    return max(1, min(most, MEMORY // max(_footprint(spec) for spec in specs)))


def _footprint(spec: ExpertSpec) -> int:
    """About how many bytes encoding one expert takes: its record, and a matrix as it was read and as it is encoded.

    torch takes a few copies in float32.
    """
    each = 12 if encoder.name(spec) == "torch" else 8
    return spec.layout.nbytes + each * spec.hidden * spec.intermediate


# ---- the rest -----------------------------------------------------------------------------------------------------


def _write_dense(writer: StoreWriter, checkpoint: WeightSource, dense: list[TensorShape], report: Report) -> None:
    """Stream the other weights, unchanged."""
    total = sum(t.nbytes for t in dense)
    done = 0

    def chunks(name: str) -> Iterator[memoryview]:
        nonlocal done
        for chunk in checkpoint.chunks(name):
            yield chunk
            done += chunk.nbytes
            report("Copying the other weights", done, total)

    for t in dense:
        if writer.done(dense_key(t.name)) is None:
            writer.write_dense(t.name, chunks(t.name))
        else:
            done += t.nbytes


def _hashes(writer: StoreWriter, files: tuple[Path, ...], report: Report) -> tuple[FileHash, ...]:
    """SHA-256 of the source files."""
    sizes = [f.stat().st_size for f in files]
    done, hashes = 0, []
    for file, size in zip(files, sizes):
        digest = writer.done(f"sha256 {file.name}")
        if digest is None:
            sha = hashlib.sha256()
            try:
                with file.open("rb", buffering=0) as f:
                    while chunk := f.read(8 << 20):
                        sha.update(chunk)
                        done += len(chunk)
                        report("Noting what the source files are", done, sum(sizes))
            except OSError as cause:
                raise unreadable(file, cause) from cause
            digest = sha.hexdigest()
            writer.note(f"sha256 {file.name}", digest)
        else:
            done += size
        hashes.append(FileHash(file.name, size, digest))
    return tuple(hashes)


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
    return UnderhillError(
        Kind.BROKEN_FILE,
        f"The {name} of expert {expert} in layer {layer} has another shape than its neighbours.",
        "The checkpoint is damaged; download it again.",
    )
