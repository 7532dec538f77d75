"""What of a layer is no expert, on the card for single tokens: norms, attention, shared experts, the router.

An op graph hands a run of ops to the card (native/src/card.h, uh_card_run): what they need of ordinary memory is copied
there, kernels compute them one after the other (layer_ops.py), and what others read later comes back, the token's own
keys and values or its latent with it. So ordinary memory has all that a sequence keeps, and a card that is lost loses
nothing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import suppress
from ctypes import c_float, c_int32, c_int64, c_void_p
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from engine.cuda.card_rows import CardRows
from engine.cuda.commands import CommandList
from engine.cuda.device import CardDevice
from engine.cuda.errors import CardError
from engine.cuda.layer_ops import LayerOps
from engine.cuda.layer_runs import (
    KEPT,
    READ,
    WRITTEN,
    LayerRun,
    SequenceRows,
    first_read,
    storage_of,
    tensors_of,
    weight_bytes,
)
from engine.cuda.matrices import CardMatrices, supports
from engine.cuda.token_frame import ENDING, TokenFrame
from engine.native.op_graph import Op
from engine.native.op_slots import OpKind


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


@dataclass(frozen=True)
class _Made:
    """A run as native code takes it. kept: what it points to."""

    run: _Run
    kept: tuple[Any, ...]


class CardLayers:
    """Runs of ops that the card computes for single tokens, with the rows of `capacity` tokens there.

    Used by the thread that runs the model; nothing else may use the card's compute stream meanwhile. runs: which ops;
    whole: whether that is all of the model's. worst, seconds: the largest difference from the processor, and what all
    runs of a token take there and here. rows: what a sequence keeps, there.
    """

    def __init__(
        self, device: CardDevice, ptx: bytes, runs: Sequence[LayerRun], read: Sequence[Tensor], *,
        capacity: int, kv_dtype: torch.dtype, exact: bool,
    ) -> None:  # fmt: skip
        """read: vectors that something else than these runs reads. exact: activations in float32, not in 8 bits.

        Raises CardError, also where the card has too little room; what was taken goes back when the card is closed.
        """
        self._device, self._ptx, self.runs, self.capacity = device, ptx, tuple(runs), capacity
        self.worst, self.seconds, self.whole = 0.0, (0.0, 0.0), False
        ops = [op for run in runs for op in run.ops]
        linears = [op.view for op in ops if op.kind is OpKind.LINEAR]
        packed = [view for view in linears if supports(view)]
        self.matrices = CardMatrices(device, ptx, packed, exact=exact)
        self._owned: list[int] = []
        self.rows = CardRows(self._room, self.matrices.send, capacity, kv_dtype)
        device.on_close(self._clear)
        self._frame = TokenFrame()
        self._ops = LayerOps(device, ptx, self.matrices, self._frame, room=self._room, rows=self.rows, exact=exact)
        try:
            self._lay_out_frame(ops, read)
            self._ops.prepare(ops)
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
        for op in ops:
            for tensor in (*tensors_of(op, READ[op.kind]), *tensors_of(op, WRITTEN[op.kind])):
                self._frame.note(tensor)
        into = set[int]().union(*map(first_read, self.runs))
        # What is left to do here where a card finished a token's rows: they are written.
        kept = [t for op in ops for t in tensors_of(op, KEPT.get(op.kind, ()))]
        written = {storage_of(t) for op in ops for t in tensors_of(op, WRITTEN[op.kind])}
        back = written & (into | {storage_of(t) for t in (*read, *kept)})
        # What only the last run writes, the logits of whole tokens, lies behind what comes back of layers.
        others = {storage_of(t) for run in self.runs[:-1] for op in run.ops for t in tensors_of(op, WRITTEN[op.kind])}
        self._into = sorted(into, key=back.__contains__)
        self._back = sorted(back, key=lambda storage: (storage not in into, storage not in others))
        self._frame.lay_out(list(dict.fromkeys((*self._into, *self._back, *self._frame.spans))))
        at, size = self._frame.nbytes, self._frame.nbytes + ENDING
        self._frame.address, self._pinned = self._room(size), self._device.pinned(size)
        self._came = self._device.pinned(size)
        ctypes.memset(self._pinned, 0, size)
        c_int32.from_address(self._pinned + at + 8).value = -1  # no layer lacks an expert
        driver, stream = self._device.driver, self._device.compute
        driver.copy_in(self._frame.address, self._pinned, size, stream)
        driver.synchronize(stream)

    # ---- commands ---------------------------------------------------------------------------------------------------

    def write_in(self, commands: CommandList) -> None:
        """Have what runs need of ordinary memory copied to the frame."""
        for at, nbytes in ((0, self._frame.end(self._into)), (self._frame.nbytes, ENDING)):
            commands.copy_in(self._frame.address + at, self._pinned + at, nbytes)

    def write_ops(self, commands: CommandList, run: LayerRun) -> None:
        """Have a run's ops computed."""
        for op in run.ops:
            self._ops.write(commands, op)

    def write_out(self, commands: CommandList, run: LayerRun) -> None:
        """Have what others read of a run come back."""
        back = self._back_of(run)
        start, end = min(self._frame.at[storage] for storage in back), self._frame.end(back)
        commands.copy_out(self._came + start, self._frame.address + start, end - start)

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
            ctypes.addressof(back), self._pinned, self._came, self._pinned + self._frame.nbytes, self.capacity,
            len(packed), len(into), len(back), run.end - run.start,
        )  # fmt: skip
        return _Made(made, (commands, packed, into, back))

    def _back_of(self, run: LayerRun) -> list[int]:
        """What a run writes to ordinary memory; all else there stays as it is."""
        written = {storage_of(t) for op in run.ops for t in tensors_of(op, WRITTEN[op.kind])}
        return [storage for storage in self._back if storage in written]

    def _copies(self, storages: Sequence[int]) -> ctypes.Array[CardCopy]:
        return self.copies_of(self._spans_of(storages))

    @staticmethod
    def copies_of(spans: Sequence[tuple[int, int, int]]) -> ctypes.Array[CardCopy]:
        """As native code takes them. spans: from and to in ordinary memory, and where that lies in what has come."""
        return (CardCopy * len(spans))(*(CardCopy(start, at, end - start) for start, end, at in spans))

    # ---- for stretches of layers ------------------------------------------------------------------------------------

    def place(self, tensor: Tensor) -> int:
        """The address on the card of a token's vector that runs read or write."""
        return self._frame.address + self._frame.offset(tensor)

    def offset(self, tensor: Tensor) -> int:
        """The same from the start of the frame, `frame`."""
        return self._frame.offset(tensor)

    @property
    def frame(self) -> int:
        """The address on the card of the vectors that runs read and write."""
        return self._frame.address

    @property
    def lacking(self) -> int:
        """The address on the card of which layer lacks an expert, int32; -1 when runs begin."""
        return self._frame.lacking

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
        try:
            self._device.use()
            for rows in state.rows:
                if rows.number in self.rows:
                    self.rows.bring(rows, state.length, one_more=True)
        except CardError as error:
            self.matrices.stop(error.code or -1)

    @property
    def nbytes(self) -> int:
        """That all of it takes on the card."""
        return self.rows.nbytes + weight_bytes(self.runs)

    @property
    def computed(self) -> int:
        """Runs that the card has computed."""
        return self.matrices.computed

    @property
    def error(self) -> CardError | None:
        """What made the card fail; the processor computed the run that it was asked for. None: it works."""
        return self.matrices.error

    def rest(self, resting: bool) -> None:
        """Leave runs to the processor, or take them again, if it works."""
        for run in self.runs:
            self.use(run, card=not resting)

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
        self._ops.give_back()
        for block in self._owned:
            self._device.driver.free(block)
        self._owned = []
