"""A stand-in for compiled kernels: the C library computes whole experts when `uh_down` runs, a thousand times faster.

What each kernel reads and writes of the card's memory is what the real one does, so that a wait that is left out in
front of it is found all the same; that the real ones give the same bits is shown in tests/engine/cuda/kernels/. The
engine's tests use it for thousands of schedules, and the shipped PTX in the interpreter for some.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from engine.kernels.activation import Activation
from engine.kernels.call import Parts, Work
from engine.kernels.dense import sections_of
from engine.kernels.native import EXPERT, SIX, NativeKernel, expert_layout
from engine.native.library import MatrixView
from engine.record.layout import ExpertSpec
from tests.engine.cuda.ptx.memory import DeviceMemory
from tests.engine.cuda.schedule import Range, Touched, read_written
from tests.engine.cuda.simulated_driver import SimulatedKernel, interpreted

Run = Callable[[DeviceMemory, tuple[int, int, int], Sequence[bytes]], Touched]


@dataclass(frozen=True)
class StandInKernel:
    """A kernel by name. parameters: bytes of each."""

    name: str
    parameters: Sequence[int]
    compute: Run

    def run(
        self, memory: DeviceMemory, grid: tuple[int, int, int], block: int, shared: int, arguments: Sequence[bytes]
    ) -> Touched:
        """See SimulatedKernel."""
        assert block == 128
        return self.compute(memory, grid, arguments)


class StandIn:
    """A compiler for SimulatedDriver. specs, activations: of the experts that will come, by their layout's bytes."""

    def __init__(self, specs: Mapping[ExpertSpec, Activation], exact: bool = False) -> None:
        self._kernel = NativeKernel(1, exact=exact)
        self._known = {bytes(expert_layout(spec, activation)): (spec, activation) for spec, activation in specs.items()}
        self._size = len(next(iter(self._known)))
        self._real_activate: SimulatedKernel | None = None
        self._x: dict[int, torch.Tensor] = {}  # activations by the address of what was made of them
        self._h: dict[int, tuple[torch.Tensor, int]] = {}  # what an h was made of, and slots of a token
        self._from: dict[int, tuple[torch.Tensor, int]] = {}  # the same by the address of what was made of the h

    def __call__(self, ptx: bytes) -> Mapping[str, SimulatedKernel]:
        """The kernels."""
        take, exact_take = (8, 8, 4, 4, 4, 4, 8, 8, 8), (8, 8, 4, 4, 4, 4, 8, 8)
        up, down = (self._size, 8, 8, 4, 8, 8, 8, 8, 8), (self._size, 8, 8, 8, 8, 8, 8)
        gemm = (self._size, 4, 8, 8, 4, 8, 8, 8, 8, 8)
        kernels = {
            "uh_quantize": (take, self._take),
            "uh_pad": (exact_take, self._take),
            "uh_gate_up_exact": ((self._size, 8, 8, 4, 8, 8, 8, 8), self._gate_up),
            "uh_down_exact": ((self._size, 8, 8, 8, 8, 8), self._down),
            "uh_gemm": (gemm, self._gemm),
            "uh_activate": ((self._size, 8, 8, 8, 8), self._activate),
        }
        for n in (1, 4):
            kernels[f"uh_gate_up_{n}"] = up, self._gate_up
            kernels[f"uh_down_{n}"] = down, self._down
        found = {name: StandInKernel(name, sizes, run) for name, (sizes, run) in kernels.items()}
        if not ptx.startswith(b".version"):
            return found
        # What is no expert's runs as it is shipped.
        real = interpreted(ptx)
        self._real_activate = real["uh_activate"]
        return {**real, **found}

    def close(self) -> None:
        """End the library's threads."""
        self._kernel.close()

    def _take(self, memory: DeviceMemory, grid: tuple[int, int, int], arguments: Sequence[bytes]) -> Touched:
        x, stride, cols, stored, group, n, codes = struct.unpack("<qqiiiiq", b"".join(arguments[:7]))
        assert grid == (-(-(stored // group) // 4), n, 1)
        rows = [np.frombuffer(read_written(memory, x + 4 * stride * row, 4 * cols), np.float32) for row in range(n)]
        self._x[codes] = torch.from_numpy(np.stack(rows))
        if x in self._h:
            self._from[codes] = self._h[x]
        written = []
        width = stored if len(arguments) == 9 else 4 * stored
        sizes = [n * width, *[4 * n * (stored // group)] * (len(arguments) - 7)]
        for address, nbytes in zip((struct.unpack("<q", a)[0] for a in arguments[6:]), sizes, strict=True):
            memory.write(address, bytes(nbytes))
            written.append((address, nbytes))
        return [(x + 4 * stride * row, 4 * cols) for row in range(n)], written

    def _experts(
        self, memory: DeviceMemory, arguments: Sequence[bytes], n: int
    ) -> tuple[ExpertSpec, Activation, list[tuple[int, ...]], list[Range]]:
        spec, activation = self._known[arguments[0]]
        at = struct.unpack("<q", arguments[1])[0]
        listed = [EXPERT.unpack(read_written(memory, at + i * EXPERT.size, EXPERT.size)) for i in range(n)]
        return spec, activation, listed, [(at, n * EXPERT.size)]

    def _gate_up(self, memory: DeviceMemory, grid: tuple[int, int, int], arguments: Sequence[bytes]) -> Touched:
        spec, _, listed, reads = self._experts(memory, arguments, grid[1])
        assert grid[0] == -(-spec.intermediate // (32 if spec.has_gate else 64))
        k, codes = struct.unpack("<iq", b"".join(arguments[3:5]))
        h, stride = struct.unpack("<qq", b"".join(arguments[-2:]))
        return self._first(memory, spec, listed, k, codes, h, stride, reads)

    def _first(
        self, memory: DeviceMemory, spec: ExpertSpec, listed: Sequence[tuple[int, ...]], k: int, codes: int, h: int,
        stride: int, reads: list[Range],
    ) -> Touched:  # fmt: skip
        slots = sum(expert[6] for expert in listed)
        memory.write(h, bytes(4 * slots * stride))
        self._h[h] = self._x[codes], k
        for expert in listed:
            reads += self._parts(memory, spec, expert)[1] if expert[4] else []
        return reads, [(h, 4 * slots * stride)]

    def _gemm(self, memory: DeviceMemory, grid: tuple[int, int, int], arguments: Sequence[bytes]) -> Touched:
        (which,) = struct.unpack("<i", arguments[1])
        if arguments[0] not in self._known:
            assert (which, arguments[9][:4]) == (2, arguments[0][:4])  # rows follow one another
            return self._product(memory, grid, [arguments[0], *arguments[2:4], arguments[5], arguments[8]])
        spec, _, listed, reads = self._experts(memory, [arguments[0], *arguments[2:]], grid[1])
        assert grid[2] == -(-max(expert[6] for expert in listed) // 32)
        k, codes = struct.unpack("<iq", b"".join(arguments[4:6]))
        y, stride = struct.unpack("<qq", b"".join(arguments[-2:]))
        assert grid[0] == -(-(spec.hidden if which == 2 else spec.intermediate) // 64)
        if which == 2:
            return self.last(memory, [arguments[0], *arguments[2:4], arguments[5], arguments[8]], grid[1])
        return self._first(memory, spec, listed, k, codes, y, stride, reads)

    def _activate(self, memory: DeviceMemory, grid: tuple[int, int, int], arguments: Sequence[bytes]) -> Touched:
        if arguments[0] not in self._known:
            assert self._real_activate is not None
            return self._real_activate.run(memory, grid, 128, 0, arguments)
        spec, _ = self._known[arguments[0]]
        gate, up, h, stride = struct.unpack("<qqqq", b"".join(arguments[1:]))
        nbytes = 4 * grid[1] * stride
        reads = [(at, nbytes) for at in (gate, up) if at]
        assert bool(gate) == spec.has_gate
        for at, _ in reads:
            read_written(memory, at, nbytes)
        self._h[h] = self._h[up]
        return reads, [(h, nbytes)]

    def _down(self, memory: DeviceMemory, grid: tuple[int, int, int], arguments: Sequence[bytes]) -> Touched:
        if arguments[0] not in self._known:
            return self._product(memory, grid, arguments)
        spec, _ = self._known[arguments[0]]
        assert grid[0] == -(-spec.hidden // 64)
        return self.last(memory, [*arguments[:4], arguments[-1]], grid[1])

    def _product(self, memory: DeviceMemory, grid: tuple[int, int, int], arguments: Sequence[bytes]) -> Touched:
        """A matrix beside the experts, the only one of a layout: one for all rows, or one of each of several heads."""
        layout = type(expert_layout(*next(iter(self._known.values())))).from_buffer_copy(arguments[0])
        own, heads = layout.matrix[2], grid[1]
        (rows, cols, _, stored), planes = own.size, next(n for n, kind in enumerate(own.kind, 1) if kind)
        view = MatrixView(
            rows=rows, cols=cols, groups=stored // own.group, group=own.group, kind=own.kind[planes - 1],
            form=own.form[planes - 1], zero=own.zero[planes - 1], table=ctypes.addressof(own.table),
        )  # fmt: skip
        assert (own.unit, sum(map(bool, own.kind))) == (0, 1)
        experts, slots, given = (struct.unpack("<q", a)[0] for a in arguments[1:4])
        (out,) = struct.unpack("<q", arguments[-1])
        sizes, places = [nbytes for _, nbytes in sections_of(view)], [*own.codes[:planes], own.params[planes - 1]]
        if own.bias >= 0:
            sizes, places = [*sizes, 4 * rows], [*places, own.bias]
        reads, writes = [(experts, heads * EXPERT.size)], []
        for head in range(heads):
            listed = read_written(memory, experts + head * EXPERT.size, EXPERT.size)
            block, *_, used, first, count, _ = EXPERT.unpack(listed)
            assert (used, first, grid) == (planes, head, (-(-rows // 64), heads, -(-count // 32)))
            own = read_written(memory, slots + 4 * first, 4 * count)
            assert own == np.arange(first, first + count, dtype=np.int32).tobytes()
            held = [bytearray(read_written(memory, block + at, n)) for at, n in zip(places, sizes, strict=True)]
            view.unit = struct.unpack("<f", read_written(memory, block, 4))[0]
            where = [ctypes.addressof((ctypes.c_char * len(data)).from_buffer(data)) for data in held]
            view.codes[:] = (where[0], 0, where[1]) if view.kind == SIX else (*where[:planes], 0, 0)[:3]
            view.params, view.bias = where[planes], [*where, 0][planes + 1]
            y = self._kernel.linear(view, self._x[given][first : first + count], torch.empty(count, rows))
            memory.write(out + 4 * first * rows, y.numpy().tobytes())
            writes.append((out + 4 * first * rows, 4 * count * rows))
            reads += [(slots + 4 * first, 4 * count), (block, 4)]
            reads += [(block + at, n) for at, n in zip(places, sizes, strict=True)]
        return reads, writes

    def last(self, memory: DeviceMemory, arguments: Sequence[bytes], n: int) -> Touched:
        """All of the experts, from what h was made of. arguments: layout, experts, slots, codes, out."""
        spec, activation, listed, reads = self._experts(memory, arguments, n)
        codes, to = (struct.unpack("<q", a)[0] for a in arguments[3:5])
        x, k = self._from[codes]
        slots = sum(expert[6] for expert in listed)
        work, first = [], 0
        for expert in listed:
            if expert[4]:
                parts, read = self._parts(memory, spec, expert)
                reads += read
                work.append(Work(parts, list(range(first, first + expert[6]))))
            first += expert[6]
        out = torch.zeros(slots, spec.hidden)  # of those that are not there
        given = x if k == 1 else x.repeat_interleave(k, 0)[:slots]
        self._kernel.run(spec, activation, work, given.contiguous(), 1, out)
        memory.write(to, out.numpy().tobytes())
        return reads, [(to, 4 * slots * spec.hidden)]

    def _parts(self, memory: DeviceMemory, spec: ExpertSpec, expert: Sequence[int]) -> tuple[Parts, list[Range]]:
        """An expert's parts, out of the card's memory."""
        tier = spec.tiers[expert[4] - 1]
        layout = spec.layout
        at = {part.index: address for part, address in zip(layout.codes_for(tier), expert)}
        at[layout.params_for(tier).index] = expert[3]
        sizes = {index: layout.parts[index].nbytes for index in at}
        held = {
            i: torch.frombuffer(bytearray(read_written(memory, a, sizes[i])), dtype=torch.uint8) for i, a in at.items()
        }
        return Parts(spec, held, tier), [(address, sizes[index]) for index, address in at.items()]
