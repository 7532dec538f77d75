"""What of a layer is no expert, on the card for single tokens: norms, attention, shared experts, the router.

An op graph hands a run of ops to the card (native/src/card.h, uh_card_run): what they need of ordinary memory is copied
there, kernels compute them one after the other, and what others read later comes back, the token's own keys and values
with it. So ordinary memory has all that a sequence keeps, and a card that is lost loses nothing.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from contextlib import suppress
from ctypes import c_float, c_int32, c_int64, c_uint64, c_void_p
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from engine.cuda.commands import CommandList
from engine.cuda.device import CardDevice
from engine.cuda.errors import CardError
from engine.cuda.layer_runs import (
    KEPT,
    READ,
    WRITTEN,
    LayerRun,
    SequenceRows,
    first_read,
    matrix_bytes,
    range_of,
    storage_of,
    tensors_of,
    weight_bytes,
)
from engine.cuda.matrices import CardMatrices, CardMatrix, supports
from engine.cuda.operands import BLOCK
from engine.kernels.activation import Activation
from engine.kernels.native import expert_layout
from engine.native.op_graph import KINDS, NORMS, Op
from engine.native.op_slots import OpKind
from engine.record.layout import ExpertSpec

SPLITS = 16  # that the rows of a key head are split into
QUERIES = 8  # of a key head, that a block takes
_WARPS, _LINE = 4, 64


class CardCopy(ctypes.Structure):
    """Bytes of ordinary memory, and where they lie in what has come from the card."""

    # As uh_card_copy.
    _fields_ = (("host", c_void_p), ("at", c_int64), ("nbytes", c_int64))


class _Run(ctypes.Structure):
    # As uh_card_run.
    _fields_ = (
        *((name, c_void_p) for name in ("shared", "commands", "into", "out", "frame", "came", "position")),
        ("capacity", c_int64),
        *((name, c_int32) for name in ("n", "n_in", "n_out", "ops")),
    )


class _Finish(ctypes.Structure):
    # As uh_finish.
    _fields_ = (
        *((n, c_int32) for n in ("heads", "kv_heads", "dim", "norm", "norm_last", "half", "interleaved")),
        *((n, c_int32) for n in ("norm_values", "reuse_keys", "clips")),
        ("eps", c_float),
        ("limit", c_float),
    )


def _blocks(n: int) -> int:
    return -(-n // BLOCK)


@dataclass(frozen=True)
class _Made:
    """A run as native code takes it. kept: what it points to."""

    run: _Run
    kept: tuple[Any, ...]


@dataclass
class _Cache:
    """Keys, or values, of one layer on the card. heads, width: key heads, and bytes of one's row."""

    address: int
    heads: int
    width: int


@dataclass
class _Frame:
    """Where vectors of a token lie on the card, each storage of ordinary memory in one piece. spans: from, to."""

    spans: dict[int, list[int]] = field(default_factory=dict)
    at: dict[int, int] = field(default_factory=dict)
    nbytes: int = 0

    def note(self, tensor: Tensor) -> None:
        """This one has a place."""
        start, end = range_of(tensor)
        span = self.spans.setdefault(storage_of(tensor), [start, end])
        span[0], span[1] = min(span[0], start), max(span[1], end)

    def lay_out(self, order: Sequence[int]) -> None:
        """Give each storage its place, in this order."""
        for storage in order:
            start, end = self.spans[storage]
            self.at[storage] = self.nbytes
            self.nbytes += -(-(end - start) // _LINE) * _LINE

    def offset(self, tensor: Tensor) -> int:
        """From the start of the frame."""
        storage = storage_of(tensor)
        return self.at[storage] + tensor.data_ptr() - self.spans[storage][0]


class CardLayers:
    """Runs of ops that the card computes for single tokens, with keys and values of `capacity` tokens there.

    Used by the thread that runs the model; nothing else may use the card's compute stream meanwhile. runs: which ops;
    whole: whether that is all of the model's. worst, seconds: the largest difference from the processor, and what all
    runs of a token take there and here.
    """

    def __init__(
        self, device: CardDevice, ptx: bytes, runs: Sequence[LayerRun], read: Sequence[Tensor], *,
        capacity: int, kv_dtype: torch.dtype, exact: bool,
    ) -> None:  # fmt: skip
        """read: vectors that something else than these runs reads. exact: activations in float32, not in 8 bits.

        Raises CardError, also where the card has too little room; what was taken goes back when the card is closed.
        """
        self._device, self._ptx, self.runs, self.capacity = device, ptx, tuple(runs), capacity
        self._kv_dtype = kv_dtype
        self.worst, self.seconds, self.whole = 0.0, (0.0, 0.0), False
        ops = [op for run in runs for op in run.ops]
        linears = [op.view for op in ops if op.kind is OpKind.LINEAR]
        packed = [view for view in linears if supports(view)]
        self.matrices = CardMatrices(device, ptx, packed, exact=exact)
        self._owned: list[int] = []
        self._valid, self._of = 0, 0
        device.on_close(self._clear)
        self._held: dict[int, CardMatrix] = {}
        self._weights: dict[int, int] = {}
        try:
            self._lay_out_frame(ops, read)
            self._caches = self._make_caches(ops)
            widest = [op for op in ops if op.kind is OpKind.ATTEND]
            floats = max(op.number("heads") * SPLITS * (2 + op.number("dim")) for op in widest)
            self._partial = self._room(4 * floats)
            self._made = [self._written(run) for run in self.runs]
        except CardError:
            self.give_back()
            raise
        for run in self.runs:
            self.use(run)

    # ---- what lies there --------------------------------------------------------------------------------------------

    def _room(self, nbytes: int) -> int:
        self._owned.append(made := self._device.driver.allocate(nbytes))
        return made

    def _lay_out_frame(self, ops: Sequence[Op], read: Sequence[Tensor]) -> None:
        """What goes there first, then what also comes back, what only comes back, and the rest."""
        self._frame = _Frame()
        for op in ops:
            for tensor in (*tensors_of(op, READ[op.kind]), *tensors_of(op, WRITTEN[op.kind])):
                self._frame.note(tensor)
        into = set[int]().union(*map(first_read, self.runs))
        # What is left to do here where a card computed heads: keys and values are written to their rows.
        kept = [t for op in ops if op.kind is OpKind.HEADS for t in tensors_of(op, KEPT)]
        written = {storage_of(t) for op in ops for t in tensors_of(op, WRITTEN[op.kind])}
        back = written & (into | {storage_of(t) for t in (*read, *kept)})
        # What only the last run writes, the logits of whole tokens, lies behind what comes back of layers.
        others = {storage_of(t) for run in self.runs[:-1] for op in run.ops for t in tensors_of(op, WRITTEN[op.kind])}
        self._into = sorted(into, key=back.__contains__)
        self._back = sorted(back, key=lambda storage: (storage not in into, storage not in others))
        self._frame.lay_out(list(dict.fromkeys((*self._into, *self._back, *self._frame.spans))))
        self._position_at = self._frame.nbytes
        self._size = self._frame.nbytes + 8 + 8  # the position, and which layer lacks an expert: none
        self._address, self._pinned = self._room(self._size), self._device.pinned(self._size)
        self._came = self._device.pinned(self._size)
        ctypes.memset(self._pinned, 0, self._size)
        c_int32.from_address(self._pinned + self._position_at + 8).value = -1
        driver, stream = self._device.driver, self._device.compute
        driver.copy_in(self._address, self._pinned, self._size, stream)
        driver.synchronize(stream)

    def _make_caches(self, ops: Sequence[Op]) -> dict[int, _Cache]:
        """By number of their state."""
        found = {}
        for op in ops:
            if op.kind is OpKind.HEADS:
                heads, width = op.number("kv_heads"), op.number("dim") * self._kv_dtype.itemsize
                for state in (op.number("state"), op.number("state") + 1):
                    found[state] = _Cache(self._room(heads * self.capacity * width), heads, width)
        return found

    def _constant(self, tensor: Tensor | None) -> c_uint64:
        """The address of a small weight there; 0 of none."""
        if tensor is None:
            return c_uint64(0)
        return c_uint64(self._bytes(tensor.data_ptr(), tensor.numel() * tensor.element_size()))

    def _bytes(self, address: int, nbytes: int) -> int:
        if address not in self._weights:
            self._weights[address] = self._room(nbytes)
            self.matrices.send(self._weights[address], address, nbytes)
        return self._weights[address]

    # ---- commands ---------------------------------------------------------------------------------------------------

    def write_in(self, commands: CommandList) -> None:
        """Have what runs need of ordinary memory copied to the frame."""
        for at, nbytes in ((0, self._end(self._into)), (self._position_at, 16)):
            commands.copy_in(self._address + at, self._pinned + at, nbytes)

    def write_ops(self, commands: CommandList, run: LayerRun) -> None:
        """Have a run's ops computed."""
        for op in run.ops:
            self._command(commands, op)

    def write_out(self, commands: CommandList, run: LayerRun) -> None:
        """Have what others read of a run come back."""
        back = self._back_of(run)
        start, end = min(self._frame.at[storage] for storage in back), self._end(back)
        commands.copy_out(self._came + start, self._address + start, end - start)

    def write_end(self, commands: CommandList) -> None:
        """Have it be known when all of it is done."""
        commands.record(self.matrices.done)
        commands.query(self.matrices.done)

    def _written(self, run: LayerRun) -> _Made:
        commands = CommandList()
        self.write_in(commands)
        self.write_ops(commands, run)
        self.write_out(commands, run)
        self.write_end(commands)
        into, back = self._copies(self._into), self._copies(self._back_of(run))
        packed = commands.packed()
        made = _Run(
            ctypes.addressof(self.matrices.products), ctypes.addressof(packed), ctypes.addressof(into),
            ctypes.addressof(back), self._pinned, self._came, self._pinned + self._position_at, self.capacity,
            len(packed), len(into), len(back), run.end - run.start,
        )  # fmt: skip
        return _Made(made, (commands, packed, into, back))

    def _back_of(self, run: LayerRun) -> list[int]:
        """What a run writes to ordinary memory; all else there stays as it is."""
        written = {storage_of(t) for op in run.ops for t in tensors_of(op, WRITTEN[op.kind])}
        return [storage for storage in self._back if storage in written]

    def _end(self, storages: Sequence[int]) -> int:
        ends = [self._frame.at[s] + self._frame.spans[s][1] - self._frame.spans[s][0] for s in storages]
        return max(ends)

    def _copies(self, storages: Sequence[int]) -> ctypes.Array[CardCopy]:
        return self.copies_of(self._spans_of(storages))

    @staticmethod
    def copies_of(spans: Sequence[tuple[int, int, int]]) -> ctypes.Array[CardCopy]:
        """As native code takes them. spans: from and to in ordinary memory, and where that lies in what has come."""
        return (CardCopy * len(spans))(*(CardCopy(start, at, end - start) for start, end, at in spans))

    def _at(self, tensor: object) -> c_uint64:
        """Where a token's vector lies; 0 of none."""
        return c_uint64(self._address + self._frame.offset(tensor) if isinstance(tensor, Tensor) else 0)

    # ---- for stretches of layers ------------------------------------------------------------------------------------

    def place(self, tensor: Tensor) -> int:
        """The address on the card of a token's vector that runs read or write."""
        return self._address + self._frame.offset(tensor)

    def offset(self, tensor: Tensor) -> int:
        """The same from the start of the frame, `frame`."""
        return self._frame.offset(tensor)

    @property
    def frame(self) -> int:
        """The address on the card of the vectors that runs read and write."""
        return self._address

    @property
    def lacking(self) -> int:
        """The address on the card of which layer lacks an expert, int32; -1 when runs begin."""
        return self._address + self._position_at + 8

    def back_spans(self, runs: Sequence[LayerRun]) -> list[tuple[int, int, int]]:
        """What these runs write that comes back: from and to in ordinary memory, and where in the frame."""
        written = {storage for run in runs for storage in self._back_of(run)}
        return self._spans_of([storage for storage in self._back if storage in written])

    def _spans_of(self, storages: Sequence[int]) -> list[tuple[int, int, int]]:
        spans, at = self._frame.spans, self._frame.at
        return [(spans[storage][0], spans[storage][1], at[storage]) for storage in storages]

    def run_address(self, run: LayerRun) -> int:
        """Of what native code is told of a run."""
        return ctypes.addressof(self._made[self.runs.index(run)].run)

    def _run(self, commands: CommandList, name: str, grid: Sequence[int], *parameters: Any) -> None:
        commands.launch(self._device.kernel(self._ptx, name), (*grid, 1, 1)[:3], BLOCK, parameters)

    def _command(self, commands: CommandList, op: Op) -> None:
        position = c_uint64(self._address + self._position_at)
        match op.kind:
            case OpKind.NORM:
                own = (*self._places(op, "x", "out"), *self._constants(op, "scale", "bias"))
                shape = c_int32(op.number("width")), c_float(op.factor("eps"))
                self._run(commands, "uh_norm", (op.number("heads"),), *own, *shape)
            case OpKind.LINEAR:
                self._product(commands, op)
            case OpKind.ADD:
                count, by = op.number("count"), c_float(op.factor("by"))
                self._run(commands, "uh_add", (_blocks(count),), *self._places(op, "x", "source"), by, c_int32(count))
            case OpKind.GATE:
                count = op.number("count")
                sizes = c_int32(count), c_int32(op.number("gate_count"))
                self._run(commands, "uh_gate", (_blocks(count),), *self._places(op, "x", "gates"), *sizes)
            case OpKind.ACTIVATE:
                count, places = op.number("count"), self._places(op, "gates", "up", "out")
                self._run(commands, "uh_activate", (_blocks(count), 1), self._activation(op), *places, c_int64(count))
            case OpKind.HEADS:
                self._finish_heads(commands, op, position)
            case OpKind.ATTEND:
                self._attend(commands, op, position)
            case _:
                self._route(commands, op)

    def _places(self, op: Op, *names: str) -> list[c_uint64]:
        """Where these vectors of a token lie there."""
        return [self._at(op.tensor(name)) for name in names]

    def _constants(self, op: Op, *names: str) -> list[c_uint64]:
        """Where these small weights lie there; 0: the op has none."""
        return [self._constant(op.tensor(name)) for name in names]

    def _product(self, commands: CommandList, op: Op) -> None:
        view, (x, y) = op.view, self._places(op, "x", "out")
        if view.kind < 16:
            key = ctypes.addressof(view)
            matrix = self._held.get(key) or self._held.setdefault(key, self.matrices.place(view))
            self.matrices.multiply(commands, view, matrix.block, matrix.layout, int(x.value), int(y.value))
            return
        weights = c_uint64(self._bytes(view.codes[0], matrix_bytes(view)))
        bias = c_uint64(self._bytes(view.bias, 4 * view.rows) if view.bias else 0)
        shape = c_int32(view.rows), c_int32(view.cols), c_int32(view.kind)
        self._run(commands, "uh_raw", (-(-view.rows // _WARPS),), x, weights, bias, y, *shape)

    def _activation(self, op: Op) -> ctypes.Structure:
        spec = ExpertSpec(hidden=1, intermediate=op.number("count"), top=8, group=16)
        kind = KINDS[op.number("activation")]
        made = expert_layout(spec, Activation(kind, op.factor("alpha"), op.factor("limit")))
        layout = type(made).from_buffer_copy(made)
        layout.up_limit = 0.0  # as the op has it
        return layout

    def _finish_heads(self, commands: CommandList, op: Op, position: c_uint64) -> None:
        state, heads, kv_heads, dim = (op.number(name) for name in ("state", "heads", "kv_heads", "dim"))
        x, values = self._places(op, *KEPT)
        scales = self._constants(op, "q_scale", "k_scale")
        how = _Finish(**{field[0]: op.values[field[0]] for field in _Finish._fields_})
        if NORMS[op.number("norm")] == "full":
            how.norm = 0
            at = int(x.value)
            for width, scale in zip((heads * dim, kv_heads * dim), scales, strict=True):
                shape = c_int32(width), c_float(op.factor("eps"))
                self._run(commands, "uh_norm", (1,), c_uint64(at), c_uint64(at), scale, c_uint64(0), *shape)
                at += 4 * width
        rows = (c_uint64(self._caches[own].address) for own in (state, state + 1))
        room = c_int64(self.capacity), c_int32(8 * self._kv_dtype.itemsize)
        self._run(
            commands, "uh_heads_finish", (heads + kv_heads,), x, values, how, *scales,
            *self._places(op, "cosines", "sines"), position, *rows, *room,
        )  # fmt: skip

    def _attend(self, commands: CommandList, op: Op, position: c_uint64) -> None:
        state, heads, kv_heads, dim = (op.number(name) for name in ("state", "heads", "kv_heads", "dim"))
        queries, out = self._places(op, "queries", "out")
        window = c_int32(op.number("window"))
        rows = (c_uint64(self._caches[own].address) for own in (state, state + 1))
        share, partial = heads // kv_heads, c_uint64(self._partial)
        self._run(
            commands, f"uh_attend_{8 * self._kv_dtype.itemsize}", (SPLITS, kv_heads, -(-share // QUERIES)),
            queries, *rows, position, partial, c_int32(share), c_int32(dim), window,
            c_int64(self.capacity), c_float(op.factor("scale")),
        )  # fmt: skip
        shape = c_int32(dim), window, c_int32(SPLITS)
        self._run(commands, "uh_merge", (heads,), partial, *self._constants(op, "sinks"), position, out, *shape)

    def _route(self, commands: CommandList, op: Op) -> None:
        vectors = self._places(op, "logits"), self._places(op, "ids", "weights")
        extra = self._constants(op, "choice_bias", "expert_scale")
        numbers = (c_int32(op.number(name)) for name in ("experts", "top_k", "score", "normalize"))
        factors = (c_float(op.factor(name)) for name in ("normalize_eps", "normalize_min", "scale_or_jitter"))
        self._run(commands, "uh_route", (1,), *vectors[0], *extra, *vectors[1], *numbers, *factors)

    # ---- in use -----------------------------------------------------------------------------------------------------

    def use(self, run: LayerRun, *, card: bool = True) -> None:
        """Have this run computed by the card, or by the processor."""
        made = self._made[self.runs.index(run)]
        run.graph.run_on_card(run.start, ctypes.addressof(made.run) if card else 0)

    def together(self) -> CommandList:
        """All runs one after the other, of whatever is there: to see how long they take."""
        commands = CommandList()
        self.write_in(commands)
        for run in self.runs:
            self.write_ops(commands, run)
        self.write_out(commands, self.runs[-1])
        self.write_end(commands)
        return commands

    def run_commands(self, commands: CommandList) -> None:
        """Have the card do these, and wait. Raises CardError."""
        self._device.driver.submit(commands, self._device.compute)
        self._device.driver.synchronize(self._device.compute)

    def vectors(self, written: LayerRun | None = None) -> list[Tensor]:
        """Ordinary memory of what passes through runs, float32 views; or of what one run writes there."""
        storages = self._frame.spans if written is None else self._back_of(written)
        spans = [self._frame.spans[storage] for storage in storages]
        counts = [(start, (end - start) // 4) for start, end in spans]
        return [torch.frombuffer((c_float * n).from_address(start), dtype=torch.float32) for start, n in counts]

    def follow(self, state: SequenceRows) -> None:
        """The next token of this sequence is to be computed: its rows are brought to the card where they are not there.

        A card that fails is left alone from then on: `error`.
        """
        if self.matrices.products.failed or state.length >= self.capacity:
            return
        valid = min(self._valid, state.unchanged) if self._of == id(state) else 0
        try:
            if valid < state.length:
                self._device.use()
                for number, cache in self._caches.items():
                    self._bring_rows(state, number, cache, valid)
        except CardError as error:
            self.matrices.stop(error.code or -1)
            return
        self._of, self._valid, state.unchanged = id(state), state.length + 1, sys.maxsize

    def _bring_rows(self, state: SequenceRows, number: int, cache: _Cache, start: int) -> None:
        at = start
        for piece in state.pieces(number, start):
            for head in range(cache.heads):
                to = cache.address + (head * self.capacity + at) * cache.width
                self.matrices.send(to, piece[head].data_ptr(), piece.shape[1] * cache.width)
            at += piece.shape[1]

    @property
    def nbytes(self) -> int:
        """That all of it takes on the card."""
        caches = sum(cache.heads * self.capacity * cache.width for cache in self._caches.values())
        return caches + weight_bytes(self.runs)

    @property
    def computed(self) -> int:
        """Runs that the card has computed."""
        return self.matrices.computed

    @property
    def error(self) -> CardError | None:
        """What made the card fail; the processor computed the run that it was asked for. None: it works."""
        return self.matrices.error

    def stop(self) -> None:
        """From now on the processor computes all. Safe to call twice."""
        for run in self.runs:
            run.graph.run_on_card(run.start, 0)
        self.matrices.stop()

    def _clear(self) -> None:
        """The card is closed: what is lost with it is no error."""
        self.stop()
        for block in self._owned:
            with suppress(CardError):
                self._device.driver.free(block)
        self._owned = []

    def give_back(self) -> None:
        """Stop, and give what lies on the card back to it. Raises CardError."""
        self.stop()
        for matrix in self._held.values():
            self.matrices.remove(matrix)
        for block in self._owned:
            self._device.driver.free(block)
        self._held, self._owned = {}, []
