"""How fast the kernels compute with packed weights, against how fast memory can be read at all in the same minute.

    python -m tests.benchmarks.kernel [--json] [--only kept] [--isa avx2] [--threads N]

One decoded token at a time, over experts of real shapes that fit no cache; roof and kernel take turns. `of_roof`: the
kernel's rate as a share of the roof's, by row; a row has both in GB/s. Where a machine is shared, medians count the
runs in which every thread had a core; how many those were stands beside them. `small`: see `call_overhead`; `kept`: see
`kept_rates`.
"""

from __future__ import annotations

import argparse
import ctypes
import time
from collections.abc import Callable
from itertools import cycle
from statistics import mean, median
from typing import Any

import torch
from torch import Tensor

from engine.kernels.activation import Activation
from engine.kernels.call import Parts, Work
from engine.kernels.native import EXPERT, NativeKernel, expert_layout
from engine.native.library import ISAS, MatrixView
from engine.native.memory import huge
from engine.record.coding import Coding
from engine.record.layout import ExpertSpec
from tests.benchmarks.common import arguments, conditions, emit
from tests.benchmarks.ours import read_bytes
from tests.engine.experts.sources import MemorySource
from tests.engine.kernels.records import random_parts

Action = Callable[[], object]

SILU = Activation()
SHAPES = {"olmoe": (2048, 1024, 8), "qwen3": (2048, 768, 8), "mixtral": (4096, 14336, 2)}  # hidden, width, top k
MATRICES = {"projection": (2048, 2048), "head": (32768, 2048)}
# Experts that keep the codes of their source, by its format; the rate of their weights, not of their bytes, is to be
# 90 % of that of experts quantized here to 4 bits (`kept` in the result), as far as their bytes allow (`most`).
KEPT = {
    "Q4_0": Coding(4, 32, "half", "middle8"),
    "Q4_1": Coding(4, 32, "pair", "plain"),
    "Q4_K": Coding(4, 32, "super", "plain"),
    "IQ4_NL": Coding(4, 32, "half", "iq4_nl"),
    "MXFP4": Coding(4, 32, "byte", "e2m1"),
    "NVFP4": Coding(4, 16, "byte", "e2m1"),
    "GPTQ": Coding(4, 128, "pair", "plain"),
    "Q6_K": Coding(6, 16, "half", "middle32"),
}
PLAIN: tuple[str, None] = ("quantized here", None)
SMALL = ExpertSpec(256, 128, 8, 32)  # of the built-in model, nearly
MEMORY = 1200 << 20  # six experts of Mixtral
GROUP = 64
PART = 64 << 20  # read in one go for the roof
BURST = 4  # calls in a row; the first finds threads asleep and is not counted


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
    def middle(self) -> float:
        """Of the undisturbed ones, where there are enough."""
        return median(self.undisturbed if len(self.undisturbed) >= BURST else self.all)

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
        "gb_s": work.middle / 1e9,
        "roof_gb_s": roof.middle / 1e9,
        "of_roof": work.middle / roof.middle,
        "call_us": 1e6 * nbytes / work.middle,
        "undisturbed": len(work.undisturbed),
        "samples": len(work.all),
    }


def kept_rates(kernel: NativeKernel, memory: Tensor, repeats: int) -> dict[str, dict[str, float]]:
    """By format, weights per second as a share of those of experts quantized here to 4 bits, all in turns.

    rate: of the tenth of the calls that were least disturbed; where others use the machine, a median says what they
    did. bits: to read for a weight. most: what the rate would be where reading is all that takes time.
    """
    work = {name: experts(kernel, memory, SHAPES["olmoe"], 4, coding) for name, coding in (PLAIN, *KEPT.items())}
    calls = {name: cycle(actions) for name, (actions, _) in work.items()}
    taken: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(4 * repeats):
        for name, own in calls.items():
            next(own)()
            for _ in range(BURST - 1):
                call, start = next(own), time.perf_counter()
                call()
                taken[name].append(time.perf_counter() - start)
    seconds = {name: mean(sorted(own)[: max(1, len(own) // 10)]) for name, own in taken.items()}
    hidden, width, k = SHAPES["olmoe"]
    plain, nbytes = seconds[PLAIN[0]], work[PLAIN[0]][1]
    return {
        name: {
            "rate": round(plain / seconds[name], 3),
            "most": round(nbytes / work[name][1], 3),
            "bits": round(8 * work[name][1] / (3 * hidden * width * k), 3),
        }
        for name in KEPT
    }


def call_overhead(kernel: NativeKernel, repeats: int) -> dict[str, float]:
    """Microseconds at the size of the built-in model, top 4, one token: the whole call, and moe() around it."""
    made = [Parts(SMALL, random_parts(SMALL, i), 8) for i in range(4)]
    x, out = torch.randn(1, SMALL.hidden), torch.empty(4, SMALL.hidden)
    work = [Work(expert, [i]) for i, expert in enumerate(made)]
    source = MemorySource(SMALL, (0,), 8)
    runtime = source.open(8)
    routing = source.routing(1, 4)
    calls = {
        "kernel": lambda: kernel.run(SMALL, SILU, work, x, 4, out),
        "kernel_without_experts": lambda: kernel.run(SMALL, SILU, [], x, 4, out),
        "moe": lambda: runtime.moe(0, *routing),
    }
    taken = {name: Samples(1) for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            taken[name].take(call, 1)
    runtime.close()
    return {f"{name}_us": 1e6 / samples.middle for name, samples in taken.items()}


def measure(args: argparse.Namespace, kernel: NativeKernel) -> dict[str, Any]:
    """All figures."""
    memory = huge(MEMORY)
    memory.view(torch.int64).fill_(0x1234123412341234)  # small, and not the one page of zeros
    kept = {"kept": kept_rates(kernel, memory, args.repeats)}
    if args.only == "kept":
        return kept
    rows: dict[str, dict[str, float | int]] = {}
    exact = NativeKernel(args.threads, args.isa, exact=True)
    for tier in (8, 4, 2):
        for name, shape in SHAPES.items():
            repeats = args.repeats // 4 if name == "mixtral" else args.repeats
            rows[f"{name} {tier}"] = turns(kernel, memory, *experts(kernel, memory, shape, tier), repeats)
        rows[f"olmoe {tier} exact"] = turns(exact, memory, *experts(exact, memory, SHAPES["olmoe"], tier), args.repeats)
    exact.close()
    for bits in (8, 4):
        for name, (height, width) in MATRICES.items():
            rows[f"{name} {bits}"] = turns(kernel, memory, *dense(kernel, memory, height, width, bits), args.repeats)
    of_roof = {name: round(row["of_roof"], 3) for name, row in rows.items()}
    return {**kept, "of_roof": of_roof, "rows": rows, "small": call_overhead(kernel, 20 * args.repeats)}


def main() -> None:
    """Print the figures."""
    parser = arguments(__doc__)
    parser.add_argument("--isa", choices=ISAS, help="default: the best that there is")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--repeats", type=int, default=30, help="turns of each")
    parser.add_argument("--only", choices=("kept",), help="only the formats that keep their codes")
    args = parser.parse_args()
    kernel = NativeKernel(args.threads, args.isa)
    torch.set_num_threads(kernel.threads)
    found = measure(args, kernel)
    kernel.close()
    emit({**found, "conditions": conditions(args, isa=kernel.isa, threads=kernel.threads)}, args.json)


if __name__ == "__main__":
    main()
