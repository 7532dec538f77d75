"""What does a layer cost a token beside its large products: native ops, torch's layers, and transformers'?

    python -m tests.benchmarks.layer [--layers N] [--tokens N] [--context N] [--busy] [--json]
    python -m tests.benchmarks.layer --compat

A Qwen3-MoE of real depth and expert count but tiny widths, so that what remains is the cost of the layers themselves:
Python, calls, norms, rotary, attention over a short context, routing, finding the experts and running what is next to
nothing of them, all of them in memory. "without experts" asks nobody. --compat: the lean decoder and the compatibility
backend instead, in float32, whose experts answer at once with zeros, and transformers alone with its batched experts.
All take turns, token by token, on one thread; microseconds per layer. --busy: another process holds one core meanwhile.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import torch
from torch import Tensor

from engine.convert.expert_plan import find_experts
from engine.experts.backend import GraphLayers, Step
from engine.formats.checkpoint import Checkpoint
from engine.models.compat.decoder import CompatDecoder
from engine.models.decoder import Decoder
from engine.models.families import read_spec
from engine.models.layers.weight_format import WeightFormat
from engine.native.memory import PAGE
from engine.native.op_graph import GraphStep
from engine.record.layout import ExpertSpec
from tests.benchmarks.common import arguments, busy, conditions, emit, in_turns
from tests.engine.experts.sources import MemorySource
from tests.engine.models.compat.checkpoint import Dense, random_model
from tests.engine.models.compat.sweep import quiet
from tests.engine.models.compat.tiny import tiny_config
from tests.engine.models.open_decoder import open_decoder, without_op_graph

GOAL = 40.0  # microseconds


class Nobody:
    """Experts that cost nothing."""

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        """Zeros."""
        return torch.zeros_like(x)

    def moe_step(self, layer: int, step: Step) -> None:
        """Whatever is there."""

    def run_layers(self, layers: GraphLayers, at: int, step: GraphStep) -> int:
        """One by one."""
        return layers.run_one(at, step)


Steps = dict[str, Callable[[], object]]


def small_model(layers: int) -> Any:
    """Of the depth that is asked for, with random weights."""
    return random_model(tiny_config(
        "qwen3_moe", num_hidden_layers=layers, hidden_size=64, head_dim=16, num_experts=128, num_experts_per_tok=8,
        moe_intermediate_size=32, max_position_embeddings=1 << 16,
    ))  # fmt: skip


def opened(model: Any, folder: str) -> tuple[Checkpoint, Dense]:
    """The model as a checkpoint in a folder, and its weights that are no experts."""
    model.save_pretrained(folder)
    checkpoint = Checkpoint.open(Path(folder))
    return checkpoint, Dense(checkpoint, find_experts(checkpoint))


def native_steps(layers: int, prompt: Tensor, folder: str) -> tuple[Steps, Callable[[], None]]:
    """A token by native ops with and without experts, and by torch's; and what is to be done behind the last."""
    source = MemorySource(ExpertSpec(64, 32, 8, 32), range(layers), 128)
    runtime = source.open(layers * 128 * (1 + 3 * PAGE / source.expert_bytes))
    kernel = runtime.kernel
    checkpoint, dense = opened(small_model(layers), folder)
    spec = read_spec(checkpoint.config)
    decoders = {
        "native": Decoder(spec, dense, runtime, WeightFormat(kernel=kernel), torch.bfloat16),
        "native, without experts": Decoder(spec, dense, Nobody(), WeightFormat(kernel=kernel), torch.bfloat16),
    }
    with without_op_graph():
        decoders["torch"] = Decoder(spec, dense, runtime, WeightFormat(kernel=kernel), torch.bfloat16)
    assert decoders["native"].native_layers
    everything = torch.arange(128)
    for layer in range(layers):  # once each: from then on nothing is read
        runtime.moe(layer, torch.zeros(16, 64), everything.view(16, 8), torch.ones(16, 8))
    steps: Steps = {}
    for name, decoder in decoders.items():
        state = decoder.new_state()
        decoder.forward(prompt, state, "none")
        steps[name] = lambda decoder=decoder, state=state: decoder.forward([7], state)  # type: ignore[misc]

    def end() -> None:
        assert runtime.telemetry.misses == layers * 128
        runtime.close()

    return steps, end


def compat_steps(layers: int, prompt: Tensor, folder: str) -> tuple[Steps, Callable[[], None]]:
    """A token by the lean decoder, by the compatibility backend and by transformers alone."""
    theirs = small_model(layers)
    theirs.set_experts_implementation("batched_mm")
    checkpoint, dense = opened(theirs, folder)
    steps: Steps = {}
    for name, made in (
        ("lean decoder", open_decoder(checkpoint.config, dense, Nobody())),
        ("compatibility backend", CompatDecoder(checkpoint.config, dense, Nobody())),
    ):
        state = made.new_state()
        made.forward(prompt, state, "none")
        steps[name] = lambda made=made, state=state: made.forward(torch.tensor([7]), state)  # type: ignore[misc]
    cache = theirs(prompt[None], use_cache=True, logits_to_keep=1).past_key_values
    steps["transformers alone"] = lambda: theirs(torch.tensor([[7]]), past_key_values=cache, use_cache=True)
    return steps, lambda: None


def main() -> None:
    """Command line."""
    parser = arguments(__doc__)
    parser.add_argument("--layers", type=int, default=48)
    parser.add_argument("--tokens", type=int, default=100)
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--compat", action="store_true", help="the compatibility backend, too")
    parser.add_argument("--busy", action="store_true")
    args = parser.parse_args()
    quiet()
    torch.set_num_threads(1)
    prompt = torch.randint(3, 96, (args.context,))
    with tempfile.TemporaryDirectory() as folder, busy(int(args.busy)), torch.inference_mode():
        steps, end = (compat_steps if args.compat else native_steps)(args.layers, prompt, folder)
        taken = in_turns(steps, args.tokens, warm=8)
        end()
    times = {name: [1e6 * seconds / args.layers for seconds in own] for name, own in taken.items()}
    found: dict[str, Any] = {"us per layer per token": {}}
    for name, all_of in times.items():
        tenth = quantiles(all_of, n=10)
        found["us per layer per token"][name] = {"median": median(all_of), "p10": tenth[0], "p90": tenth[-1]}
    if not args.compat:
        ours, peer = (median(times[name]) for name in ("native", "torch"))
        found |= {"ours": ours, "peer": peer, "ratio": peer / ours, "floor": min(times["native"]), "roof": GOAL}
    emit(found | {"conditions": conditions(args, torch=torch.__version__)}, args.json)


if __name__ == "__main__":
    main()
