"""Experts computed on the card: one call takes several, from activations in ordinary memory to outputs in it.

The kernels, their parameters and grids: engine/cuda/kernels/. They read the same records, and take the same layout and
the same list of experts, as the processor's (engine/native/src/underhill_kernels.h), with addresses on the card.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from ctypes import c_float, c_int32, c_int64, c_uint64
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.cuda.commands import CommandList
from engine.cuda.device import CardDevice
from engine.cuda.operands import BLOCK, Operands, Vectors
from engine.kernels.activation import Activation
from engine.kernels.native import EXPERT, expert_layout
from engine.record.layout import ExpertSpec

ROWS, GATED_ROWS = 64, 32  # of a matrix, that a block computes; of gate and up together
FEW, GEMM_SLOTS = 4, 32  # slots of an expert up to which reading its weights sets the pace; slots of a block of uh_gemm
_PAD = 256  # what follows another in one copy starts on this


class CardExpert(NamedTuple):
    """One expert on the card. addresses: of three parts with codes (0: fewer) and of the parameters. planes: in use."""

    addresses: tuple[int, int, int, int]
    planes: int


class CardWork(NamedTuple):
    """Experts of one layout, and how many slots each fills, one after the other.

    x: the address of float32 [tokens, hidden] in ordinary memory, read before `begin` returns. Slot i is of token i //
    (slots / tokens): one token for all slots, or a token for each.
    """

    spec: ExpertSpec
    activation: Activation
    experts: Sequence[CardExpert]
    counts: Sequence[int]
    x: int
    tokens: int


def supports(spec: ExpertSpec) -> bool:
    """Whether there are kernels for such experts: raw ones (bf16, float32) stay on the processor."""
    return not spec.raw


class ExpertKernels:
    """The kernels with the buffers that they need. One call at a time: `begin`, and `finish` before the next.

    most_slots: of a call. exact: activations in float32, not in 8 bits.
    """

    def __init__(
        self, device: CardDevice, ptx: bytes, specs: Sequence[ExpertSpec], most_slots: int, *, exact: bool
    ) -> None:
        """specs: of all experts that may come. Raises CardError."""
        self._device, self._ptx, self._exact, self.most_slots = device, ptx, exact, most_slots
        hidden = max(spec.hidden for spec in specs)
        inner = max(spec.padded(spec.matrices[-1])[1] for spec in specs)
        wide = max(spec.padded(m)[1] for spec in specs for m in spec.matrices)
        self._head = -(-most_slots * EXPERT.size // _PAD) * _PAD  # bytes of the list of experts, before the activations
        rows = 4 * most_slots * hidden
        self._sent, self._came = device.pinned(self._head + rows), device.pinned(rows)
        self._in, self._out = device.memory(self._head + rows), device.memory(rows)
        self._gate, self._h = (device.memory(4 * most_slots * inner) for _ in range(2))
        self._operands = Operands(device, ptx, most_slots, wide, exact=exact)
        self._slots = device.memory(4 * most_slots)
        self._began, self._done = (device.event(timed=True) for _ in range(2))
        self._one_token: dict[tuple[ExpertSpec, Activation, tuple[int, ...]], CommandList] = {}
        self._pending = 0, 0
        self.launching = 0.0  # seconds that the last `begin` took
        self._send_slots()

    def _send_slots(self) -> None:
        """0, 1, 2, …: slots are numbered in the order of the experts, so that this never changes."""
        slots = np.arange(self.most_slots, dtype=np.int32)
        ctypes.memmove(self._sent, slots.ctypes.data, slots.nbytes)
        self._device.driver.copy_in(self._slots, self._sent, slots.nbytes, self._device.compute)
        self._device.driver.synchronize(self._device.compute)

    def begin(self, work: CardWork) -> None:
        """Compute these; all is on its way when this returns. Raises CardError."""
        called = time.perf_counter()
        driver, stream = self._device.driver, self._device.compute
        slots, hidden = sum(work.counts), work.spec.hidden
        if slots > self.most_slots or work.tokens not in (1, slots):
            raise ValueError(
                f"{slots} slots of {work.tokens} tokens; at most {self.most_slots}, each of one or all of one"
            )
        first = 0
        listed = bytearray(len(work.experts) * EXPERT.size)
        for at, (expert, count) in enumerate(zip(work.experts, work.counts, strict=True)):
            EXPERT.pack_into(listed, at * EXPERT.size, *expert.addresses, expert.planes, first, count, 0)
            first += count
        start = self._list_at(len(work.experts))
        ctypes.memmove(self._sent + start, (ctypes.c_char * len(listed)).from_buffer(listed), len(listed))
        ctypes.memmove(self._sent + self._head, work.x, 4 * work.tokens * hidden)
        driver.submit(self._commands(work, slots), stream)
        self._pending = slots, hidden
        self.launching = time.perf_counter() - called

    def finish(self) -> NDArray[np.float32]:
        """The outputs [slots, hidden] of what was begun last, in memory that the next `begin` writes to."""
        self._device.driver.wait_for(self._done)
        slots, hidden = self._pending
        return np.ctypeslib.as_array((c_float * (slots * hidden)).from_address(self._came)).reshape(slots, hidden)

    @property
    def seconds(self) -> float:
        """What the last finished call took on the card, copies included."""
        return self._device.driver.seconds(self._began, self._done)

    def _list_at(self, experts: int) -> int:
        """Where a list of so many begins: it ends where the activations begin, so that one copy takes both."""
        return self._head - experts * EXPERT.size

    def _commands(self, work: CardWork, slots: int) -> CommandList:
        """What the card has to do. For one token it is the same each time, but for what lies in the list of experts."""
        if work.tokens > 1:
            return self._written(work, slots)
        key = work.spec, work.activation, tuple(work.counts)
        if key not in self._one_token:
            self._one_token[key] = self._written(work, slots)
        return self._one_token[key]

    def _written(self, work: CardWork, slots: int) -> CommandList:
        hidden, start, commands = work.spec.hidden, self._list_at(len(work.experts)), CommandList()
        commands.record(self._began)
        commands.copy_in(self._in + start, self._sent + start, self._head - start + 4 * work.tokens * hidden)
        self._compute(commands, work, self._in + start, self._in + self._head)
        commands.copy_out(self._came, self._out, 4 * slots * hidden)
        commands.record(self._done)
        commands.query(self._done)  # Windows' driver gathers work and hands it on only when it is asked about it
        return commands

    def write_token(
        self, commands: CommandList, spec: ExpertSpec, activation: Activation, k: int, *,
        x: int, listed: int, weights: int, y: int,
    ) -> None:  # fmt: skip
        """Have k experts of one token computed and added up: y [hidden]. All are addresses of the card: listed, of a
        list of experts as kernels take them, those that are not there without planes; weights [k]: of each.
        """
        nowhere = CardExpert((0, 0, 0, 0), 0)
        self._compute(commands, CardWork(spec, activation, [nowhere] * k, [1] * k, 0, 1), listed, x)
        sizes = c_int32(k), c_int32(spec.hidden)
        places = (c_uint64(at) for at in (weights, self._out, y))
        self._run(commands, "uh_combine", (-(-spec.hidden // BLOCK), 1, 1), *places, *sizes)

    def _compute(self, commands: CommandList, work: CardWork, listed: int, x: int) -> None:
        """listed, x: where the card has the list of experts, and the activations [tokens, hidden]."""
        spec, experts, slots = work.spec, len(work.experts), sum(work.counts)
        layout = expert_layout(spec, work.activation)
        up, down = spec.matrices[-2], spec.matrices[-1]
        stride, stored = spec.padded(down)[1], spec.padded(up)[1]
        each = c_int32(slots // work.tokens)
        given = Vectors(x, spec.hidden, spec.hidden, stored, spec.group_of(up), work.tokens)
        ready = self._operands.take(commands, given)
        places = c_uint64(listed), c_uint64(self._slots)
        many = max(work.counts) > FEW and not self._exact
        blocks = -(-max(work.counts) // GEMM_SLOTS)
        if many:
            gate = self._gate if spec.has_gate else 0
            grid = (-(-spec.intermediate // ROWS), experts, blocks)
            for which, to in ((0, gate), (1, self._h)):
                if to:
                    out = c_uint64(to), c_int64(stride)
                    self._run(commands, "uh_gemm", grid, layout, c_int32(which), *places, each, *ready, *out)
            grid = (-(-spec.intermediate // BLOCK), slots, 1)
            own = (c_uint64(at) for at in (gate, self._h, self._h))
            self._run(commands, "uh_activate", grid, layout, *own, c_int64(stride))
        else:
            grid = (-(-spec.intermediate // (GATED_ROWS if spec.has_gate else ROWS)), experts, 1)
            out = c_uint64(self._h), c_int64(stride)
            self._run(commands, self._name("uh_gate_up", work.counts), grid, layout, *places, each, *ready, *out)
        given = Vectors(self._h, stride, spec.intermediate, stride, spec.group_of(down), slots)
        ready = self._operands.take(commands, given)
        rows = -(-spec.hidden // ROWS)
        if many:
            out = c_uint64(self._out), c_int64(spec.hidden)
            self._run(
                commands, "uh_gemm", (rows, experts, blocks), layout, c_int32(2), *places, c_int32(1), *ready, *out
            )
        else:
            name = self._name("uh_down", work.counts)
            self._run(commands, name, (rows, experts, 1), layout, *places, *ready, c_uint64(self._out))

    def _name(self, kernel: str, counts: Sequence[int]) -> str:
        return f"{kernel}_exact" if self._exact else f"{kernel}_1" if max(counts) == 1 else f"{kernel}_4"

    def _run(self, commands: CommandList, name: str, grid: tuple[int, int, int], *parameters: Any) -> None:
        commands.launch(self._device.kernel(self._ptx, name), grid, BLOCK, parameters)
