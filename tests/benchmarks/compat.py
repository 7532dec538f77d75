"""What a layer costs a token in the lean decoder and in the compatibility backend, and in transformers alone.

    python -m tests.benchmarks.compat [--layers N] [--tokens N] [--context N]

A Qwen3-MoE of real depth and tiny width, float32, one thread: what remains is the cost of the modules themselves. The
experts answer at once with zeros; transformers' own row runs its batched experts. The three take turns, token by token.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from engine.convert.expert_plan import find_experts
from engine.formats.checkpoint import Checkpoint
from engine.models.compat.decoder import CompatDecoder
from engine.models.open import open_decoder
from tests.engine.models.compat.checkpoint import Dense, random_model
from tests.engine.models.compat.sweep import quiet
from tests.engine.models.compat.tiny import tiny_config


class Nobody:
    """Experts that cost nothing."""

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        """Zeros."""
        return torch.zeros_like(x)


@torch.inference_mode()
def measure(layers: int, tokens: int, context: int) -> dict[str, list[float]]:
    """Milliseconds per layer of each token, for each of the three."""
    config = tiny_config(
        "qwen3_moe", num_hidden_layers=layers, hidden_size=64, head_dim=16, num_experts=128, num_experts_per_tok=8,
        moe_intermediate_size=32, max_position_embeddings=1 << 16,
    )  # fmt: skip
    theirs = random_model(config)
    theirs.set_experts_implementation("batched_mm")
    with tempfile.TemporaryDirectory() as folder:
        theirs.save_pretrained(folder)
        checkpoint = Checkpoint.open(Path(folder))
        dense = Dense(checkpoint, find_experts(checkpoint))
        lean = open_decoder(checkpoint.config, dense, Nobody())
        compat = CompatDecoder(checkpoint.config, dense, Nobody())
    prompt = torch.randint(3, 96, (context,))
    lean_state, compat_state = lean.new_state(), compat.new_state()
    lean.forward(prompt, lean_state, "none")
    compat.forward(prompt, compat_state, "none")
    cache = theirs(prompt[None], use_cache=True, logits_to_keep=1).past_key_values
    one = torch.tensor([7])
    steps: dict[str, Callable[[], object]] = {
        "lean decoder": lambda: lean.forward(one, lean_state),
        "compatibility backend": lambda: compat.forward(one, compat_state),
        "transformers alone": lambda: theirs(one[None], past_key_values=cache, use_cache=True),
    }
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(tokens):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            times[name].append(1000 * (time.perf_counter() - start) / layers)
    return times


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=48)
    parser.add_argument("--tokens", type=int, default=60)
    parser.add_argument("--context", type=int, default=128)
    args = parser.parse_args()
    quiet()
    for name, times in measure(args.layers, args.tokens, args.context).items():
        tenth = statistics.quantiles(times, n=10)
        print(f"{name:22} {statistics.median(times):.3f} ms per layer (p10 {tenth[0]:.3f}, p90 {tenth[-1]:.3f})")


if __name__ == "__main__":
    main()
