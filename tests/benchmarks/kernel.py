"""How fast the kernels compute with packed weights, against how fast memory can be read at all in the same minute.

    python -m tests.benchmarks.kernel [--json] [--tier 8|4|2] [--isa avx2] [--threads N]

One decoded token at a time, over experts of real shapes that fit no cache; roof and kernel take turns. `ours` and
`peer` (torch's own kernels for 8- and 4-bit matrices; there are none for 2 bits) are GB/s on OLMoE's experts at --tier,
`floor` the seconds that their bytes take at the roof. Where a machine is shared, medians count the runs in which every
thread had a core; how many those were stands beside them.
"""

from __future__ import annotations

import argparse
import statistics
import time
from itertools import cycle
from typing import Any

import torch
from torch import Tensor

from engine.kernels.activation import Activation
from engine.kernels.call import Parts, Work
from engine.kernels.native import NativeKernel
from engine.native.library import ISAS
from engine.native.memory import huge
from engine.record.coding import Coding
from engine.record.layout import ExpertSpec
from tests.benchmarks.common import arguments, conditions, emit
from tests.benchmarks.streams import BURST, TORCH_BITS, Samples, dense, experts, torch_matrices, turns
from tests.engine.experts.sources import MemorySource
from tests.engine.kernels.records import random_parts

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
    seconds = {name: statistics.mean(sorted(own)[: max(1, len(own) // 10)]) for name, own in taken.items()}
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
    return {f"{name}_us": 1e6 / samples.median for name, samples in taken.items()}


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    torch.set_num_threads(args.threads or NativeKernel().threads)
    memory = huge(MEMORY)
    memory.view(torch.int64).fill_(0x1234123412341234)  # small, and not the one page of zeros
    rows: dict[str, dict[str, float | int]] = {}
    kernel = NativeKernel(args.threads, args.isa)
    if args.only == "kept":
        found = {"kept": kept_rates(kernel, memory, args.repeats)}
        kernel.close()
        return {**found, "conditions": conditions(args, isa=kernel.isa, threads=kernel.threads)}
    exact = NativeKernel(args.threads, args.isa, exact=True)
    for tier in (8, 4, 2):
        for name, shape in SHAPES.items():
            repeats = args.repeats // 4 if name == "mixtral" else args.repeats
            rows[f"{name} {tier}"] = turns(kernel, memory, *experts(kernel, memory, shape, tier), repeats)
        rows[f"olmoe {tier} exact"] = turns(exact, memory, *experts(exact, memory, SHAPES["olmoe"], tier), args.repeats)
    kept = kept_rates(kernel, memory, args.repeats)
    for bits in (8, 4):
        for name, (height, width) in MATRICES.items():
            rows[f"{name} {bits}"] = turns(kernel, memory, *dense(kernel, memory, height, width, bits), args.repeats)
    small = call_overhead(kernel, 20 * args.repeats)
    del memory
    peer = None
    if args.tier in TORCH_BITS:
        spare = huge(MEMORY // 4).fill_(1)
        peer = turns(kernel, spare, *torch_matrices(SHAPES["olmoe"], args.tier), args.repeats)
    best = rows[f"olmoe {args.tier}"]
    result: dict[str, Any] = {
        "ours": best["gb_s"],
        "peer": peer and peer["gb_s"],
        "ratio": peer and best["gb_s"] / peer["gb_s"],
        "floor": 1e-6 * best["call_us"] * best["of_roof"],
        "roof": best["roof_gb_s"],
        "kept": kept,
        "of_roof": {name: round(row["of_roof"], 3) for name, row in rows.items()},
        "rows": rows,
        "small": small,
        "conditions": conditions(args, isa=kernel.isa, threads=kernel.threads),
    }
    kernel.close()
    exact.close()
    return result


def main() -> None:
    """Print the figures."""
    parser = arguments(__doc__)
    parser.add_argument("--tier", type=int, choices=(8, 4, 2), default=4, help="bits of `ours` and `peer`")
    parser.add_argument("--isa", choices=ISAS, help="default: the best that there is")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--repeats", type=int, default=30, help="turns of each")
    parser.add_argument("--only", choices=("kept",), help="only the formats that keep their codes")
    args = parser.parse_args()
    emit(measure(args), args.json)


if __name__ == "__main__":
    main()
