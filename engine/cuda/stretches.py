"""Layers of a single token on the card one after the other, experts included, without the processor in between.

The card looks the router's choice up in a table of what lies there. It goes on until a layer lacks an expert; what it
does behind that is of no use, and is left where it is. All that ordinary memory keeps of a token comes back in one
copy: keys and values of every layer, and what the next layer's experts are asked with, or the logits.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from contextlib import suppress
from ctypes import c_int32, c_uint64, c_void_p
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.cuda.commands import CommandList
from engine.cuda.device import CardDevice
from engine.cuda.errors import CardError
from engine.cuda.expert_kernels import ExpertKernels
from engine.cuda.expert_table import ExpertTable
from engine.cuda.layer_runs import KEPT, Asked, LayerRun, kept_shape, tensors_of
from engine.cuda.layers import CardCopy, CardLayers
from engine.cuda.operands import BLOCK
from engine.kernels.activation import Activation
from engine.kernels.native import EXPERT, NativeKernel
from engine.native.op_graph import GraphStep
from engine.record.layout import ExpertSpec

MOST_CHOSEN = BLOCK  # experts of a token that uh_find looks up
SPANS = 4  # of uh_keep
_KEEPERS = 8  # blocks of uh_keep
_LINE = 64
MOST_KNOWN = 64  # stretches that are kept ready
OFTEN = 8  # times after which one becomes a graph: to make it takes as long as some tokens
_NOBODY = -2  # no layer's number


class _Spans(ctypes.Structure):
    # As uh_spans.
    _fields_ = tuple((name, c_int32 * SPANS) for name in ("start", "to", "words"))


class _Part(ctypes.Structure):
    # As uh_card_part.
    _fields_ = (("ops", c_void_p), ("kept", c_void_p), ("n_ops", c_int32), ("n_kept", c_int32))


class _Stretch(ctypes.Structure):
    # As uh_card_stretch.
    _fields_ = (
        *(
            (n, c_void_p)
            for n in ("run", "graph", "commands", "parts", "ends", "lacking", "out", "answer", "came", "log")
        ),
        *((n, c_int32) for n in ("n_commands", "first_part", "end", "layers", "n_out", "n_answer")),
    )


class ExpertLayer(NamedTuple):
    """The experts of a layer, all of one shape. first: the number of the first of them in an ExpertTable."""

    spec: ExpertSpec
    activation: Activation
    first: int


class _Logged(NamedTuple):
    """What ordinary memory keeps of a run: where in the frame, in the log, and for how many bytes; and where here."""

    offset: int
    at: int
    nbytes: int
    host: int


@dataclass
class _Made:
    """A stretch. commands: what native code hands on; behind the graph, if there is one. times: it was asked for."""

    commands: CommandList
    times: int = 0
    graph: int | None = None
    stretch: _Stretch = field(default_factory=_Stretch)


class CardStretches:
    """Stretches of layers. Used by the thread that runs the model; nothing else may use the card's compute stream
    meanwhile. layers: with experts.
    """

    def __init__(
        self, device: CardDevice, ptx: bytes, runs: CardLayers, kernels: ExpertKernels, *,
        table: ExpertTable, asked: Sequence[Asked], experts: Mapping[int, ExpertLayer],
    ) -> None:  # fmt: skip
        """runs: all ops of the model (layer_runs.whole_runs). asked: by layer, in their order. experts: of each.
        Raises CardError."""
        self._device, self._ptx, self._runs, self._kernels, self._table = device, ptx, runs, kernels, table
        self._asked, self._experts, self.layers = asked, experts, len(asked)
        self._by_layer = self._runs_by_layer()
        self._find, self._keep = (device.kernel(ptx, name) for name in ("uh_find", "uh_keep"))
        self._listed = device.memory(EXPERT.size * max(own.ids.shape[1] for own in asked))
        self._lay_out_log()
        self._ends = (c_int32 * (self.layers + 1))(*np.cumsum([len(own) for own in self._by_layer]).tolist())
        spans = runs.back_spans([run for own in self._by_layer[: self.layers] for run in own])
        self._start, end = min(at for *_, at in spans), max(at + to - start for start, to, at in spans)
        self._words = (end - self._start) // 4
        self._saved = device.memory(4 * self._words)
        self._out = runs.copies_of([(start, to, at - self._start) for start, to, at in spans])
        answer = runs.back_spans([self._by_layer[-1][-1]])
        self._answer_at = min(at for *_, at in answer)
        self._answer_bytes = max(at + to - start for start, to, at in answer) - self._answer_at
        self._came, behind = device.pinned(4 * self._words + self._answer_bytes), 4 * self._words - self._answer_at
        self._answer = runs.copies_of([(start, to, at + behind) for start, to, at in answer])
        self._lacking = device.pinned(4)
        # Both come back whole, with what lies between their vectors.
        for there, here, nbytes in (
            (self._saved, self._came, 4 * self._words),
            (self._log, self._log_came, self._log_bytes),
        ):
            ctypes.memset(here, 0, nbytes)
            device.driver.copy_in(there, here, nbytes, device.compute)
        device.driver.synchronize(device.compute)
        self._pieces: dict[tuple[int, bool | None], CommandList] = {}
        self._known: dict[tuple[int, int], _Made] = {}  # the one that was used last at the end
        device.on_close(self._clear)

    def _runs_by_layer(self) -> list[list[LayerRun]]:
        """What is run in front of each layer's experts, and behind the last ones."""
        graphs = list(dict.fromkeys(run.graph for run in self._runs.runs))
        found: list[list[LayerRun]] = [[] for _ in range(self.layers + 1)]
        for run in self._runs.runs:
            found[min(graphs.index(run.graph), self.layers)].append(run)
        return found

    def _lay_out_log(self) -> None:
        self._logged: dict[LayerRun, list[_Logged]] = {}
        self._choices: list[tuple[int, int]] = []  # by layer, where the log has its ids and weights
        at = 0
        for layer, runs in enumerate(self._by_layer):
            for run in runs:
                kept = self._logged[run] = []
                for offset, nbytes, host in self._kept_of(run):
                    kept.append(_Logged(offset, at, nbytes, host))
                    at += -(-nbytes // _LINE) * _LINE
            if layer < self.layers:
                asked = self._asked[layer]
                for tensor in (asked.ids, asked.weights):
                    nbytes = tensor.element_size() * tensor.shape[1]
                    self._logged[runs[-1]].append(_Logged(self._runs.offset(tensor), at, nbytes, 0))
                    at += -(-nbytes // _LINE) * _LINE
                self._choices.append((self._logged[runs[-1]][-2].at, self._logged[runs[-1]][-1].at))
        self._log_bytes = at
        self._log, self._log_came = self._device.memory(at), self._device.pinned(at)
        parts = [(run, [own for own in self._logged[run] if own.host]) for runs in self._by_layer for run in runs]
        self._kept_copies = [
            (CardCopy * len(kept))(*(CardCopy(own.host, own.at, own.nbytes) for own in kept)) for _, kept in parts
        ]
        self._parts = (_Part * len(parts))(
            *(
                _Part(run.graph.address_of(run.start), ctypes.addressof(copies), run.end - run.start, len(copies))
                for (run, _), copies in zip(parts, self._kept_copies, strict=True)
            )
        )

    def _kept_of(self, run: LayerRun) -> list[tuple[int, int, int]]:
        """What goes to a sequence's rows: where in the frame, how many bytes, and where here."""
        found = []
        for op in run.ops:
            if op.kind not in KEPT:
                continue
            _, heads, dim = kept_shape(op)
            for tensor in tensors_of(op, KEPT[op.kind]):
                # Keys lie behind the queries that they were projected with.
                before = 4 * op.number("heads") * dim if tensor is op.values.get("projected") else 0
                found.append((self._runs.offset(tensor) + before, 4 * heads * dim, tensor.data_ptr() + before))
        return found

    # ---- commands ---------------------------------------------------------------------------------------------------

    def commands(self, first: int, end: int) -> CommandList:
        """What the card does from a layer on, up to the experts of layer `end`; `layers`: all of it. Valid as long as
        this lives."""
        commands, runs = CommandList(), self._runs
        runs.write_in(commands)
        for layer in range(first, end + 1):
            for piece in (self._ops(layer, layer == end), *([] if layer == end else [self._experts_of(layer)])):
                for command in piece.packed():
                    commands.again(command)
        if end == self.layers:
            answer = self._came + 4 * self._words
            commands.copy_out(answer, runs.frame + self._answer_at, self._answer_bytes)
        commands.copy_out(self._came, self._saved, 4 * self._words)
        logged = [own for layer in range(first, end + 1) for run in self._by_layer[layer] for own in self._logged[run]]
        if logged:
            start, stop = logged[0].at, logged[-1].at + logged[-1].nbytes
            commands.copy_out(self._log_came + start, self._log + start, stop - start)
        commands.copy_out(self._lacking, runs.lacking, 4)
        return commands

    def _ops(self, layer: int, last: bool) -> CommandList:
        """What comes in front of a layer's experts. last: of a stretch."""
        if (layer, last) not in self._pieces:
            commands = self._pieces[layer, last] = CommandList()
            for at, run in enumerate(self._by_layer[layer], 1):
                self._runs.write_ops(commands, run)
                self._write_keep(commands, run, layer if at == len(self._by_layer[layer]) else _NOBODY, last)
        return self._pieces[layer, last]

    def _experts_of(self, layer: int) -> CommandList:
        if (layer, None) not in self._pieces:
            self._write_experts(self._pieces.setdefault((layer, None), CommandList()), layer)
        return self._pieces[layer, None]

    def _made(self, first: int, end: int) -> _Made:
        """A stretch as native code takes it; of those that come again and again, as a graph."""
        made = self._known.pop((first, end), None)
        if made is None:
            while len(self._known) >= MOST_KNOWN:
                self._forget(next(iter(self._known)))
            made = _Made(self.commands(first, end))
            self._runs.write_end(made.commands)
        self._known[first, end] = made  # the one that was used last
        made.times += 1
        if made.times == OFTEN:
            made.graph = self._device.driver.graph_of(self.commands(first, end), self._device.compute)
        if made.times in (1, OFTEN):
            if made.graph is not None:
                made.commands = CommandList()
                self._runs.write_end(made.commands)
            packed, runs = made.commands.packed(), self._runs
            made.stretch = _Stretch(
                runs.run_address(self._by_layer[first][0]), made.graph, ctypes.addressof(packed),
                ctypes.addressof(self._parts), ctypes.addressof(self._ends), self._lacking, ctypes.addressof(self._out),
                ctypes.addressof(self._answer), self._came, self._log_came, len(packed),
                self._ends[first - 1] if first else 0, end, self.layers, len(self._out), len(self._answer),
            )  # fmt: skip
        return made

    def _forget(self, known: tuple[int, int]) -> None:
        graph = self._known.pop(known).graph
        if graph is not None:
            self._device.driver.destroy_graph(graph)

    def _clear(self) -> None:
        """The card is closed: what is lost with it is no error."""
        for known in tuple(self._known):
            with suppress(CardError):
                self._forget(known)

    def _write_keep(self, commands: CommandList, run: LayerRun, layer: int, last: bool) -> None:
        """Behind a run. layer: whose experts come next; _NOBODY: another run does. last: of the stretch."""
        logged = self._logged[run]
        if layer != _NOBODY and layer < self.layers:
            asked = self._asked[layer]
            there = self._table.address(self._experts[asked.layer].first)
            k = c_int32(asked.ids.shape[1])
            places = (c_uint64(at) for at in (self._runs.place(asked.ids), there, self._listed, self._runs.lacking))
            commands.launch(self._find, (1, 1, 1), BLOCK, (*places, c_int32(layer), k))
        elif not logged:
            return
        # The last of a stretch is kept whether or not its experts are there, which are not computed then.
        last = last and layer < self.layers
        for at in range(0, max(1, len(logged)), SPANS):
            spans, some = _Spans(), logged[at : at + SPANS]
            for i, own in enumerate(some):
                spans.start[i], spans.to[i], spans.words[i] = own.offset // 4, own.at // 4, own.nbytes // 4
            # Whole vectors go with the first of them.
            whole = (layer if not at else _NOBODY, int(last and not at), self._words)
            places = (c_uint64(at) for at in (self._runs.frame, self._log, self._saved, self._runs.lacking))
            numbers = (*map(c_int32, (*whole, self._start // 4)),)
            commands.launch(self._keep, (_KEEPERS, 1, 1), BLOCK, (spans, *places, *numbers))

    def _write_experts(self, commands: CommandList, layer: int) -> None:
        asked = self._asked[layer]
        own = self._experts[asked.layer]
        x, weights, y = (self._runs.place(tensor) for tensor in (asked.x, asked.weights, asked.y))
        self._kernels.write_token(
            commands, own.spec, own.activation, asked.ids.shape[1], x=x, listed=self._listed, weights=weights, y=y
        )

    # ---- in use -----------------------------------------------------------------------------------------------------

    def run(self, kernel: NativeKernel, step: GraphStep, first: int, end: int) -> int:
        """Compute from a layer on, at most up to the experts of layer `end`, which is `layers` for all of it.

        Returns the layer whose experts are to be computed next, for which all is in ordinary memory; `layers`: none,
        the logits are there; -1: nothing was done, as the card failed or has no room for the token. Raises CardError.
        """
        return kernel.run_stretch(ctypes.addressof(self._made(first, end).stretch), step)

    def chosen(self, layer: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The ids [K] and weights [K] of a layer that was computed last, in memory that is written over."""
        k = self._asked[layer].ids.shape[1]
        ids, weights = (self._log_came + at for at in self._choices[layer])
        return (
            np.ctypeslib.as_array((ctypes.c_int64 * k).from_address(ids)),
            np.ctypeslib.as_array((ctypes.c_float * k).from_address(weights)),
        )
