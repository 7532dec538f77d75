"""How fast the expert kernels read packed weights, against how fast memory can be read at all in the same minute.

    python -m tests.benchmarks.kernel [--json] [--threads N] [--isa avx2]

Roof and kernel take turns, so that both meet the same neighbours. Figures are medians; where a machine is shared, only
the best of each, given beside them, says something about the kernels.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from engine.experts.opening import open_runtime
from engine.kernels.activation import Activation
from engine.kernels.call import Planes, Work
from engine.kernels.native import ISAS, NativeKernel
from engine.kernels.reference import expert_forward
from engine.store.layout import ExpertSpec
from tests.engine.experts.sources import MemorySource
from tests.engine.kernels.records import random_planes

SILU = Activation()
LARGE = ExpertSpec(2048, 1024, 8, 64)  # an expert of OLMoE
SMALL = ExpertSpec(256, 128, 8, 32)  # of the built-in model, nearly
TOP_K = 8


def seconds(action: Callable[[], object]) -> float:
    """Wall time of one run."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def read_bytes(spec: ExpertSpec, tier: int) -> int:
    """Bytes that one expert at `tier` really touches: codes of its planes, parameters of the finest."""
    planes = spec.layout.planes_for(tier)
    return sum(s.nbytes for p in planes for s in p.codes.values()) + sum(s.nbytes for s in planes[-1].params.values())


def streaming(kernel: NativeKernel, tier: int, repeats: int) -> dict[str, float]:
    """Decode (one token, top 8) over experts that do not fit any cache."""
    planes = random_planes(LARGE)
    experts = [Planes(LARGE, tuple(p.clone() for p in planes), tier) for _ in range(12 * TOP_K)]
    x, out = torch.randn(1, LARGE.hidden), torch.empty(TOP_K, LARGE.hidden)
    plain = torch.ones(512 << 20, dtype=torch.uint8)  # written, or it would all be the one page of zeros
    touched = TOP_K * read_bytes(LARGE, tier)
    ours, roof = [], []
    for turn in range(repeats):
        first = turn * TOP_K % len(experts)
        work = [Work(expert, [i]) for i, expert in enumerate(experts[first : first + TOP_K])]
        ours.append(touched / seconds(lambda work=work: kernel.run(LARGE, SILU, work, x, TOP_K, out)) / 1e9)
        part = plain[turn % 8 * (64 << 20) :][: 64 << 20]
        roof.append(part.numel() / seconds(lambda part=part: kernel.read(part)) / 1e9)
    return {
        "ours_gb_s": statistics.median(ours),
        "roof_gb_s": statistics.median(roof),
        "ratio": statistics.median(ours) / statistics.median(roof),
        "best_gb_s": max(ours),
        "best_roof_gb_s": max(roof),
        "best_ratio": max(ours) / max(roof),
    }


def call_overhead(kernel: NativeKernel, repeats: int) -> dict[str, float]:
    """Microseconds at the size of the built-in model, top 4, one token: the whole call, and moe() around it."""
    experts = [Planes(SMALL, random_planes(SMALL, i), 8) for i in range(4)]
    x, out = torch.randn(1, SMALL.hidden), torch.empty(4, SMALL.hidden)
    work = [Work(expert, [i]) for i, expert in enumerate(experts)]
    runtime = open_runtime(source := MemorySource(SMALL, (0,), 8), SILU, 8 * source.expert_bytes)
    routing = source.routing(1, 4)
    weights = torch.rand(1, 4)
    calls: dict[str, Callable[[], object]] = {
        "kernel_us": lambda: kernel.run(SMALL, SILU, work, x, 4, out),
        "kernel_without_experts_us": lambda: kernel.run(SMALL, SILU, [], x, 4, out),
        "combine_us": lambda: kernel.combine(out, weights),
        "moe_us": lambda: runtime.moe(0, *routing),
    }
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            taken[name].append(1e6 * seconds(call))
    runtime.close()
    return {name: statistics.median(times) for name, times in taken.items()}


def prefill(kernel: NativeKernel, repeats: int) -> list[dict[str, float]]:
    """One large expert at 8 bits on many tokens: native, and decoding once for torch's matrix product."""
    expert = Planes(LARGE, random_planes(LARGE), 8)
    torch.set_num_threads(kernel.threads)
    rows = []
    for tokens in (1, 4, 16, 64, 256):
        x, out = torch.randn(tokens, LARGE.hidden), torch.empty(tokens, LARGE.hidden)
        work = [Work(expert, list(range(tokens)))]
        native = [seconds(lambda: kernel.run(LARGE, SILU, work, x, 1, out)) for _ in range(repeats)]  # noqa: B023
        weights = {m.name: torch.randn(m.rows, m.cols) for m in LARGE.matrices}

        def product(x: torch.Tensor = x, w: dict[str, torch.Tensor] = weights) -> torch.Tensor:
            return SILU.apply(x @ w["gate"].T, x @ w["up"].T) @ w["down"].T

        gemm = [seconds(product) for _ in range(repeats)]
        whole = [seconds(lambda: expert_forward(LARGE, SILU, expert, x)) for _ in range(max(2, repeats // 4))]  # noqa: B023
        rows.append(
            {
                "tokens": tokens,
                "native_ms": 1e3 * statistics.median(native),
                "torch_product_alone_ms": 1e3 * statistics.median(gemm),
                "torch_decode_and_product_ms": 1e3 * statistics.median(whole),
                "native_gflop_s": 2 * tokens * LARGE.parameters / statistics.median(native) / 1e9,
            }
        )
    return rows


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--isa", choices=ISAS)
    parser.add_argument("--repeats", type=int, default=60)
    options = parser.parse_args()
    kernel = NativeKernel(options.threads, options.isa)
    result: dict[str, Any] = {"isa": kernel.isa, "threads": kernel.threads}
    result["tiers"] = {str(tier): streaming(kernel, tier, options.repeats) for tier in LARGE.tiers[::-1]}
    result["small"] = call_overhead(kernel, 20 * options.repeats)
    result["prefill"] = prefill(kernel, max(3, options.repeats // 8))
    kernel.close()
    if options.json:
        print(json.dumps(result))
        return
    print(f"{kernel.name}, {kernel.threads} threads")
    for tier, row in result["tiers"].items():
        print(f"{tier} bits: " + ", ".join(f"{name} {value:.2f}" for name, value in row.items()))
    print("small: " + ", ".join(f"{name} {value:.1f}" for name, value in result["small"].items()))
    for row in result["prefill"]:
        print("prefill: " + ", ".join(f"{name} {value:.1f}" for name, value in row.items()))


if __name__ == "__main__":
    main()
