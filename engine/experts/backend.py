"""The interface between a decoder and the expert runtime: one call per MoE layer."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor

from engine.kernels.native import GraphLayer, NativeKernel
from engine.kernels.scratch_pool import SCRATCH
from engine.native.op_graph import MOST_ROWS, GraphStep, OpGraph

T = TypeVar("T")


class ExpertBackend(Protocol):
    """Runs the routed experts of MoE layer `layer` (the model's own layer index)."""

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        """Weighted sum over the selected experts.

        x: [T, H] float32, the experts' input. ids: [T, K] int64. weights: [T, K] float32, final (renormalized,
        scaled). Returns [T, H] float32: sum_k weights[t, k] * expert[ids[t, k]](x[t]), added in the order of k,
        so that the result does not depend on what was cached.
        """


class ExpertCall(NamedTuple):
    """What `moe` is given."""

    layer: int
    x: Tensor
    ids: Tensor
    weights: Tensor


# Tokens on their way through the layers: they stop at each call of experts, and go on with its answer.
ExpertPass = Generator[ExpertCall, Tensor, T]


def run_side_by_side(backend: ExpertBackend, passes: Sequence[ExpertPass[T]]) -> list[T]:
    """What each of them returns. They go through the same layers, and each layer's experts are called once for all.

    To each pass the answers are those that it has alone, as far as the backend computes rows independently of others.
    """
    resume = [one.__next__ for one in passes]
    while True:
        calls, ended = [], []
        for go_on in resume:
            try:
                calls.append(go_on())
            except StopIteration as end:
                ended.append(end.value)
        if ended:
            return ended
        answers = _answered(backend, calls)
        resume = [partial(one.send, answer) for one, answer in zip(passes, answers, strict=True)]


def _answered(backend: ExpertBackend, calls: Sequence[ExpertCall]) -> Sequence[Tensor]:
    if len(calls) == 1:
        return (backend.moe(*calls[0]),)
    layer, first = calls[0].layer, calls[0].x
    sizes = [len(call.x) for call in calls]
    x = torch.cat([call.x for call in calls], out=SCRATCH.like(first, sum(sizes), first.shape[1]))
    ids, weights = torch.cat([call.ids for call in calls]), torch.cat([call.weights for call in calls])
    return backend.moe(layer, x, ids, weights).split(sizes)


class Step:
    """Where a few tokens hand over their experts and find the answer: fixed memory, made once, used by many layers.

    x: [T, H] float32. ids: [T, K] int64. weights: [T, K] float32. y: [T, H] float32, the answer, written over.
    Raises ValueError unless all are contiguous and in ordinary memory. addresses: of ids, weights, x and y.
    given: the last token's x [H] once more, for numpy. chosen: what the router chose [T * K], quick to read. route: of
    the native op that chose and can weigh others, so that these may stand in for what is missing, and are then found in
    ids and weights; 0: none do.
    """

    def __init__(
        self, x: Tensor, ids: Tensor, weights: Tensor, y: Tensor, *, chosen: Tensor | None = None, route: int = 0
    ) -> None:
        """chosen: int64 [T, K], where what runs may differ from it."""
        # Native code is given bare addresses of these for every layer and checks nothing: what is checked here, once,
        # is all that keeps it from reading beyond them.
        wanted = {"x": torch.float32, "ids": torch.int64, "weights": torch.float32, "y": torch.float32}
        for (name, dtype), tensor in zip(wanted.items(), (x, ids, weights, y), strict=True):
            if tensor.dtype != dtype or not tensor.is_contiguous() or tensor.device.type != "cpu":
                raise ValueError(f"{name} must be contiguous {dtype} in ordinary memory")
            if tensor.dim() != 2 or not 0 < tensor.shape[0] <= MOST_ROWS:
                raise ValueError(f"{name} is {tuple(tensor.shape)}; a step is 1 to {MOST_ROWS} tokens")
        if x.shape != y.shape or ids.shape != weights.shape or len(x) != len(ids):
            raise ValueError("x and y, and ids and weights, must be of one shape, and all of as many tokens")
        self.x, self.ids, self.weights, self.y = x, ids, weights, y
        (self.tokens, self.hidden), self.k = x.shape, ids.shape[1]
        self.given, self.chosen = x[-1].numpy(), (ids if chosen is None else chosen).flatten().numpy().data
        self.route = route
        # Taken once for all layers and tokens: the four tensors are kept above, and are never resized.
        self.addresses = (ids.data_ptr(), weights.data_ptr(), x.data_ptr(), y.data_ptr())

    @classmethod
    def of(cls, hidden: int, k: int, tokens: int = 1) -> Step:
        """One with memory of its own."""
        x, y = torch.zeros(tokens, hidden), torch.zeros(tokens, hidden)
        return cls(x, torch.zeros(tokens, k, dtype=torch.int64), torch.zeros(tokens, k), y)


class GraphLayers:
    """Ops of a few tokens, and what the experts behind each graph of them are asked, as native code takes them.

    asked: by graph, the model's own layer index and what is asked for one token; None: no experts follow. packed: with
    the head at the end, if there is one.
    """

    def __init__(
        self,
        kernel: NativeKernel,
        graphs: Sequence[OpGraph],
        asked: Sequence[tuple[int, Step] | None],
        *,
        head: OpGraph | None = None,
    ) -> None:
        """head: what follows the last graph, and runs in its call where a step is `with_head`."""
        self._kernel, self._count = kernel, len(graphs)
        self._graphs = (*graphs, *([] if head is None else [head]))  # these own the memory of the ops
        self.asked = (*asked, *([] if head is None else [None]))
        self.packed = (GraphLayer * len(self._graphs))()
        for at, graph in enumerate(self._graphs):
            self.packed[at].ops, self.packed[at].n_ops = graph.address, graph.length
            if (own := self.asked[at]) is not None:
                layer = self.packed[at]
                # Of several tokens, what the first is asked is where all of it begins.
                layer.ids, layer.weights, layer.x, layer.y = own[1].addresses
                layer.k = own[1].k
                layer.route = own[1].route

    def count(self, step: GraphStep) -> int:
        """Graphs that a step goes through."""
        return len(self._graphs) if step.with_head else self._count

    def run_one(self, at: int, step: GraphStep) -> int:
        """Run this graph alone; returns its number. Raises what NativeKernel.run_graph raises."""
        self._kernel.run_graph(self._graphs[at], step)
        return at


@runtime_checkable
class Stepper(Protocol):
    """A backend with a short way for a few tokens."""

    def moe_step(self, layer: int, step: Step) -> None:
        """step.y = moe(layer, step.x, step.ids, step.weights), to the last bit."""

    def run_layers(self, layers: GraphLayers, at: int, step: GraphStep) -> int:
        """Run graph number `at`, and go on with experts and graphs as far as nothing has to be waited for.

        Returns the number of the graph that ran last: the experts behind it have not been asked. GraphLayers.run_one
        does for whoever goes no further.
        """


def stepper(backend: ExpertBackend) -> Stepper:
    """The backend itself where it has a short way, else its `moe` behind the same call."""
    return backend if isinstance(backend, Stepper) else _ByMoe(backend)


class _ByMoe:
    def __init__(self, backend: ExpertBackend) -> None:
        self._backend = backend

    def moe_step(self, layer: int, step: Step) -> None:
        """See Stepper.moe_step."""
        step.y.copy_(self._backend.moe(layer, step.x, step.ids, step.weights))

    def run_layers(self, layers: GraphLayers, at: int, step: GraphStep) -> int:
        """See Stepper.run_layers."""
        return layers.run_one(at, step)
