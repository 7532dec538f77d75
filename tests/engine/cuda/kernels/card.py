"""A layer's experts on a card that is not there: uploads, launches and downloads, as an engine would."""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Collection, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from engine.cuda.ptx_files import read_ptx
from engine.experts.execution.requests import slots_by_expert
from engine.kernels.activation import Activation
from engine.kernels.call import Parts
from engine.kernels.native import EXPERT, expert_layout
from engine.record.layout import ExpertSpec, Part
from tests.engine.cuda.ptx.memory import BASE, DEAD, FRESH, DeviceMemory
from tests.engine.cuda.ptx.module import LaunchReport, Module

THREADS, ROWS, GEMM_TOKENS = 128, 64, 32  # of a block: threads, rows of a product, tokens of uh_gemm
FLAVOURS = ("sm_75", "sm_80")
SILU = Activation()


class _Move(NamedTuple):
    """Bytes of a part that lie elsewhere on the card."""

    offset: int
    to: int
    nbytes: int


@functools.cache
def module_of(flavour: str) -> Module:
    """The shipped kernels."""
    return Module(read_ptx(flavour).decode("ascii"))


def argument(value: int | float | bytes, kind: str = "Q") -> bytes:
    """One argument as a driver copies it: an address, or a number of the struct's kind."""
    return value if isinstance(value, bytes) else struct.pack("<" + kind, value)


def apart_layout(layout: ctypes.Structure, spec: ExpertSpec) -> tuple[ctypes.Structure, dict[int, list[_Move]]]:
    """The same experts with dead bytes behind every section: the layout, and by part what has to be moved where.

    In a record sections follow one another, and a kernel that reads too far finds bytes there.
    """
    moved = type(layout).from_buffer_copy(layout)
    moves: dict[int, list[_Move]] = {}
    ends: dict[int, int] = {}

    def place(part: Part, offset: int, nbytes: int) -> int:
        to = ends.get(part.index, 0)
        ends[part.index] = -(-(to + nbytes) // 256) * 256 + 256
        moves.setdefault(part.index, []).append(_Move(offset, to, nbytes))
        return to

    for index, m in enumerate(spec.matrices):
        at = moved.matrix[index + 3 - len(spec.matrices)]
        for plane, part in enumerate(spec.layout.codes_for(spec.top)):
            bits, (rows, cols) = spec.plane_bits(m)[plane], spec.padded(m)
            at.codes[plane] = place(part, part.sections[m.name].offset, rows * cols * bits // 8)
        for planes, tier in enumerate(spec.tiers):
            part = spec.layout.params_for(tier)
            at.params[planes] = place(part, part.sections[m.name].offset, spec.params_bytes(m, tier))
        head = spec.layout.head
        at.unit = place(head, at.unit, 4)
        if m.name in head.biases:
            at.bias = place(head, head.biases[m.name].offset, 4 * m.rows)
    return moved, moves


class Card:
    """Memory of a card with the kernels of one flavour. x, h and what else is float32 have one row for each vector.

    apart: sections of records lie apart, so that reading too far is found; else parts are copied as they are.
    """

    def __init__(self, flavour: str = "sm_80", module: Module | None = None, seed: int = 0, apart: bool = True) -> None:
        self.memory, self.module, self.seed = DeviceMemory(64 << 20), module or module_of(flavour), seed
        self.apart, self.reports = apart, list[tuple[str, LaunchReport]]()

    def launch(self, name: str, grid: tuple[int, ...], *arguments: bytes) -> LaunchReport:
        """Launch with blocks of THREADS."""
        self.seed += 1
        whole = (*grid, 1, 1)[:3]
        report = self.module.launch(name, whole, (THREADS, 1, 1), 0, arguments, self.memory, self.seed)  # type: ignore[arg-type]
        self.reports.append((name, report))
        return report

    def put(self, data: bytes | Tensor) -> int:
        """The address of a copy."""
        raw = data if isinstance(data, bytes) else data.contiguous().view(-1).view(torch.uint8).numpy().tobytes()
        address = self.memory.alloc(max(len(raw), 1))
        self.memory.write(address, raw)
        return address

    def room(self, nbytes: int) -> int:
        """The address of memory in which nothing was written yet."""
        return self.memory.alloc(max(nbytes, 1))

    def floats(self, address: int, *shape: int) -> Tensor:
        """float32 from the card, which has to have written all of it."""
        count = 4 * torch.Size(shape).numel()
        assert self.memory.is_written(address, count), "some of the result was never written"
        return torch.frombuffer(bytearray(self.memory.read(address, count)), dtype=torch.float32).view(shape)

    def quantize(self, x: int, stride: int, *, cols: int, stored: int, group: int, n: int) -> tuple[int, int, int]:
        """x [n, stride] in 8 bits: addresses of codes, scales and sums."""
        groups = stored // group
        codes, scales, sums = self.room(n * stored), self.room(4 * n * groups), self.room(4 * n * groups)
        self.launch(
            "uh_quantize", (-(-groups // 4), n), argument(x), argument(stride, "q"),
            *(argument(value, "i") for value in (cols, stored, group, n)), *map(argument, (codes, scales, sums)),
        )  # fmt: skip
        return codes, scales, sums

    def pad(self, x: int, stride: int, *, cols: int, stored: int, group: int, n: int) -> tuple[int, int]:
        """x [n, stride] with zeros behind, and the sums of its groups."""
        groups = stored // group
        padded, sums = self.room(4 * n * stored), self.room(4 * n * groups)
        self.launch(
            "uh_pad", (-(-groups // 4), n), argument(x), argument(stride, "q"),
            *(argument(value, "i") for value in (cols, stored, group, n)), argument(padded), argument(sums),
        )  # fmt: skip
        return padded, sums

    def part(self, data: Tensor, moves: list[_Move]) -> int:
        """The address of a copy of a part: as it is, or without what is between its sections."""
        if not self.apart:
            return self.put(data)
        address = self.room(max(move.to + move.nbytes for move in moves))
        dead = self.memory.state[address - BASE :][: self.memory.size_of(address)]
        dead[:] = DEAD
        for move in moves:
            dead[move.to : move.to + move.nbytes] = FRESH
            self.memory.write(address + move.to, data[move.offset : move.offset + move.nbytes].numpy().tobytes())
        return address

    def expert(self, parts: Parts, moves: dict[int, list[_Move]]) -> tuple[int, ...]:
        """Copies of an expert's parts: addresses of the codes' and of the parameters'."""
        layout = parts.spec.layout
        needed = [*(part.index for part in layout.codes_for(parts.tier)), layout.params_for(parts.tier).index]
        *codes, params = (self.part(parts.parts[index], moves[index]) for index in needed)
        return (*(*codes, 0, 0)[:3], params)

    def experts(
        self, experts: dict[int, Parts], ids: Tensor, moves: dict[int, list[_Move]], missing: Collection[int] = ()
    ) -> tuple[int, int, int, int]:
        """Addresses of the list of experts and of their slots; how many there are; the most slots of one. missing:
        those that are not there."""
        work = slots_by_expert(ids.flatten().tolist())
        packed, slots = b"", []
        for expert, its in work.items():
            where, planes = (0, 0, 0, 0), 0
            if expert not in missing:
                where, planes = self.expert(experts[expert], moves), experts[expert].planes
            packed += EXPERT.pack(*where, planes, len(slots), len(its), 0)
            slots += its
        most = max(map(len, work.values()))
        return self.put(packed), self.put(torch.tensor(slots, dtype=torch.int32)), len(work), most

    def layer(
        self,
        spec: ExpertSpec,
        experts: dict[int, Parts],
        x: Tensor,
        ids: Tensor,
        how: str,
        activation: Activation = SILU,
        *,
        missing: Collection[int] = (),
    ) -> Tensor:
        """The rows of all slots, [T * K, H]. how: "1", "4", "exact" or "gemm", the kernels to take. missing: experts
        that are not there."""
        layout, moves = apart_layout(expert_layout(spec, activation), spec)
        if not self.apart:
            layout = expert_layout(spec, activation)
        gate_up, down, k = layout.matrix[1], layout.matrix[2], ids.shape[1]
        list_of, slots, n, most = self.experts(experts, ids, moves, missing)
        shape = argument(bytes(layout))
        common = (shape, argument(list_of), argument(slots))
        n_slots, inner = ids.numel(), spec.intermediate
        make = self.pad if how == "exact" else self.quantize
        vectors = make(
            self.put(x), spec.hidden, cols=spec.hidden, stored=gate_up.size[3], group=gate_up.group, n=len(x)
        )
        h, stride = self.room(4 * n_slots * (inner + 3)), inner + 3
        out = self.room(4 * n_slots * spec.hidden)
        if how == "gemm":
            self._gemm_up(spec, common, shape, n, most, k, vectors, h, stride, n_slots)
        else:
            rows = ROWS // 2 if spec.has_gate else ROWS
            self.launch(
                f"uh_gate_up_{how}", (-(-inner // rows), n), *common, argument(k, "i"), *map(argument, vectors),
                argument(h), argument(stride, "q"),
            )  # fmt: skip
        vectors = make(h, stride, cols=inner, stored=down.size[3], group=down.group, n=n_slots)
        if how == "gemm":
            grid = (-(-spec.hidden // ROWS), n, -(-most // GEMM_TOKENS))
            self.launch(
                "uh_gemm", grid, shape, argument(2, "i"), *common[1:], argument(k, "i"), *map(argument, vectors),
                argument(out), argument(spec.hidden, "q"),
            )  # fmt: skip
        else:
            self.launch(f"uh_down_{how}", (-(-spec.hidden // ROWS), n), *common, *map(argument, vectors), argument(out))
        return self.floats(out, n_slots, spec.hidden)

    def _gemm_up(
        self, spec: ExpertSpec, common: Sequence[bytes], shape: bytes, n: int, most: int, k: int,
        vectors: tuple[int, ...], h: int, stride: int, n_slots: int,
    ) -> None:  # fmt: skip
        grid = (-(-spec.intermediate // ROWS), n, -(-most // GEMM_TOKENS))
        gate = self.room(4 * n_slots * stride) if spec.has_gate else 0
        for which, to in ((0, gate), (1, h)):
            if to:
                self.launch(
                    "uh_gemm", grid, shape, argument(which, "i"), *common[1:], argument(k, "i"),
                    *map(argument, vectors), argument(to), argument(stride, "q"),
                )  # fmt: skip
        self.launch(
            "uh_activate", (-(-spec.intermediate // THREADS), n_slots), shape, argument(gate), argument(h),
            argument(h), argument(stride, "q"),
        )  # fmt: skip

    def combine(self, out: Tensor, weights: Tensor) -> Tensor:
        """[T, H]: see uh_combine."""
        tokens, k = weights.shape
        y = self.room(4 * tokens * out.shape[1])
        self.launch(
            "uh_combine", (-(-out.shape[1] // THREADS), tokens), argument(self.put(weights)), argument(self.put(out)),
            argument(y), argument(k, "i"), argument(out.shape[1], "i"),
        )  # fmt: skip
        return self.floats(y, tokens, out.shape[1])
