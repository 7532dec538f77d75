"""What a layer costs a token beside its large products: native ops against the torch layers.

    python -m tests.benchmarks.layer [--layers N] [--tokens N] [--context N] [--busy] [--json]

A Qwen3-MoE of real depth and expert count but tiny widths, so that what remains is the cost of the layers themselves:
Python, calls, norms, rotary, attention over a short context, routing, finding the experts and running what is next to
nothing of them, all of them in memory. "without experts" asks nobody. They take turns, token by token. --busy: another
process holds one core meanwhile.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from engine.convert.expert_plan import find_experts
from engine.experts.backend import Step
from engine.formats.checkpoint import Checkpoint
from engine.kernels.memory import PAGE
from engine.models.decoder import Decoder
from engine.models.families import read_spec
from engine.models.holding import Holding
from engine.store.layout import ExpertSpec
from tests.benchmarks.common import busy
from tests.engine.experts.sources import MemorySource
from tests.engine.models.compat.checkpoint import Dense, random_model
from tests.engine.models.compat.sweep import quiet
from tests.engine.models.compat.tiny import tiny_config

GOAL = 40.0  # microseconds


class Nobody:
    """Experts that cost nothing."""

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        """Zeros."""
        return torch.zeros_like(x)

    def moe_step(self, layer: int, step: Step) -> None:
        """Whatever is there."""


@torch.inference_mode()
def measure(layers: int, tokens: int, context: int) -> dict[str, list[float]]:
    """Microseconds per layer of each token, for each of three."""
    config = tiny_config(
        "qwen3_moe", num_hidden_layers=layers, hidden_size=64, head_dim=16, num_experts=128, num_experts_per_tok=8,
        moe_intermediate_size=32, max_position_embeddings=1 << 16,
    )  # fmt: skip
    source = MemorySource(ExpertSpec(64, 32, 8, 32), range(layers), 128)
    room = layers * 128 * (source.expert_bytes + 3 * PAGE)
    runtime = source.open(room / source.expert_bytes)
    kernel = runtime.native
    assert kernel is not None
    with tempfile.TemporaryDirectory() as folder:
        random_model(config).save_pretrained(folder)
        checkpoint = Checkpoint.open(Path(folder))
        dense = Dense(checkpoint, find_experts(checkpoint))
        spec = read_spec(checkpoint.config)
        decoders = {
            "native": Decoder(spec, dense, runtime, Holding(kernel=kernel), torch.bfloat16),
            "native, without experts": Decoder(spec, dense, Nobody(), Holding(kernel=kernel), torch.bfloat16),
            "torch": Decoder(spec, dense, runtime, Holding(), torch.bfloat16),
        }
    assert decoders["native"].native_layers
    everything = torch.arange(128)
    for layer in range(layers):  # once each: from then on nothing is read
        runtime.moe(layer, torch.zeros(16, 64), everything.view(16, 8), torch.ones(16, 8))
    prompt = torch.randint(3, 96, (context,))
    steps: dict[str, Callable[[], object]] = {}
    for name, decoder in decoders.items():
        state = decoder.new_state()
        decoder.forward(prompt, state, "none")
        steps[name] = lambda decoder=decoder, state=state: decoder.forward([7], state)  # type: ignore[misc]
    times: dict[str, list[float]] = {name: [] for name in steps}
    for at in range(tokens + 8):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            if at >= 8:
                times[name].append(1e6 * (time.perf_counter() - start) / layers)
    assert runtime.telemetry.misses == layers * 128
    runtime.close()
    return times


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=48)
    parser.add_argument("--tokens", type=int, default=100)
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    quiet()
    torch.set_num_threads(1)
    with busy(int(args.busy)):
        times = measure(args.layers, args.tokens, args.context)
    ours, peer = (statistics.median(times[name]) for name in ("native", "torch"))
    if args.json:
        found = {
            "ours": ours, "peer": peer, "ratio": peer / ours, "floor": min(times["native"]), "roof": GOAL,
            "conditions": vars(args) | {"unit": "us per layer per token", "torch": torch.__version__},
        }  # fmt: skip
        print(json.dumps(found))
        return
    for name, all_of in times.items():
        tenth = statistics.quantiles(all_of, n=10)
        print(f"{name:24} {statistics.median(all_of):6.1f} us per layer (p10 {tenth[0]:.1f}, p90 {tenth[-1]:.1f})")


if __name__ == "__main__":
    main()
