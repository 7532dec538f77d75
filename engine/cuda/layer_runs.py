"""Which ops of a decoder a graphics card computes for single tokens, in which runs, and what they take there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from engine.cuda.head_matrices import nbytes_by_head
from engine.cuda.matrices import nbytes_of, supports
from engine.kernels.attending import KeptRows
from engine.native.library import MatrixView
from engine.native.op_graph import KINDS, NORMS, GraphStep, Op, OpGraph
from engine.native.op_slots import OpKind
from engine.native.route_op import SCORES

MOST_HEAD, HEAD_STEP = 256, 64  # widths of heads that there are kernels for
MOST_RANK, MOST_ROW, ROW_STEP = 512, 576, 8  # of latents, and of their rows: the same
MOST_EXPERTS, MOST_TAKEN = 1024, 64  # of uh_route
# By kind of op, which of its tensors are read and written for a token; the rest are weights, or the processor's room.
READ = {
    OpKind.NORM: ("x",), OpKind.LINEAR: ("x",), OpKind.ADD: ("x", "source"), OpKind.GATE: ("x", "gates"),
    OpKind.ACTIVATE: ("gates", "up"), OpKind.HEADS: ("projected", "cosines", "sines", "values"),
    OpKind.ATTEND: ("queries",), OpKind.ROUTE: ("logits",), OpKind.EACH: ("x",),
    OpKind.LATENT: ("queries", "row", "cosines", "sines"), OpKind.LATENT_ATTEND: ("in_latent", "rotary"),
}  # fmt: skip
WRITTEN = {
    OpKind.NORM: ("out",), OpKind.LINEAR: ("out",), OpKind.ADD: ("x",), OpKind.GATE: ("x",), OpKind.ACTIVATE: ("out",),
    OpKind.HEADS: ("projected", "values"), OpKind.ATTEND: ("out",), OpKind.ROUTE: ("ids", "weights"),
    OpKind.EACH: ("out",), OpKind.LATENT: ("queries", "row"), OpKind.LATENT_ATTEND: ("out",),
}  # fmt: skip
# By kind of op that finishes a token's rows, what goes to them: keys and values, or a latent.
KEPT = {OpKind.HEADS: ("projected", "values"), OpKind.LATENT: ("row",)}
ATTENTION = (OpKind.ATTEND, OpKind.LATENT_ATTEND)


class SequenceRows(Protocol):
    """What a sequence keeps (engine.models.layers.state.SequenceState). length: tokens whose rows are there."""

    length: int

    @property
    def rows(self) -> Sequence[KeptRows]:
        """Of the layers that keep any."""
        ...

    def prepared(self, tokens: int = 1) -> Sequence[int]:
        """Addresses for native code that takes it so many tokens further."""
        ...


class Asked(NamedTuple):
    """What the experts of a layer are asked with for a token, and where their answer goes: engine.experts.backend.Step.

    x, y: [1, H] float32. ids: [1, K] int64. weights: [1, K] float32. layer: the model's own index.
    """

    layer: int
    x: Tensor
    ids: Tensor
    weights: Tensor
    y: Tensor


@dataclass(frozen=True, kw_only=True)
class LayerPlaces:
    """The layers of an open model. graphs: all of its ops, in their order. asked: what experts are asked with, behind
    each of the first graphs. logits: what the last graph gives. tokens: whose rows may lie on the card. trial: makes a
    sequence of random rows. follow: told what to call before each single token; None: nothing. ahead: told what to call
    for stretches of layers (engine.models.op_graph.executor.GraphExecutor.run_ahead); None: nothing.
    """

    graphs: Sequence[OpGraph]
    asked: Sequence[Asked]
    logits: Tensor
    tokens: int
    kv_dtype: torch.dtype
    trial: Callable[[int], SequenceRows]
    follow: Callable[[Callable[[SequenceRows], None] | None], None]
    ahead: Callable[[Callable[[int, GraphStep], int] | None], None]

    def read_elsewhere(self, runs: Sequence[LayerRun]) -> list[Tensor]:
        """Vectors that are read by something else than these runs."""
        covered = {(id(run.graph), at) for run in runs for at in range(run.start, run.end)}
        others = [op for g in self.graphs for at, op in enumerate(g.ops) if (id(g), at) not in covered]
        asked = [own for asked in self.asked for own in (asked.x, asked.ids, asked.weights)]
        return [*asked, self.logits, *(t for op in others for t in op.tensors)]


class LayerRun(NamedTuple):
    """Ops start .. end - 1 of a graph, all of which there are kernels for."""

    graph: OpGraph
    start: int
    end: int

    @property
    def ops(self) -> tuple[Op, ...]:
        """They themselves."""
        return self.graph.ops[self.start : self.end]


def runs_of(graphs: Sequence[OpGraph]) -> list[LayerRun]:
    """The longest runs with attention in them that the card can compute."""
    return [run for graph in graphs for run in _cut(graph) if any(op.kind in ATTENTION for op in run.ops)]


def whole_runs(graphs: Sequence[OpGraph]) -> list[LayerRun]:
    """All ops as runs, if the card can compute all of them; else none."""
    runs = [run for graph in graphs for run in _cut(graph) if run.end > run.start]
    covered = sum(run.end - run.start for run in runs) == sum(len(graph.ops) for graph in graphs)
    return runs if covered and runs_of(graphs) else []


def _cut(graph: OpGraph) -> Iterator[LayerRun]:
    start, finished = 0, set[int]()
    kept: set[int] = set()  # storages of what the run leaves for rows, which ordinary memory writes behind the run
    for at, op in enumerate((*graph.ops, None)):
        if op is not None and kept & {storage_of(t) for t in tensors_of(op, WRITTEN.get(op.kind, ()))}:
            yield LayerRun(graph, start, at)
            start, finished, kept = at, set(), set()
        if op is not None and op.kind in KEPT and computes(op):
            finished.add(op.number("state"))
            kept |= {storage_of(t) for t in tensors_of(op, KEPT[op.kind])}
        # Rows that the token's own was not written to on the card are not met there.
        apart = op is not None and op.kind in ATTENTION and op.number("state") not in finished
        if op is None or apart or not computes(op):
            yield LayerRun(graph, start, at)
            start, finished, kept = at + 1, set(), set()


def computes(op: Op) -> bool:
    """Whether there is a kernel for it."""
    match op.kind:
        case OpKind.LINEAR:
            return op.view.kind >= 16 or supports(op.view)
        case OpKind.HEADS:
            early = NORMS[op.number("norm")] != "full" or not (op.number("norm_last") or op.number("reuse_keys"))
            return early and _fits(op.number("dim"))
        case OpKind.ATTEND:
            return _fits(op.number("dim"))
        case OpKind.EACH:
            close = op.number("out_step") * op.number("heads") == op.view.rows
            return close and (op.view.kind >= 16 or supports(op.view))
        case OpKind.LATENT | OpKind.LATENT_ATTEND:
            rank, rope = op.number("rank"), op.number("rope")
            return rank <= MOST_RANK and rank + rope <= MOST_ROW and not rank % 4 and not (rank + rope) % ROW_STEP
        case OpKind.ROUTE:
            plain = SCORES[op.number("score")] != "sparsemixer" and op.number("groups") == 1
            return plain and op.number("experts") <= MOST_EXPERTS and op.number("top_k") <= MOST_TAKEN
        case OpKind.ACTIVATE:
            return KINDS[op.number("activation")] != "gelu"  # of which kernels have another erfc
        case kind:
            return kind in READ


def _fits(dim: int) -> bool:
    return dim <= MOST_HEAD and dim % HEAD_STEP == 0


def kept_shape(op: Op) -> tuple[int, int, int]:
    """What an op that finishes rows keeps of a token: buffers, heads in each, and numbers of a head."""
    if op.kind is OpKind.LATENT:
        return 1, 1, op.number("rank") + op.number("rope")
    return 2, op.number("kv_heads"), op.number("dim")


def cache_bytes(runs: Sequence[LayerRun], tokens: int, kv_dtype: torch.dtype) -> int:
    """Bytes of the rows of so many tokens on the card."""
    kept = [kept_shape(op) for run in runs for op in run.ops if op.kind in KEPT]
    return sum(buffers * heads * dim for buffers, heads, dim in kept) * tokens * kv_dtype.itemsize


def weight_bytes(runs: Sequence[LayerRun]) -> int:
    """Bytes of the matrices on the card."""
    return sum(_matrix_of(op) for run in runs for op in run.ops)


def _matrix_of(op: Op) -> int:
    if op.kind is OpKind.EACH and op.view.kind < 16:
        return nbytes_by_head(op.view, op.number("heads"))
    return matrix_bytes(op.view) if op.kind in (OpKind.LINEAR, OpKind.EACH) else 0


def matrix_bytes(view: MatrixView) -> int:
    """Bytes of a matrix on the card."""
    return view.rows * view.cols * view.kind // 8 if view.kind >= 16 else nbytes_of(view)


def storage_of(tensor: Tensor) -> int:
    """The address of the memory that a tensor is a view of."""
    return tensor.untyped_storage().data_ptr()


def range_of(tensor: Tensor) -> tuple[int, int]:
    """Of a token's vector, in ordinary memory: the first row where there are several."""
    start = tensor.data_ptr()
    return start, start + tensor[0].numel() * tensor.element_size()


def tensors_of(op: Op, names: Sequence[str]) -> list[Tensor]:
    """Those of its tensors of these names that it has."""
    return [own for own in map(op.tensor, names) if own is not None]


def first_read(run: LayerRun) -> set[int]:
    """Storages that a run reads before it has written to them."""
    read: set[int] = set()
    written: set[int] = set()
    for op in run.ops:
        read |= {s for t in tensors_of(op, READ[op.kind]) if (s := storage_of(t)) not in written}
        written |= {storage_of(t) for t in tensors_of(op, WRITTEN[op.kind])}
    return read
