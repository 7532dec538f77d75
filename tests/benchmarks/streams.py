"""Work that reads weights once from memory: our experts, our matrices, and torch's own packed matrices."""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable
from itertools import cycle

import torch
from torch import Tensor

from engine.kernels.activation import Activation
from engine.kernels.native import EXPERT, NativeKernel, expert_layout
from engine.native.library import MatrixView
from engine.record.coding import Coding
from engine.record.layout import ExpertSpec

Action = Callable[[], object]
GROUP = 64
PART = 64 << 20  # read in one go for the roof
BURST = 4  # calls in a row; the first finds threads asleep and is not counted
TORCH_BITS = (8, 4)


def read_bytes(spec: ExpertSpec, tier: int) -> int:
    """Bytes of an expert that a call really touches: its codes, and the parameters of its tier."""
    layout = spec.layout
    return sum(s.nbytes for index in layout.parts_for(tier) for s in layout.parts[index].sections.values())


def experts(
    kernel: NativeKernel, memory: Tensor, shape: tuple[int, int, int], tier: int, coding: Coding | None = None
) -> tuple[list[Action], int]:
    """Calls of one decoded token over all the experts that `memory` holds, and bytes of each. shape: H, I, top k.

    coding: of experts that keep the codes of their source; then tier is 4 or 2.
    """
    hidden, intermediate, k = shape
    spec = ExpertSpec(hidden, intermediate, 8, GROUP)
    if coding is not None:
        spec = ExpertSpec(hidden, intermediate, 4, coding.group, codings=(coding,) * 3)
    codes, params, length = spec.layout.codes_for(tier), spec.layout.params_for(tier), spec.layout.nbytes
    x, weights, y = torch.randn(hidden), torch.full((k,), 1 / k), torch.empty(hidden)
    layout = ctypes.addressof(expert_layout(spec, Activation()))
    actions: list[Action] = []
    for first in range(0, memory.numel() // length // k * k, k):
        records = b""
        for rank in range(k):
            at = memory.data_ptr() + (first + rank) * length
            addresses = (*(*[at + p.offset for p in codes], 0, 0)[:3], at + params.offset)
            records += EXPERT.pack(*addresses, len(codes), rank, 1, 0)
        buffer = ctypes.create_string_buffer(records)

        def call(buffer: ctypes.Array[ctypes.c_char] = buffer) -> None:
            kernel.moe_one(layout, ctypes.addressof(buffer), k, x.data_ptr(), weights.data_ptr(), y.data_ptr())

        actions.append(call)
    return actions, k * read_bytes(spec, tier)


def dense(kernel: NativeKernel, memory: Tensor, rows: int, cols: int, bits: int) -> tuple[list[Action], int]:
    """Products of one token with one matrix after the other, and bytes of each."""
    planes = {4: (2, 2), 8: (2, 2, 4)}[bits]
    sizes = [rows * cols * plane // 8 for plane in planes] + [rows * cols // GROUP * 4]
    x, y = torch.randn(1, cols), torch.empty(1, rows)
    actions: list[Action] = []
    for at in range(memory.data_ptr(), memory.data_ptr() + memory.numel() - sum(sizes), sum(sizes)):
        view = MatrixView(rows=rows, cols=cols, groups=cols // GROUP, group=GROUP, kind=len(planes), unit=1.0)
        for i in range(len(planes)):
            view.codes[i] = at + sum(sizes[:i])
        view.params = at + sum(sizes[:-1])
        actions.append(lambda view=view: kernel.linear(view, x, y))  # type: ignore[misc]
    return actions, sum(sizes)


def torch_matrices(shape: tuple[int, int, int], bits: int, copies: int = 12) -> tuple[list[Action], int]:
    """The products of one layer's experts by torch's own kernels for packed weights, and bytes of each such call."""
    hidden, intermediate, k = shape
    matrices = [(intermediate, hidden)] * (2 * k) + [(hidden, intermediate)] * k
    inputs = {cols: torch.randn(1, cols, dtype=torch.bfloat16) for cols in (hidden, intermediate)}
    actions: list[Action] = []
    for _ in range(copies):
        packed = [_torch_matrix(rows, cols, bits, inputs[cols]) for rows, cols in matrices]
        actions.append(lambda packed=packed: [product() for product in packed])  # type: ignore[misc]
    per_row = {8: 2, 4: 0}[bits]
    return actions, sum(rows * cols * bits // 8 + rows * cols // GROUP * 4 * (bits == 4) + rows * per_row
                        for rows, cols in matrices)  # fmt: skip


def _torch_matrix(rows: int, cols: int, bits: int, x: Tensor) -> Action:
    ops = torch.ops.aten
    if bits == 8:
        weights = torch.randint(-127, 128, (rows, cols), dtype=torch.int8)
        scales = torch.ones(rows, dtype=torch.bfloat16)
        return lambda: ops._weight_int8pack_mm(x, weights, scales)
    codes = torch.randint(0, 16, (rows, cols), dtype=torch.int32)
    packed = ops._convert_weight_to_int4pack_for_cpu(codes, 1)
    params = torch.ones(cols // GROUP, rows, 2, dtype=torch.bfloat16)
    return lambda: ops._weight_int4pack_mm_for_cpu(x, packed, GROUP, params)


class Samples:
    """Rates of one kind of work, apart by whether every thread had a core of its own all the while."""

    def __init__(self, threads: int) -> None:
        self._needed = 0.9 * threads  # of processor time per second; threads wait awake within a call
        self.undisturbed: list[float] = []
        self.disturbed: list[float] = []

    def take(self, action: Action, nbytes: int) -> None:
        """Run and note bytes per second."""
        processor, start = time.process_time(), time.perf_counter()
        action()
        seconds = time.perf_counter() - start
        fair = time.process_time() - processor >= self._needed * seconds
        (self.undisturbed if fair else self.disturbed).append(nbytes / seconds)

    @property
    def median(self) -> float:
        """Of the undisturbed ones, where there are enough."""
        return statistics.median(self.undisturbed if len(self.undisturbed) >= BURST else self.all)

    @property
    def all(self) -> list[float]:
        """Every rate."""
        return self.undisturbed + self.disturbed


def turns(
    kernel: NativeKernel, memory: Tensor, actions: list[Action], nbytes: int, repeats: int
) -> dict[str, float | int]:
    """Bursts of work and of plain reading in turns. Returns GB/s of both, the ratio, microseconds of a call."""
    work, roof = Samples(kernel.threads), Samples(kernel.threads)
    parts = [memory[at : at + PART] for at in range(0, memory.numel() - PART + 1, PART)]
    calls, reads = cycle(actions), cycle([lambda part=part: kernel.read(part) for part in parts])  # type: ignore[misc]
    for _ in range(repeats):
        for samples, run, size in ((work, calls, nbytes), (roof, reads, PART)):
            time.sleep(0.001)  # what ran before comes to rest
            next(run)()
            for _ in range(BURST - 1):
                samples.take(next(run), size)
    return {
        "gb_s": work.median / 1e9,
        "roof_gb_s": roof.median / 1e9,
        "of_roof": work.median / roof.median,
        "call_us": 1e6 * nbytes / work.median,
        "undisturbed": len(work.undisturbed),
        "samples": len(work.all),
    }
