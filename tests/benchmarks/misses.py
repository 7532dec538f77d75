"""The expert runtime where most of what a token needs is on the disk: how close it comes to the floor.

    python -m tests.benchmarks.misses [--cache 0.25] [--dial exact|balanced|fast] [--prompt N] [--between MS] [--json]

Experts of Qwen3's shape (hidden 2048, intermediate 768, 128 a layer, top 8) at 4 bits, random ones, written once into
`--folder`; every token chooses its experts uniformly. Nothing else of a model is there: `--between` is how long the
caller computes between two layers (attention), with the same kernels, while the disk could rest.

floor: max(bytes missed / disk rate, bytes used / memory rate), summed over layers; both rates measured in turns with
the tokens, the disk's by plain direct reads of whole experts. of_floor: floor / time spent in `moe_step`.
With --prompt, seconds of a chunk of so many tokens; floor: max(bytes read / disk rate, the same with all in memory).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch

from engine.experts.backend import Step
from engine.experts.keys import ExpertKey, keys_of
from engine.experts.precision import EXACT, Thresholds, from_scores
from engine.experts.runtime import open_runtime
from engine.kernels.activation import Activation
from engine.kernels.native import NativeKernel
from engine.native.memory import HUGE, huge
from engine.native.unimportance import unimportance
from engine.planning.speed import BEYOND_FIRST, dial_shares
from engine.store.layout import ExpertSpec
from engine.store.manifest import Source
from engine.store.reader import Store
from engine.store.writer import Description, LayerShape, StoreWriter
from tests.benchmarks.common import arguments, emit
from tests.benchmarks.prepare import default_folder
from tests.engine.kernels.records import random_parts

SPEC = ExpertSpec(2048, 768, 4, 64)
EXPERTS, TOP_K = 128, 8
DISTINCT = 16  # experts made anew; the others are these, their codes moved round


def write_store(path: Path, layers: int) -> None:
    """Random experts, each other bytes than any other."""
    shapes = [LayerShape(layer, EXPERTS, SPEC) for layer in range(layers)]
    made = [torch.cat(list(random_parts(SPEC, seed).values())) for seed in range(DISTINCT)]
    head = SPEC.layout.head
    start, nbytes = head.offset + head.sections["up"].offset, head.sections["up"].nbytes
    with StoreWriter(path, f"misses {layers}", shapes, ()) as writer:
        for layer in range(layers):
            for expert in range(EXPERTS):
                record = made[expert % DISTINCT].clone()
                codes = record[start : start + nbytes]
                codes.copy_(codes.roll(64 * (1 + layer * EXPERTS + expert)))
                writer.write_record(layer, expert, record.numpy(), {})
        writer.finish(Description(Source("", "", "", ()), "test", {}, (), ()))


class Disk:
    """Plain direct reads of whole experts, by as many threads as the loader has."""

    def __init__(self, store: Store, readers: int) -> None:
        self._store = store
        self._keys = keys_of(store)
        self._pool = ThreadPoolExecutor(readers)
        self._random = random.Random(1)
        self._memory = [huge(SPEC.layout.nbytes + HUGE)[: SPEC.layout.nbytes].numpy().data for _ in range(readers)]
        self._files = {
            layer.index: os.open(store.path / layer.file, os.O_RDONLY | os.O_DIRECT) for layer in store.manifest.layers
        }

    def rate(self, reads: int = 96) -> float:
        """Bytes per second."""
        chosen = self._random.sample(self._keys, reads)
        start = time.perf_counter()
        list(self._pool.map(self._read, chosen, [i % len(self._memory) for i in range(reads)]))
        return reads * SPEC.layout.nbytes / (time.perf_counter() - start)

    def _read(self, key: ExpertKey, buffer: int) -> None:
        offset = self._store.manifest.layers[key.layer].records[key.expert].offset
        os.preadv(self._files[key.layer], [self._memory[buffer]], offset)

    def close(self) -> None:
        """Release everything."""
        self._pool.shutdown()
        for file in self._files.values():
            os.close(file)


def dial_of(name: str) -> Thresholds:
    """Thresholds that give these router weights the dial's shares."""
    if name == "exact":
        return EXACT
    weights = torch.stack([routing(seed)[1][0] for seed in range(2000)])
    return from_scores(torch.from_numpy(unimportance(weights)), *dial_shares(name, weights.shape[1]))


def routing(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """ids [1, K], weights [1, K]: uniform."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randperm(EXPERTS, generator=generator)[:TOP_K]
    weights = torch.randn(EXPERTS, generator=generator).mul_(1.5).softmax(0).sort(descending=True).values[:TOP_K]
    return ids[None], (weights / weights.sum())[None]


def many(seed: int, tokens: int) -> tuple[torch.Tensor, torch.Tensor]:
    """ids [T, K], weights [T, K]."""
    ids, weights = zip(*(routing(seed + token) for token in range(tokens)), strict=True)
    return torch.cat(ids), torch.cat(weights)


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    path = args.folder / f"misses-{args.layers}"
    if not path.is_dir():
        write_store(path, args.layers)
    x = torch.randn(1, SPEC.hidden)
    plain = huge(256 << 20).fill_(1)
    with Store.open(path) as store, contextlib.closing(Disk(store, args.readers)) as disk:
        capacity = int(args.cache * args.layers * EXPERTS * SPEC.layout.bytes_for(4))
        runtime = open_runtime(
            store, Activation(), capacity, readers=args.readers, thresholds=dial_of(args.dial), policy="lru_layer"
        )
        kernel = runtime.native
        assert isinstance(kernel, NativeKernel)
        part = plain[: int(args.between * 1e-3 * 30e9)]
        step = Step.of(SPEC.hidden, TOP_K)
        step.x.copy_(x)
        used = TOP_K * SPEC.layout.bytes_for(4)
        ours, floors, rates, missed = [], [], [], []
        seed, turn = 0, -1
        try:
            while turn < args.turns:
                turn += 1
                disk_rate = disk.rate()
                start = time.perf_counter()
                for _ in range(8):
                    kernel.read(plain)
                memory_rate = 8 * plain.numel() / (time.perf_counter() - start)
                spent = floor = 0.0
                before_turn = runtime.snapshot().bytes_read
                for _ in range(args.tokens):
                    for layer in store.layers:
                        seed += 1
                        ids, weights = routing(seed)
                        step.ids.copy_(ids)
                        step.weights.copy_(weights)
                        if args.between:
                            kernel.read(part)
                        before = runtime.telemetry.bytes_read
                        start = time.perf_counter()
                        runtime.moe_step(layer, step)
                        spent += time.perf_counter() - start
                        floor += max((runtime.telemetry.bytes_read - before) / disk_rate, used / memory_rate)
                if turn:
                    ours.append(spent / args.tokens)
                    floors.append(floor / spent)
                    rates.append(disk_rate / 1e9)
                    missed.append((runtime.snapshot().bytes_read - before_turn) / args.tokens)
        finally:
            runtime.close()
    return {
        "ours": round(1e3 * statistics.median(ours) / args.layers, 3),
        "of_floor": round(statistics.median(floors), 3),
        "all": [round(f, 3) for f in sorted(floors)],
        "disk_gb_s": [round(r, 2) for r in sorted(rates)],
        "missed_mb_a_layer": round(statistics.median(missed) / 1e6 / args.layers, 2),
        "conditions": {k: v for k, v in vars(args).items() if k not in ("json", "folder")},
    }


def measure_prompt(args: argparse.Namespace) -> dict[str, Any]:
    """A chunk of a prompt through all layers: ours with the cache given, computing alone with all in memory."""
    path = args.folder / f"misses-{args.layers}"
    if not path.is_dir():
        write_store(path, args.layers)
    plain = huge(256 << 20).fill_(1)
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(args.prompt, SPEC.hidden, generator=generator)
    whole = args.layers * EXPERTS * SPEC.layout.bytes_for(4)
    with Store.open(path) as store, contextlib.closing(Disk(store, args.readers)) as disk:
        ours, full = (
            open_runtime(store, Activation(), int(share * whole), readers=args.readers, thresholds=dial_of(args.dial))
            for share in (args.cache, 1.0)
        )
        assert isinstance(full.native, NativeKernel)
        seconds: dict[str, list[float]] = {"ours": [], "compute": [], "floor": [], "disk": []}
        try:
            for turn in range(1 + args.turns):
                routed = [many(turn * 9001 + 601 * layer, args.prompt) for layer in store.layers]
                took = {}
                before = ours.snapshot().bytes_read
                for name, runtime in (("compute", full), ("ours", ours)):
                    runtime.telemetry.begin_answer()
                    start = time.perf_counter()
                    for layer, (ids, weights) in zip(store.layers, routed, strict=True):
                        for _ in range(round(args.between / 0.35) * args.prompt // 8):
                            full.native.read(plain[: int(0.35e-3 * 30e9)])
                        runtime.moe(layer, x, ids, weights)
                    took[name] = time.perf_counter() - start
                took["disk"] = (ours.snapshot().bytes_read - before) / disk.rate()
                took["floor"] = max(took["disk"], took["compute"])
                for name, values in seconds.items():
                    if turn:
                        values.append(took[name])
        finally:
            ours.close()
            full.close()
    of_floor = [a / b for a, b in zip(seconds["ours"], seconds["floor"], strict=True)]
    return {
        **{name: round(statistics.median(values), 4) for name, values in seconds.items()},
        "times_floor": round(statistics.median(of_floor), 3),
        "all": [round(f, 3) for f in sorted(of_floor)],
        "conditions": {k: v for k, v in vars(args).items() if k not in ("json", "folder")},
    }


def main() -> None:
    """Print the figures."""
    parser = arguments(__doc__)
    parser.add_argument("--cache", type=float, default=0.25, help="share of all experts' bytes")
    parser.add_argument("--dial", choices=tuple(BEYOND_FIRST), default="exact")
    parser.add_argument("--prompt", type=int, default=0, help="tokens of a chunk, instead of one by one")
    parser.add_argument("--layers", type=int, default=5)
    parser.add_argument("--readers", type=int, default=4)
    parser.add_argument("--between", type=float, default=0.35, help="milliseconds of computing between layers")
    parser.add_argument("--tokens", type=int, default=12, help="of one turn")
    parser.add_argument("--turns", type=int, default=8)
    parser.add_argument("--folder", type=Path, default=default_folder())
    args = parser.parse_args()
    emit(measure_prompt(args) if args.prompt else measure(args), args.json)


if __name__ == "__main__":
    main()
