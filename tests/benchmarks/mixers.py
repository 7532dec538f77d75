"""What one token costs in latent attention and in Gated DeltaNet: native ops, torch's functions, and reading the bytes.

    python -m tests.benchmarks.mixers [--mixer mla|deltanet] [--context N] [--heads N] [--threads N] [--json]

mla: absorbed attention of DeepSeek-V2-Lite's widths (rank 512, 64 rotary) over a bf16 cache, from the queries to the
heads' outputs, the per-head matrices in bf16 for both. deltanet: the step of Qwen3-Next between its projections, 16 key
and 32 value heads of 128. Every turn takes another layer, and all of them do not fit any cache. The three take turns.
Without --json the median, and what it is of the time in which the bytes can be read once.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.kernels.dense import raw_view
from engine.kernels.native import NativeKernel
from engine.models.layers.conv import causal_conv
from engine.models.layers.delta_rule import delta_step
from engine.models.layers.latent_cache import absorbed
from engine.native import mixer_ops
from engine.native.mixer_ops import Delta, Latent
from engine.native.op_graph import STATES, GraphStep, KvRows, OpGraph
from tests.benchmarks.common import arguments, emit

NOPE, ROPE, RANK, VALUE = 128, 64, 512, 128
K_HEADS, V_HEADS, DIM, TAPS = 16, 32, 128, 4
REPEATS = 60


@dataclass
class Turn:
    """One layer's token: by native ops and by torch. nbytes: what must be read."""

    ours: Callable[[], object]
    peer: Callable[[], object]
    nbytes: int


def mla(kernel: NativeKernel, context: int, heads: int) -> list[Turn]:
    """Eight layers."""
    return [_mla_layer(kernel, context, heads) for _ in range(8)]


def _mla_layer(kernel: NativeKernel, context: int, heads: int) -> Turn:
    cache = torch.randn(1, context, RANK + ROPE).bfloat16()
    to_latent, from_latent = torch.randn(heads, RANK, NOPE).bfloat16(), torch.randn(heads, VALUE, RANK).bfloat16()
    queries = torch.randn(heads, NOPE + ROPE)
    shape, scale = Latent(heads, NOPE, ROPE, RANK), (NOPE + ROPE) ** -0.5 / 20  # weights that spread over the cache
    in_latent, found, out = torch.empty(heads, RANK), torch.empty(heads, RANK), torch.empty(heads, VALUE)
    table, room = KvRows([cache], cache.dtype), torch.empty(mixer_ops.latent_room(shape))
    inward, outward = (raw_view(w.flatten(0, 1), None) for w in (to_latent, from_latent))
    graph = OpGraph(
        [
            mixer_ops.each(inward, heads, queries, NOPE + ROPE, in_latent, RANK),
            mixer_ops.latent_attend(shape, in_latent, queries, out=found, room=room, scale=scale, state=0),
            mixer_ops.each(outward, heads, found, RANK, out, VALUE),
        ]
    )
    step = GraphStep(1)
    step.set(context - 1, [table.address] + [0] * (STATES - 1))
    parts = (queries[None, :, :NOPE], queries[None, :, NOPE:], [cache[0]], to_latent.transpose(1, 2), from_latent)

    def peer() -> Tensor:
        return absorbed(*parts, scale)

    def ours() -> tuple[Tensor, KvRows]:
        kernel.run_graph(graph, step)
        return out, table

    difference = (ours()[0] - peer()[0]).norm() / peer()[0].norm()
    assert difference < 0.02, difference
    return Turn(ours, peer, cache.nbytes + to_latent.nbytes + from_latent.nbytes)


def deltanet(kernel: NativeKernel) -> list[Turn]:
    """36 layers."""
    return [_delta_layer(kernel) for _ in range(36)]


def _delta_layer(kernel: NativeKernel) -> Turn:
    keys, values = K_HEADS * DIM, V_HEADS * DIM
    channels = 2 * keys + values
    spec = Delta(
        K_HEADS, V_HEADS, DIM, DIM, TAPS, 1e-6, 1e-6,
        torch.randn(TAPS, channels), -torch.rand(V_HEADS), torch.randn(V_HEADS), torch.randn(DIM),
    )  # fmt: skip
    mixed, rates, out = torch.randn(channels + values), torch.randn(2 * V_HEADS), torch.empty(values)
    states = [(torch.zeros(TAPS - 1, channels), torch.zeros(V_HEADS, DIM, DIM)) for _ in range(2)]
    graph = OpGraph([mixer_ops.delta(spec, mixed, rates, out, 0)])
    step = GraphStep(1)
    step.set(0, [tensor.data_ptr() for tensor in states[0]] + [0] * (STATES - 2))
    unit = torch.full((DIM,), DIM**-0.5)

    def ours() -> object:
        kernel.run_graph(graph, step)
        return out, states

    def heads(x: Tensor) -> Tensor:
        return torch.rms_norm(x.view(K_HEADS, DIM), (DIM,), unit, 1e-6 / DIM).repeat_interleave(V_HEADS // K_HEADS, 0)

    def peer() -> Tensor:
        history, memory = states[1]
        q, k, v = F.silu(causal_conv(mixed[None, :channels], history, spec.taps)).split((keys, keys, values), 1)
        decay = spec.decay * F.softplus(rates[V_HEADS:] + spec.dt_bias)
        found = delta_step(
            heads(q) * DIM**-0.5, heads(k), v.view(V_HEADS, DIM), decay, rates[:V_HEADS].sigmoid(), memory
        )
        return torch.rms_norm(found, (DIM,), spec.norm, 1e-6).flatten() * F.silu(mixed[channels:])

    ours()
    assert torch.allclose(peer(), out, rtol=1e-3, atol=1e-4)
    return Turn(ours, peer, sum(tensor.nbytes for tensor in (*states[0], spec.taps, mixed)))


def seconds(action: Callable[[], object]) -> float:
    """Wall time of one run."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


@torch.inference_mode()
def measure(kernel: NativeKernel, turns: list[Turn]) -> dict[str, list[float]]:
    """Microseconds of each turn."""
    plain = torch.ones(512 << 20, dtype=torch.uint8)  # written, or it would all be the one page of zeros
    taken: dict[str, list[float]] = {"ours": [], "peer": [], "roof": []}
    size = turns[0].nbytes
    for at in range(REPEATS + len(turns)):
        turn, start = turns[at % len(turns)], at % 8 * (plain.numel() // 8)
        part = plain[start : start + size]
        actions = {"ours": turn.ours, "peer": turn.peer, "roof": lambda part=part: kernel.read(part)}
        for name, action in actions.items():
            spent = 1e6 * seconds(action)
            if at >= len(turns):
                taken[name].append(spent)
    return taken


def main() -> None:
    """Command line."""
    parser = arguments(__doc__)
    parser.add_argument("--mixer", choices=("mla", "deltanet"), default="mla")
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--heads", type=int, default=16)
    parser.add_argument("--threads", type=int)
    args = parser.parse_args()
    kernel = NativeKernel(args.threads)
    torch.set_num_threads(kernel.threads)
    with torch.inference_mode():
        turns = mla(kernel, args.context, args.heads) if args.mixer == "mla" else deltanet(kernel)
    times = measure(kernel, turns)
    ours, peer, roof = (statistics.median(times[name]) for name in ("ours", "peer", "roof"))
    kernel.close()
    best = min(times["ours"])
    known = vars(args) | {"unit": "us per layer per token", "isa": kernel.isa, "bytes": turns[0].nbytes}
    found = {"ours": ours, "peer": peer, "ratio": peer / ours, "floor": best, "roof": roof, "of_roof": roof / ours}
    emit(found | {"conditions": known | {"torch": torch.__version__}}, args.json)


if __name__ == "__main__":
    main()
