"""How fast one token attends to a long context, against torch's flash attention and the read roof of the same run.

    python -m tests.benchmarks.attention [--threads N] [--isa avx2] [--repeats N] [--json]

Keys and values in bf16, of as many layers as no cache holds, taken in turn; ours, torch's, the plain reading of as many
bytes, and ours over few rows that caches hold take turns too. Figures are medians in GB/s of keys and values; `cached`
is what the multipliers allow as the kernel uses them. `floor` is the seconds that one layer's token takes at least: the
greater of its bytes at the roof and at `cached`; `of_floor` its share of the time taken.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from engine.kernels.native import NativeKernel
from engine.models.layers.prefill_attention import attend_one
from engine.native import op_graph
from engine.native.op_graph import STATES, GraphStep, KvRows, OpGraph
from tests.benchmarks.common import arguments, emit

SHAPES = ((16, 16, 128), (32, 4, 128), (32, 8, 128))  # heads, key heads, dim: OLMoE, Qwen3-30B, Mixtral
LENGTHS = (1024, 8192, 32768)
ALL_LAYERS = 384 << 20  # bytes of keys and values, at least: more than the last cache holds
CACHED = 1 << 20  # bytes: half of what the second caches of two cores hold


def seconds(action: Callable[[], object]) -> float:
    """Wall time of one run."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


class Layers:
    """Caches of several layers, and the op that attends to them."""

    def __init__(self, heads: int, kv_heads: int, dim: int, length: int, count: int = 0, times: int = 1) -> None:
        self.bytes = 2 * kv_heads * length * dim * 2
        count = count or max(4, -(-ALL_LAYERS // self.bytes))
        self.rows = [torch.randn(2, kv_heads, length, dim).bfloat16() for _ in range(count)]
        self.tables = [[KvRows([half], torch.bfloat16) for half in rows] for rows in self.rows]
        self.queries, self.out = torch.randn(heads, dim), torch.empty(heads, dim)
        room = torch.empty(op_graph.attend_room(heads, dim))
        self.scale = dim**-0.5
        self.graph = OpGraph([op_graph.attend(self.queries, self.out, room, 0, kv_heads, self.scale)] * times)
        self.step = GraphStep(1)
        self.length = length

    def ours(self, kernel: NativeKernel, layer: int) -> None:
        """One token, one layer."""
        tables = self.tables[layer % len(self.tables)]
        self.step.set(self.length - 1, [table.address for table in tables] + [0] * (STATES - 2))
        kernel.run_graph(self.graph, self.step)

    def torchs(self, layer: int) -> Tensor:
        """The same by torch's flash attention, queries packed per key head."""
        k, v = self.rows[layer % len(self.rows)]
        return attend_one(self.queries[None], [(k, v)], self.scale)


@torch.inference_mode()
def measure(kernel: NativeKernel, shape: tuple[int, int, int], length: int, repeats: int) -> dict[str, Any]:
    """Medians of one shape and length."""
    layers = Layers(*shape, length)
    times = layers.bytes * max(1, (16 << 20) // layers.bytes) // CACHED
    cached = Layers(*shape, CACHED // (4 * shape[1] * shape[2]), 1, times)
    plain = torch.ones(512 << 20, dtype=torch.uint8)  # written, or it would all be the one page of zeros
    rates: dict[str, list[float]] = {"ours": [], "peer": [], "roof": [], "cached": []}
    many = max(1, (16 << 20) // layers.bytes)  # calls at a time, so that all read about as much
    for turn in range(repeats + 1):
        at = turn * many

        def ours(at: int = at) -> None:
            for layer in range(at, at + many):
                layers.ours(kernel, layer)

        def torchs(at: int = at + len(layers.rows) // 2) -> None:
            for layer in range(at, at + many):
                layers.torchs(layer)

        size = many * layers.bytes
        part = plain[turn * size % (len(plain) - size) :][:size] if size < len(plain) else plain
        found = {
            "ours": ours, "peer": torchs, "roof": lambda part=part: kernel.read(part),
            "cached": lambda: cached.ours(kernel, 0),
        }  # fmt: skip
        for name, action in found.items():
            taken = seconds(action)
            if turn:
                read = {"roof": part.numel(), "cached": times * cached.bytes}.get(name, size)
                rates[name].append(read / taken / 1e9)
    ours_, peer, roof, in_cache = (statistics.median(rates[name]) for name in ("ours", "peer", "roof", "cached"))
    possible = min(roof, in_cache)
    return {
        "shape": shape, "length": length, "ours": ours_, "peer": peer, "ratio": ours_ / peer,
        "floor": layers.bytes / possible / 1e9, "of_floor": ours_ / possible, "roof": roof, "of_roof": ours_ / roof,
        "cached": in_cache, "best": max(rates["ours"]) / max(rates["roof"]),
    }  # fmt: skip


def main() -> None:
    """Command line."""
    parser = arguments(__doc__)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--isa")
    parser.add_argument("--repeats", type=int, default=9)
    args = parser.parse_args()
    kernel = NativeKernel(args.threads, args.isa)
    torch.set_num_threads(kernel.threads)
    found = [measure(kernel, shape, length, args.repeats) for shape in SHAPES for length in LENGTHS]
    at_8k = min((one for one in found if one["length"] == 8192), key=lambda one: one["of_roof"])
    names = ("ours", "peer", "ratio", "floor", "roof", "of_roof", "of_floor")
    conditions = {"kernel": kernel.name, "threads": kernel.threads, "torch": torch.__version__}
    shown = {"unit": "GB/s", "shown": at_8k["shape"], "length": 8192}
    emit({**{name: at_8k[name] for name in names}, "all": found, "conditions": conditions | shown}, args.json)
    kernel.close()


if __name__ == "__main__":
    main()
