"""How fast experts are quantized: native code and torch's beside the hqq package, in weights per second."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import torch
from hqq.core.quantize import Quantizer
from torch import Tensor

from engine.kernels.native import NativeKernel
from engine.native.library import default_threads
from engine.quantization.planes import encode
from engine.store.layout import ExpertSpec
from tests.random_models.shapes import SHAPES

ROWS = 1024  # of a matrix, at most: what the peer takes minutes for is no more telling
REPEATS = 3
NAMES = {"qwen3": "Qwen3-30B-A3B", "mixtral": "Mixtral 8x7B"}


def speed() -> dict[str, dict[str, float]]:
    """By model: ours (every tier, packed), ours in torch, the peer (8 bits, not packed) on as many threads; the floor.

    floor: bf16 read and a record written at the rate at which this memory is read. Medians of interleaved turns.
    """
    return {NAMES[name]: _shape(SHAPES[name].hidden, SHAPES[name].intermediate) for name in NAMES}


def headline(rates: dict[str, dict[str, float]]) -> dict[str, float]:
    """What the first of them says, in the words that all comparisons have."""
    first = next(iter(rates.values()))
    return {
        "ours": first["ours"],
        "peer": first["hqq package"],
        "ratio": first["ours"] / first["hqq package"],
        "floor": first["floor"],
        "parameters_per_second": first["ours"],
    }


def _shape(hidden: int, intermediate: int) -> dict[str, float]:
    spec = ExpertSpec(hidden, min(intermediate, ROWS), 8)
    generator = torch.Generator().manual_seed(0)
    expert = {
        m.name: (torch.randn(m.rows, m.cols, generator=generator) * 0.02).to(torch.bfloat16) for m in spec.matrices
    }
    runs: dict[str, Callable[[], None]] = {
        "ours": lambda: _ours(expert, spec),
        "ours in torch": lambda: _in_torch(expert, spec),
        "hqq package": lambda: _package(expert),
    }
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(REPEATS + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if turn:  # the first warms up
                seconds[name].append(time.perf_counter() - start)
    threads = default_threads()
    weights = {"ours": 16 * threads, "ours in torch": threads, "hqq package": threads}
    rates = {name: weights[name] * spec.parameters / statistics.median(seconds[name]) for name in runs}
    return {**rates, "floor": _memory_rate() / (2 + spec.layout.nbytes / spec.parameters)}


def _ours(expert: dict[str, Tensor], spec: ExpertSpec) -> None:
    """16 experts for each thread."""
    threads = default_threads()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda number: encode(expert, spec, 0, number).squared_norm, range(16 * threads)))


def _in_torch(expert: dict[str, Tensor], spec: ExpertSpec) -> None:
    """One expert for each thread."""
    with mock.patch("engine.quantization.planes.native", return_value=None):
        _on_all_threads(lambda number: encode(expert, spec, 0, number).squared_norm)


def _package(expert: dict[str, Tensor]) -> None:
    """One expert for each thread, which is faster than torch's threads on one."""

    def run(_: int) -> None:
        for w in expert.values():
            Quantizer.quantize(w, nbits=8, group_size=64, axis=1, device="cpu", bitpack=False)

    _on_all_threads(run)


def _on_all_threads(run: Callable[[int], object]) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with ThreadPoolExecutor(default_threads()) as pool:
        list(pool.map(run, range(default_threads())))
    torch.set_num_threads(before)


def _memory_rate() -> float:
    """Bytes per second that all threads together read."""
    kernel = NativeKernel()
    data = torch.ones(128 << 20, dtype=torch.uint8)
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        kernel.read(data)
        best = min(best, time.perf_counter() - start)
    kernel.close()
    return data.numel() / best
