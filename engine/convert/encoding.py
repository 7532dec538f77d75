"""Experts quantized on several threads, a few at a time, in the order in which their weights are there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from engine.convert.parts import ImportPart
from engine.convert.pieces import ExpertMatrices, ExpertPlan
from engine.formats.source import WeightSource
from engine.hardware.processor import give_way
from engine.native.library import default_threads
from engine.quantization import encoder
from engine.quantization.planes import EncodedExpert, encode
from engine.store.layout import ExpertSpec
from engine.store.writer import LayerShape

WORKERS = 8  # threads that read and quantize: these outrun any disk
TORCH_WORKERS = 4  # of torch's code; more of them wait for one another
MEMORY = 1_400_000_000  # bytes that all experts under way may take together


class Supply(Protocol):
    """Whether the weights of a part can be read already."""

    def ready(self, part: ImportPart) -> bool:
        """Whether they can."""

    def wait(self, idle: bool) -> None:
        """Wait a moment. idle: no part is being encoded."""


def encoded(
    source: WeightSource, plan: ExpertPlan, parts: Sequence[ImportPart], supply: Supply | None, rest: Callable[[], None]
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
        pool.shutdown(wait=True, cancel_futures=True)


def _first(under_way: deque[tuple[ImportPart, Future[EncodedExpert]]]) -> tuple[ImportPart, EncodedExpert]:
    """Wait for the oldest and let go of it: a record may be hundreds of megabytes."""
    part, future = under_way.popleft()
    return part, future.result()


def _encode(source: WeightSource, plan: ExpertPlan, x: LayerShape, expert: int) -> EncodedExpert:
    kept = [m.name for m in x.spec.matrices] if x.spec.codings else ()
    return encode(ExpertMatrices(source, plan.layers[x.index][expert], kept), x.spec, x.index, expert)


def _workers(specs: set[ExpertSpec]) -> int:
    """Threads for experts of these specs: one more than compute, to read meanwhile."""
    most = min(WORKERS, default_threads() + 1)
    if any(encoder.name(spec) == "torch" or spec.codings for spec in specs):
        most = min(TORCH_WORKERS, default_threads())
    return max(1, min(most, MEMORY // max(_footprint(spec) for spec in specs)))


def _footprint(spec: ExpertSpec) -> int:
    """About how many bytes encoding one expert takes: its record, and a matrix as it was read and as it is encoded.

    torch takes a few copies in float32, and so does taking codes apart and fitting coarse scales to them.
    """
    each = 24 if spec.codings else 12 if encoder.name(spec) == "torch" else 8
    return spec.layout.nbytes + each * spec.hidden * spec.intermediate
