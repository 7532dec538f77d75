"""Collects the ops of a decoder: fixed memory for what passes between them, and where the experts come in between.

All of it has a row for each of MOST_ROWS tokens, of which a step uses the first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from engine.experts.backend import Step
from engine.kernels.dense import raw_view
from engine.models.layers.linear import Linear
from engine.models.layers.norms import Norm
from engine.models.layers.rope import rope_frequencies
from engine.models.spec import RopeSpec
from engine.native import mixer_ops, op_graph
from engine.native.library import MatrixView
from engine.native.op_graph import MOST_ROWS, Op, OpGraph, OpKind

LINE = 16  # floats of a cache line: whatever is written by turns starts on its own


class UnsupportedOp(Exception):
    """This decoder has no op graph: the message says what of it, as the rest of 'not native: ...'."""


@dataclass(frozen=True)
class Segment:
    """Ops run in one call, and what the experts are then asked: the model's own layer index and where.

    steps: by tokens less one; none where no experts follow.
    """

    graph: OpGraph
    layer: int = -1
    steps: tuple[Step, ...] = ()


class RopeCache:
    """Cosines and sines of one rotary embedding at the running tokens. Some change with the sequence's length."""

    def __init__(self, spec: RopeSpec) -> None:
        self.spec = spec
        self.frequencies = torch.zeros(spec.dim // 2 + 1)
        self.cosines, self.sines = torch.zeros(MOST_ROWS, spec.dim // 2), torch.zeros(MOST_ROWS, spec.dim // 2)
        self._stretched = spec.scaling is not None and spec.scaling.kind in ("dynamic", "longrope")
        self._horizon = -1

    def stretch(self, horizon: int) -> int:
        """The same number for sequences that turn by the same frequencies when they reach so many tokens."""
        scaling = self.spec.scaling
        if scaling is None or not self._stretched:
            return 0
        return max(horizon, scaling.max_position) if scaling.kind == "dynamic" else int(horizon > scaling.original)

    def reach(self, horizon: int) -> None:
        """The sequence reaches so many tokens."""
        if self._horizon == -1 or (self._stretched and horizon != self._horizon):
            frequencies, factor = rope_frequencies(self.spec, horizon)
            self.frequencies[:-1] = frequencies
            self.frequencies[-1] = factor
            self._horizon = horizon


class GraphBuilder:
    """Collects ops in order. x: [MOST_ROWS, hidden], the residual stream."""

    def __init__(self, hidden: int) -> None:
        self.hidden = hidden
        self.segments: list[Segment] = []
        self.rope_caches: dict[RopeSpec, RopeCache] = {}
        self.recurrent: list[Op] = []  # of all ops those that move a recurrent state on
        self._ops: list[Op] = []
        self._memory: dict[tuple[str, int], Tensor] = {}
        self._kept: list[Linear] = []
        self._held: list[Tensor] = []
        self.x = self.floats("x", hidden)

    def add(self, op: Op) -> None:
        """One more op."""
        self._ops.append(op)

    def add_recurrent(self, op: Op) -> None:
        """The same of an op that moves a recurrent state on. What it is given lies in memory of its own, so that it can
        run again once the layers behind it have run."""
        self.recurrent.append(op)
        self.add(op)

    def floats(self, name: str, size: int) -> Tensor:
        """Memory [MOST_ROWS, size]: the same for the same name and size, since one layer runs after the other.

        Rows lie close together, so that those of several tokens are one matrix. Pages are the system's zeros (numpy
        calls calloc), so that rows that no step has used yet take no memory.
        """
        known = self._memory.get((name, size))
        if known is None:
            whole = torch.from_numpy(np.zeros(MOST_ROWS * size + LINE, np.float32))
            # On a cache line, whatever the allocator does: a vector that lies over two lines costs a second load.
            start = -whole.data_ptr() // 4 % LINE
            known = self._memory[name, size] = whole[start : start + MOST_ROWS * size].view(MOST_ROWS, size)
        return known

    def whole_numbers(self, name: str, size: int) -> Tensor:
        """Memory for int64 [MOST_ROWS, size], in the same way."""
        return self.floats(name, 2 * size).view(torch.int64)

    def norm(self, norm: Norm, x: Tensor, name: str) -> Tensor:
        """The normed x in the memory of that name; x itself where the norm leaves things as they are."""
        if norm.kind is None:
            return x
        out = self.floats(name, x.shape[1])
        self.add(op_graph.norm(x, out, norm.width, norm.eps, norm.scale, norm.bias))
        return out

    def linear(self, linear: Linear, x: Tensor, name: str) -> Tensor:
        """The product in the memory of that name."""
        views = linear.views()
        assert views, "a linear layer made for the kernel"
        self._kept.append(linear)
        out, at = self.floats(name, linear.out_features), 0
        for view in views:
            self.add(op_graph.linear(view, x, out[:, at : at + view.rows]))
            at += view.rows
        return out

    def product(self, view: MatrixView, x: Tensor, name: str) -> Tensor:
        """The product of a matrix that the caller keeps, in the memory of that name."""
        out = self.floats(name, view.rows)
        self.add(op_graph.linear(view, x, out))
        return out

    def exact_view(self, weight: Tensor, bias: Tensor | None) -> MatrixView:
        """A float32 or bf16 matrix as it is, or as bf16 where that holds the same values, which is half to read."""
        half = weight.bfloat16()
        held = half if torch.equal(half.float(), weight.float()) else weight
        held = held.contiguous()
        self._held.append(held)
        return raw_view(held, bias)

    def each(self, linear: Linear, heads: int, x: Tensor, x_step: int, name: str) -> Tensor:
        """The products of every head's own rows with its own x, one after the other in the memory of that name."""
        out = self.floats(name, linear.out_features)
        (view,) = linear.views()
        self._kept.append(linear)
        self.add(mixer_ops.each(view, heads, x, x_step, out, linear.out_features // heads))
        return out

    def rope(self, spec: RopeSpec) -> tuple[Tensor, Tensor]:
        """Cosines and sines [MOST_ROWS, dim / 2] of the tokens' positions."""
        known = self.rope_caches.setdefault(spec, RopeCache(spec))
        return known.cosines, known.sines

    def ask_experts(
        self, layer: int, x: Tensor, ids: Tensor, weights: Tensor, y: Tensor, chosen: Tensor | None = None
    ) -> None:
        """Here the experts of a layer are asked; what follows finds their answer in y.

        chosen: the router's own ids, where others may stand in for these.
        """
        graph = self.end()
        route = 0 if chosen is None else graph.address_of(max(graph.places(OpKind.ROUTE)))
        own = ids if chosen is None else chosen
        steps = tuple(
            Step(x[:n], ids[:n], weights[:n], y[:n], chosen=own[:n], route=route) for n in range(1, MOST_ROWS + 1)
        )
        self.segments.append(Segment(graph, layer, steps))

    def end(self) -> OpGraph:
        """The ops since the last experts, or since the last call."""
        ops, self._ops = self._ops, []
        return OpGraph(ops)

    def end_layers(self) -> None:
        """Here the last layer has ended: what was not yet in a segment makes one without experts."""
        self.segments.append(Segment(self.end()))
