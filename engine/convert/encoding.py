"""Experts quantized on several threads, a few at a time, in the order in which their weights are there.

Which matrices keep the codes that they came with instead, and how, is decided from headers, layer by layer.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import torch

from engine.convert.journal import ImportPart, StreamSource
from engine.convert.pieces import ExpertMatrices, ExpertPieces, ExpertPlan, coded_piece, piece_shape
from engine.errors import damaged_checkpoint
from engine.formats.source import WeightSource, suited
from engine.hardware.processor import give_way
from engine.kernels.encode import NotFinite
from engine.native.library import default_threads
from engine.quantization.exact import pack_dense
from engine.quantization.planes import EncodedExpert, encode
from engine.record.coding import ROWS, Coding
from engine.record.layout import ExpertSpec
from engine.store.datafile import TensorShape
from engine.store.table import stays
from engine.store.writer import LayerShape
from engine.translatable import msg

WORKERS = 8  # threads that read and quantize: these outrun any disk
TORCH_WORKERS = 4  # of torch's code; more of them wait for one another
MEMORY = 1_400_000_000  # bytes that all experts under way may take together


def encoded(
    source: WeightSource,
    plan: ExpertPlan,
    parts: Sequence[ImportPart],
    supply: StreamSource | None,
    rest: Callable[[], None],
) -> Iterator[tuple[ImportPart, EncodedExpert | None]]:
    """Each part once it is ready, experts encoded; never more of these at once than MEMORY allows.

    supply: None where all weights are there. rest: called before each expert is begun.
    """
    specs = {part.layer.spec for part in parts if part.layer is not None}
    workers = _workers(specs) if specs else 1
    under_way: deque[tuple[ImportPart, Future[EncodedExpert]]] = deque()
    pool = ThreadPoolExecutor(workers, "quantize", give_way)
    try:
        for part in parts:
            # Parts come in the order of the download: what has been encoded meanwhile is handed over, or its memory
            # would be held for as long as the network takes.
            while supply is not None and not supply.ready(part):
                if under_way and under_way[0][1].done():
                    yield _first(under_way)
                else:
                    supply.wait(idle=not under_way)
            if part.layer is None:
                yield part, None
                continue
            if len(under_way) == workers:
                yield _first(under_way)
            rest()
            under_way.append((part, pool.submit(_encode, source, plan, part.layer, part.expert)))
        while under_way:
            yield _first(under_way)
    finally:
        # Waits: the workers read from `source`, which the caller may close next.
        pool.shutdown(wait=True, cancel_futures=True)


def _first(under_way: deque[tuple[ImportPart, Future[EncodedExpert]]]) -> tuple[ImportPart, EncodedExpert]:
    """Wait for the oldest and let go of it: a record may be hundreds of megabytes."""
    part, future = under_way.popleft()
    return part, future.result()


def _encode(source: WeightSource, plan: ExpertPlan, x: LayerShape, expert: int) -> EncodedExpert:
    kept = [m.name for m in x.spec.matrices] if x.spec.codings else ()
    return encode(ExpertMatrices(source, plan.all_layers[x.index][expert], kept), x.spec, x.index, expert)


def _workers(specs: set[ExpertSpec]) -> int:
    """Threads for experts of these specs: one more than compute, to read meanwhile."""
    most = min(WORKERS, default_threads() + 1)
    if any(spec.codings for spec in specs):
        most = min(TORCH_WORKERS, default_threads())
    return max(1, min(most, MEMORY // max(_footprint(spec) for spec in specs)))


def _footprint(spec: ExpertSpec) -> int:
    """About how many bytes encoding one expert takes: its record, and a matrix as it was read and as it is encoded.

    Taking codes apart and fitting coarse scales to them takes a few copies in float32.
    """
    each = 24 if spec.codings else 8
    return spec.layout.nbytes + each * spec.hidden * spec.intermediate


EXACT = 4  # the finest tier of a store of such matrices, of 4 bits and of 6
CHUNK = 8 << 20  # codes that are read at once, and bytes that are written
_HEAD = re.compile(r"(^|\.)lm_head\.weight$")
_TABLE = re.compile(r"(?:^|\.)embed_tokens(_per_layer)?\.weight$")
GROUPS = (64, 32, 16)  # columns per group of what is quantized here; the widest that divides a width is taken


def keeps(source: WeightSource, top: int, group: int | None) -> bool:
    """Whether codes are kept at all: of a source of about 4 bits, unless finer bits or other groups were asked for."""
    return top in (0, EXACT) and group is None and suited(source.form.bits) == EXACT


def codings(source: WeightSource, plan: ExpertPlan) -> dict[int, tuple[Coding, ...]]:
    """By MoE layer, how each matrix of its experts is coded in the store; only layers where any keeps its codes.

    A matrix that is not coded the same in all experts of its layer is quantized anew. So are gate and up where their
    groups differ: they meet the same activation, which is rounded in these groups.
    """
    names = ("gate", "up", "down") if plan.has_gate else ("up", "down")
    found = {layer: _layer(source, experts, names) for layer, experts in plan.all_layers.items()}
    return {layer: own for layer, own in found.items() if own}


def dense_shapes(source: WeightSource, plan: ExpertPlan, kept: bool) -> list[TensorShape]:
    """How each tensor beside the experts is stored. kept: whether codes are.

    A large table of which rows are looked up and nothing else stays on the disk, where rows have to be whole: as
    float16, which rounds by 0.0002.
    """
    shapes = [TensorShape(e.name, e.dtype, e.shape) for e in map(source.entry, plan.dense)]
    if not kept:
        return shapes
    head = any(_HEAD.search(name) for name in plan.dense)
    return [_kept_shape(source, shape, head) for shape in shapes]


def vision_shapes(source: WeightSource, plan: ExpertPlan) -> list[TensorShape]:
    """How each tensor that the model sees with is stored: as it comes."""
    return [TensorShape(e.name, e.dtype, e.shape) for e in map(source.entry, plan.vision)]


def _kept_shape(source: WeightSource, shape: TensorShape, head: bool) -> TensorShape:
    coded = source.coded(shape.name)
    if coded is None or len(shape.shape) != 2 or shape.shape[1] % coded.coding.group:
        return shape
    table = _TABLE.search(shape.name)
    if table is not None and (head or table.group(1)) and stays(shape.shape):
        return replace(shape, dtype="F16")
    return replace(shape, dtype="F32", coding=coded.coding)


def dense_chunks(source: WeightSource, shape: TensorShape) -> Iterator[memoryview]:
    """The bytes of a tensor beside the experts as they are stored; each chunk may be overwritten by the next.

    Raises UnderhillError: BROKEN_FILE where a scale is no number, and what reading the source raises.
    """
    coded = source.coded(shape.name)
    if coded is None or (shape.coding is None and shape.dtype == source.entry(shape.name).dtype):
        yield from source.chunks(shape.name)
        return
    rows, cols = shape.shape
    step = max(ROWS, CHUNK // cols // ROWS * ROWS)
    blocks = (coded.grouped(at, min(at + step, rows)) for at in range(0, rows, step))
    if shape.coding is None:
        for block in blocks:
            yield memoryview(block.values().half().view(torch.uint8).reshape(-1).numpy().data)
        return
    try:
        data = pack_dense(shape.coding, rows, cols, blocks)
    except NotFinite as cause:
        raise damaged_checkpoint(msg("The weights of {name} are not finite numbers.", name=shape.name)) from cause
    for part in data.split(CHUNK):
        yield memoryview(part.numpy().data)


def _layer(source: WeightSource, experts: Sequence[ExpertPieces], names: tuple[str, ...]) -> tuple[Coding, ...]:
    own = [_common(source, experts, name) for name in names]
    widths = {name: source_columns(source, experts[0], name) for name in names}
    groups = {coding.group for coding in own[:-1] if coding is not None}
    if len(groups) > 1:
        # See the docstring of `codings`: gate and up share the activation, rounded to 8 bits in groups of these
        # columns.
        own[:-1] = [None] * len(own[:-1])
    if not any(own):
        return ()
    first = groups.pop() if len(groups) == 1 else _widest(widths["up"])
    anew = [Coding(4, first, "pair", "plain")] * (len(own) - 1) + [Coding(4, _widest(widths["down"]), "pair", "plain")]
    return tuple(kept or other for kept, other in zip(own, anew, strict=True))


def _common(source: WeightSource, experts: Sequence[ExpertPieces], name: str) -> Coding | None:
    """How matrix `name` of all these experts is coded; None where that differs, or no record can say it."""
    kinds: set[Coding | None] = set()
    for expert in experts:
        coded = coded_piece(source, expert.matrices[name])
        kinds.add(None if coded is None else coded.coding)
        if len(kinds) > 1 or None in kinds:
            return None
    coding = kinds.pop()
    assert coding is not None
    return coding if source_columns(source, experts[0], name) % coding.group == 0 else None


def source_columns(source: WeightSource, expert: ExpertPieces, name: str) -> int:
    """Columns of a matrix."""
    return piece_shape(source, expert.matrices[name])[-1]


def _widest(columns: int) -> int:
    return next((g for g in GROUPS if columns % g == 0), GROUPS[-1])
