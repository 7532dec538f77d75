"""What the expert runtime adds to the kernel when one token finds all its experts in memory.

    python -m tests.benchmarks.runtime [--json] [--repeats N] [--dial balanced]

Microseconds per layer, medians of calls taken in turns, nothing being in the processor's caches. ours: `moe_step`, the
way a decode step goes. peer: `moe`, the way of many tokens. floor: the kernel call alone, its arguments packed before.
roof: the time that the bytes of these experts take at the rate at which memory was read in the same run. overhead: of
the small shape, what is left of ours - floor at the best of many batches over the same experts, so of the code alone.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from engine.experts.backend import Step
from engine.experts.opening import open_runtime
from engine.experts.precision import EXACT, Thresholds
from engine.kernels.call import Parts
from engine.kernels.memory import huge
from engine.kernels.native import EXPERT, NativeKernel, expert_layout
from engine.store.layout import ExpertSpec
from tests.benchmarks.kernel import SILU, SMALL
from tests.benchmarks.streams import read_bytes
from tests.engine.experts.sources import MemorySource

LARGE = ExpertSpec(2048, 1024, 8)  # of OLMoE
SHAPES = {"builtin": (SMALL, 4, 8, 2, 8), "olmoe": (LARGE, 8, 16, 8, 4)}  # spec, top k, experts, layers, tier
ROOF_BYTES = 256 << 20


def packed(source: MemorySource, layer: int, ids: list[int], tier: int) -> tuple[Any, list[Parts]]:
    """The experts of one call as the library takes them, and what keeps them alive."""
    alive = list(source.parts(layer, dict.fromkeys(ids, tier)).values())
    table = (ctypes.c_char * (EXPERT.size * len(ids)))()
    for rank, expert in enumerate(alive):
        EXPERT.pack_into(table, EXPERT.size * rank, *expert.addresses, expert.planes, rank, 1, 0)
    return table, alive


def seconds(call: Callable[[], object]) -> float:
    """What one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def least(call: Callable[[], object], calls: int = 50, batches: int = 20) -> float:
    """Microseconds of one call in the best batch."""

    def batch() -> None:
        for _ in range(calls):
            call()

    return min(1e6 * seconds(batch) / calls for _ in range(batches))


def measure(spec: ExpertSpec, k: int, experts: int, layers: int, tier: int, dial: Thresholds, repeats: int) -> Any:
    """One shape."""
    source = MemorySource(spec, range(layers), experts)
    runtime = open_runtime(source, SILU, experts * layers * source.expert_bytes, thresholds=dial, tier=tier)
    kernel = runtime._kernels[0]  # the same threads for all
    assert isinstance(kernel, NativeKernel)
    layout = expert_layout(spec, SILU)
    plain = huge(ROOF_BYTES).fill_(1)
    best: dict[str, float] = {}
    taken: dict[str, list[float]] = {"ours": [], "peer": [], "floor": [], "roof": []}
    step = Step.of(spec.hidden, k)
    x, _, weights, y = step.addresses
    try:
        for turn in range(layers + repeats):  # the first visit of each layer loads it
            layer = turn % layers
            routing = source.routing(1, k, turn)
            if turn < layers:
                everyone = torch.arange(experts)[None]
                runtime.set_thresholds(EXACT)
                runtime.moe(layer, routing[0], everyone, torch.full((1, experts), 1 / experts))
                runtime.set_thresholds(dial)
                continue
            table, alive = packed(source, layer, routing[1][0].tolist(), tier)
            for tensor, value in zip((step.x, step.ids, step.weights), routing, strict=True):
                tensor.copy_(value)
            at = ctypes.addressof(table)
            calls = {
                "ours": lambda layer=layer: runtime.moe_step(layer, step),
                "peer": lambda layer=layer: runtime.moe(layer, step.x, step.ids, step.weights),
                "floor": lambda at=at: kernel.moe_one(ctypes.addressof(layout), at, k, x, weights, y),
            }
            order = list(calls)[turn % 3 :] + list(calls)[: turn % 3]
            for name in order:
                kernel.read(plain[: 64 << 20])
                taken[name].append(1e6 * seconds(calls[name]))
            taken["roof"].append(1e6 * seconds(lambda: kernel.read(plain)) * k * read_bytes(spec, tier) / ROOF_BYTES)
            if turn == layers + repeats - 1 and spec is SMALL:
                best = {name: least(calls[name]) for name in ("ours", "floor")}
            del alive
        missed = runtime.snapshot().misses - experts * layers
    finally:
        runtime.close()
    if missed:
        raise AssertionError(f"{missed} experts had to be read")
    row = {name: statistics.median(times) for name, times in taken.items()}
    row["ratio"] = row["peer"] / row["ours"]
    return {**row, "overhead": best["ours"] - best["floor"]} if best else row


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--dial", choices=("exact", "balanced"), default="exact")
    options = parser.parse_args()
    dial = EXACT if options.dial == "exact" else Thresholds(0.6, 0.9)
    result = {name: measure(*shape, dial, options.repeats) for name, shape in SHAPES.items()}
    if options.json:
        print(json.dumps({"dial": options.dial, "unit": "us per layer", **result}))
        return
    for name, row in result.items():
        print(f"{name}: " + ", ".join(f"{key} {value:.2f}" for key, value in row.items()))


if __name__ == "__main__":
    main()
