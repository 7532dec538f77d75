"""Attention of many tokens on the card, where that was seen to be faster: queries cross, and meet the rows there.

The rows of the tokens themselves are brought over first, as they have to be before the next token anyway. Queries cross
in pieces (pieces.py), with two sets of buffers.
"""

from __future__ import annotations

import logging
import statistics
import time
from collections.abc import Callable
from ctypes import c_float, c_int32, c_int64, c_uint64
from typing import NamedTuple

import torch
from torch import Tensor

from engine.cuda.commands import CommandList
from engine.cuda.device import CardDevice
from engine.cuda.errors import CardError
from engine.cuda.layer_ops import QUERIES
from engine.cuda.layer_proof import refuse_attention
from engine.cuda.layers import CardLayers
from engine.cuda.linears import worst_row
from engine.cuda.operands import BLOCK
from engine.cuda.pieces import RowPiece, in_pieces
from engine.cuda.prefill import SideCost, least_rows
from engine.kernels.attending import Attending
from engine.kernels.native import NativeKernel
from engine.kernels.prefill_attention import prefill_attention
from engine.native.op_graph import Op
from engine.native.op_slots import OpKind

_log = logging.getLogger(__name__)
PIECE = 128  # tokens whose queries cross at a time, at most
FEW = 32  # tokens of the smaller call that is measured, over as many rows
ROWS = 1024  # of the larger one
TURNS = 3  # of each, of which the middle counts
_SETS = 2  # of buffers
ROOM = 2 << 20  # bytes of a piece's queries, with sinks before them, and of what comes back


class RowsShape(NamedTuple):
    """What layers have in common whose attention takes as long. window: 0: none."""

    heads: int
    kv_heads: int
    dim: int
    window: int
    sinks: bool
    scale: float


class CardAttention:
    """Layers whose attention of many tokens the card computes. nbytes: that it takes there beside the rows.

    worst: the largest difference from the processor's. least: by layer, so many pairs of a token and a row that it sees
    has a call from which on the card computes it. computed: calls since it was opened. error: what made the card fail;
    the processor computed the call that it was asked for. Used by the thread that runs the model.
    """

    def __init__(self, device: CardDevice, ptx: bytes, kernel: NativeKernel, layers: CardLayers) -> None:
        """Raises CardError where one differs from the processor, or the card fails."""
        self._device, self._kernel, self._rows = device, kernel, layers.rows
        self.nbytes, self.computed, self.worst = 0, 0, 0.0
        self.least: dict[int, int] = {}
        self.error: CardError | None = None
        self._resting = False
        self._shapes = _shapes_of(layers)
        if not self._shapes:
            return
        self._function = device.kernel(ptx, f"uh_attend_many_{8 * self._rows.kv_dtype.itemsize}")
        self._buffers = [_Buffers(device, set(self._shapes.values())) for _ in range(_SETS)]
        self.nbytes = sum(buffers.nbytes for buffers in self._buffers)
        device.on_close(self.stop)
        for shape in set(self._shapes.values()):
            alike = [number for number, own in self._shapes.items() if own == shape]
            self._prove(alike[0])
            least = least_rows(*measure(self, alike[0], kernel), most=self._many(alike[0]).pairs)
            if least is not None:
                self.least.update(dict.fromkeys(alike, least))
        if self.least:
            kernel.attends = self._take
        _log.info("The card computes attention of prompts in %d layers: %s", len(self.least), self.least)

    def _prove(self, number: int) -> None:
        trial = self._many(number)
        expected, found = trial.here(self._kernel).clone(), trial.there(self)
        self.worst = max(self.worst, worst_row(found, expected))
        refuse_attention(self._device, self.worst)

    def _many(self, number: int) -> Trial:
        """The larger call that is measured: two pieces, the second with a tail."""
        shape, rows = self._shapes[number], min(ROWS, self._rows.capacity)
        tokens = min(rows, tokens_of(shape) + QUERIES + 1)
        return Trial(number, shape, (tokens, rows), self._rows.kv_dtype)

    def trials(self, number: int) -> tuple[Trial, Trial]:
        """The calls that are measured, the smaller one first."""
        many = self._many(number)
        few = min(FEW, many.rows.length - 1)
        return Trial(number, self._shapes[number], (few, few), self._rows.kv_dtype), many

    def _take(self, call: Attending) -> bool:
        """See NativeKernel.attends."""
        least = None if self._resting else self.least.get(call.rows.number)
        if least is None or call.rows.length > self._rows.capacity or pairs_of(call) < least:
            return False
        try:
            self.attend(call)
        except CardError as error:
            self.stop()
            self.error = error
            return False
        self.computed += 1
        return True

    def rest(self, resting: bool) -> None:
        """Leave calls to the processor, or take them again."""
        self._resting = resting

    def stop(self) -> None:
        """From now on the processor computes all. Safe to call twice."""
        self.least = {}
        if self._kernel.attends == self._take:
            self._kernel.attends = None

    # ---- a call -----------------------------------------------------------------------------------------------------

    def attend(self, call: Attending) -> None:
        """Write call.out. Raises CardError."""
        self._device.use()
        self._rows.bring(call.rows, call.rows.length)
        n, most = call.q.shape[0], tokens_of(self._shapes[call.rows.number])
        in_pieces(
            self._buffers, n, most,
            lambda piece: self._begin(piece, call),
            lambda piece: self._collect(piece, call),
        )  # fmt: skip

    def _begin(self, piece: RowPiece[_Buffers], call: Attending) -> None:
        """All of it is on its way when this returns."""
        (buffers, at, n), (_, heads, dim) = piece, call.q.shape
        if call.sinks is not None:
            buffers.given[:heads] = call.sinks
        buffers.given[heads : heads + n * heads * dim].view(n, heads, dim).copy_(call.q[at : at + n])
        self._device.driver.submit(self._written(piece, call), buffers.stream)

    def _collect(self, piece: RowPiece[_Buffers], call: Attending) -> None:
        buffers, at, n = piece
        self._device.driver.wait_for(buffers.done)
        call.out[at : at + n] = buffers.made[: n * call.out.shape[1]].view(n, -1)

    def _written(self, piece: RowPiece[_Buffers], call: Attending) -> CommandList:
        """What the card has to do for a piece."""
        (buffers, at, n), (tokens, heads, dim), commands = piece, call.q.shape, CommandList()
        share = heads // self._shapes[call.rows.number].kv_heads
        begin = 0 if call.sinks is not None else 4 * heads
        end = 4 * heads * (1 + n * dim)
        commands.copy_in(buffers.x + begin, buffers.sent + begin, end - begin)
        places = buffers.x + 4 * heads, *self._rows.addresses(call.rows.number), 0 if begin else buffers.x, buffers.y
        numbers = call.rows.length - tokens + at, call.first, self._rows.capacity
        commands.launch(
            self._function, (-(-n * share // QUERIES), heads // share, 1), BLOCK,
            (*map(c_uint64, places), *map(c_int64, numbers), *map(c_int32, (n, share, dim, call.window)),
             c_float(call.scale)),
        )  # fmt: skip
        commands.copy_out(buffers.came, buffers.y, 4 * n * heads * dim)
        commands.record(buffers.done)
        commands.query(buffers.done)  # Windows' driver gathers work and hands it on only when it is asked about it
        return commands


class _Buffers:
    """Room for a piece at a time, here (pinned: given, made) and there, with a stream. nbytes: there."""

    def __init__(self, device: CardDevice, shapes: set[RowsShape]) -> None:
        """shapes: that may come. Raises CardError."""
        came = max(4 * tokens_of(shape) * shape.heads * shape.dim for shape in shapes)
        sent = came + max(4 * shape.heads for shape in shapes)
        self.stream, self.done = device.stream(), device.event()
        self.sent, self.came = device.pinned(sent), device.pinned(came)
        self.given, self.made = _floats(self.sent, sent), _floats(self.came, came)
        self.x, self.y = device.memory(sent), device.memory(came)
        self.nbytes = sent + came


def _floats(address: int, nbytes: int) -> Tensor:
    count = nbytes // 4
    return torch.frombuffer((c_float * count).from_address(address), dtype=torch.float32)


def tokens_of(shape: RowsShape) -> int:
    """Tokens of a piece; 0: there is no room for one."""
    return min(PIECE, (ROOM - 4 * shape.heads) // (4 * shape.heads * shape.dim))


def pairs_of(call: Attending) -> int:
    """Pairs of a token and a row that it sees."""
    n = call.q.shape[0]
    all_before = n * (call.rows.length - call.first) - n * (n - 1) // 2
    return min(all_before, n * call.window) if call.window else all_before


def _shapes_of(layers: CardLayers) -> dict[int, RowsShape]:
    """By the number of their rows, of layers whose rows lie there."""
    ops = [op for run in layers.runs for op in run.ops if op.kind is OpKind.ATTEND]
    found = {op.number("state"): _shape_of(op) for op in ops if op.number("state") in layers.rows}
    return {number: shape for number, shape in found.items() if tokens_of(shape)}


def _shape_of(op: Op) -> RowsShape:
    heads, kv_heads, dim, window = (op.number(name) for name in ("heads", "kv_heads", "dim", "window"))
    return RowsShape(heads, kv_heads, dim, window, op.tensor("sinks") is not None, op.factor("scale"))


# ---- who is faster ---------------------------------------------------------------------------------------------------


class TrialRows:
    """Random rows of a layer, as KeptRows. length: tokens."""

    def __init__(self, number: int, shape: RowsShape, length: int, dtype: torch.dtype) -> None:
        self.number, self.unchanged, self.length = number, 0, length
        random = torch.Generator().manual_seed(length)
        self._rows = [torch.randn(shape.kv_heads, length, shape.dim, generator=random).to(dtype) for _ in range(2)]

    def views(self, start: int = 0, stop: int | None = None) -> list[tuple[Tensor, ...]]:
        """See KeptRows."""
        return [tuple(rows[:, start:stop] for rows in self._rows)]


class Trial:
    """A call on random queries and rows."""

    def __init__(self, number: int, shape: RowsShape, size: tuple[int, int], dtype: torch.dtype) -> None:
        """size: tokens, and rows."""
        tokens, length = size
        random = torch.Generator().manual_seed(tokens)
        self.rows = TrialRows(number, shape, length, dtype)
        first = max(0, length - tokens + 1 - shape.window) if shape.window else 0
        self._call = Attending(
            torch.randn(tokens, shape.heads, shape.dim, generator=random), self.rows, first, shape.window,
            torch.randn(shape.heads, generator=random) if shape.sinks else None, shape.scale,
            torch.empty(tokens, shape.heads * shape.dim),
        )  # fmt: skip

    @property
    def pairs(self) -> int:
        """See pairs_of."""
        return pairs_of(self._call)

    def here(self, kernel: NativeKernel) -> Tensor:
        """What the processor makes of it, which its next call may write over."""
        call = self._call
        return prefill_attention(
            kernel, call.q, self.rows.views(call.first), call.scale, call.window or None, call.sinks
        )

    def there(self, card: CardAttention) -> Tensor:
        """What the card makes of it. Raises CardError."""
        card.attend(self._call)
        return self._call.out


def measure(card: CardAttention, number: int, kernel: NativeKernel) -> tuple[SideCost, SideCost]:
    """What calls of a layer cost the card, and the processor, `each` for every pair. Raises CardError."""
    few, many = card.trials(number)

    def cost(compute: Callable[[Trial], object]) -> SideCost:
        small, large = _seconds(compute, few), _seconds(compute, many)
        each = (large - small) / (many.pairs - few.pairs)
        return SideCost(small - few.pairs * each, each)

    return cost(lambda trial: trial.there(card)), cost(lambda trial: trial.here(kernel))


def _seconds(compute: Callable[[Trial], object], trial: Trial) -> float:
    compute(trial)  # rows that have to cross at any rate do so now
    turns = []
    for _ in range(TURNS):
        start = time.perf_counter()
        compute(trial)
        turns.append(time.perf_counter() - start)
    return statistics.median(turns)
