"""What one token costs in a layer that mixes tokens: native ops, torch's functions, and reading the bytes.

    python -m tests.benchmarks.mixers [--mixer attention|kv8|mla|deltanet] [--threads N] [--json]

attention: grouped queries of three models over keys and values in bf16. kv8: the same with keys and values of 8 bits,
beside our own kernel over bf16. mla: absorbed attention of DeepSeek-V2-Lite's widths (rank 512, 64 rotary) over a bf16
cache, from the queries to the heads' outputs, the per-head matrices in bf16 for both. deltanet: the step of Qwen3-Next
between its projections, 16 key and 32 value heads of 128. Each at --lengths of context, where that matters. Every turn
takes other layers, and all of them do not fit any cache; ours, the other's and the plain reading of as many bytes take
turns.

By case: medians in microseconds per layer and token, `ratio` of torch's to ours, `gb_s` of ours, `of_roof` its share of
the rate of plain reading, `best` the fastest turn of ours. `cached`: GB/s of the attention kernel over few rows, which
caches hold: what the multipliers allow as it uses them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from statistics import median

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.kernels.dense import raw_view
from engine.kernels.native import NativeKernel
from engine.models.layers.attention import attend_one
from engine.models.layers.conv import causal_conv
from engine.models.layers.deltanet import delta_step
from engine.models.layers.latent_cache import absorbed
from engine.native import mixer_ops, op_graph
from engine.native.kv_rows import pack_rows, row_width
from engine.native.mixer_ops import Delta, Latent
from engine.native.op_graph import STATES, GraphStep, KvRows, OpGraph
from tests.benchmarks.common import arguments, conditions, emit, in_turns, several

HEADS = ((16, 16, 128), (32, 4, 128), (32, 8, 128))  # heads, key heads, width: OLMoE, Qwen3-30B, Mixtral
ALL_LAYERS = 384 << 20  # bytes of keys and values, at least: more than the last cache holds
AT_ONCE = 16 << 20  # bytes of a turn, at least, so that all read about as much
CACHED = 1 << 20  # bytes: half of what the second caches of two cores hold
NOPE, ROPE, RANK, VALUE, MLA_HEADS = 128, 64, 512, 128, 16
K_HEADS, V_HEADS, DIM, TAPS = 16, 32, 128, 4


@dataclass
class Layer:
    """One layer's token: by native ops and by torch. nbytes: what must be read."""

    ours: Callable[[], object]
    peer: Callable[[], object]
    nbytes: int


def attention(
    kernel: NativeKernel, heads: tuple[int, int, int], length: int, times: int = 0, packed: bool = False
) -> list[Layer]:
    """As many layers as no cache holds. times: one layer instead, attended to so often in a call.

    packed: rows of 8 bits, beside ours of bf16.
    """
    queries, out = torch.randn(heads[0], heads[2]), torch.empty(heads[0], heads[2])
    room, scale = torch.empty(op_graph.attend_room(heads[0], heads[2])), heads[2] ** -0.5
    graph = OpGraph([op_graph.attend(queries, out, room, 0, heads[1], scale)] * max(1, times))
    in_bf16 = 4 * heads[1] * length * heads[2]
    nbytes = 2 * heads[1] * length * row_width(heads[2], torch.int8) if packed else in_bf16

    def layer() -> Layer:
        rows = torch.randn(2, heads[1], length, heads[2]).bfloat16()

        def over(held: Sequence[Tensor]) -> Callable[[], object]:
            tables, step = [KvRows([half], half.dtype) for half in held], GraphStep(1)
            step.set(length - 1, [table.address for table in tables] + [0] * (STATES - 2))

            def run() -> object:
                kernel.run_graph(graph, step)
                return out, room, tables, held

            return run

        if packed:
            return Layer(over([pack_rows(half) for half in rows]), over(list(rows)), max(1, times) * nbytes)
        by_torch = partial(attend_one, queries[None], [(rows[0], rows[1])], scale)
        return Layer(over(list(rows)), by_torch, max(1, times) * nbytes)

    return [layer() for _ in range(1 if times else max(4, -(-ALL_LAYERS // nbytes)))]


def mla(kernel: NativeKernel, context: int) -> Layer:
    """One layer."""
    heads = MLA_HEADS
    cache = torch.randn(1, context, RANK + ROPE).bfloat16()
    to_latent, from_latent = torch.randn(heads, RANK, NOPE).bfloat16(), torch.randn(heads, VALUE, RANK).bfloat16()
    queries = torch.randn(heads * (NOPE + ROPE))
    shape, scale = Latent(heads, NOPE, ROPE, RANK), (NOPE + ROPE) ** -0.5 / 20  # weights that spread over the cache
    in_latent, found, out = (torch.empty(heads * width) for width in (RANK, RANK, VALUE))
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
    split = queries.view(1, heads, -1).split((NOPE, ROPE), 2)
    parts = (*split, [cache[0]], to_latent.transpose(1, 2), from_latent)

    def peer() -> Tensor:
        return absorbed(*parts, scale)

    def ours() -> tuple[Tensor, KvRows]:
        kernel.run_graph(graph, step)
        return out, table

    difference = (ours()[0].view(heads, -1) - peer()[0]).norm() / peer()[0].norm()
    assert difference < 0.02, difference
    return Layer(ours, peer, cache.nbytes + to_latent.nbytes + from_latent.nbytes)


def deltanet(kernel: NativeKernel) -> Layer:
    """One layer."""
    keys, values = K_HEADS * DIM, V_HEADS * DIM
    channels = 2 * keys + values
    spec = Delta(
        K_HEADS, V_HEADS, DIM, DIM, TAPS, qk_eps=1e-6, norm_eps=1e-6,
        taps=torch.randn(TAPS, channels), decay=-torch.rand(V_HEADS), dt_bias=torch.randn(V_HEADS),
        norm=torch.randn(DIM),
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
    return Layer(ours, peer, sum(tensor.nbytes for tensor in (*states[0], spec.taps, mixed)))


@torch.inference_mode()
def measure(kernel: NativeKernel, layers: list[Layer], repeats: int) -> dict[str, float]:
    """The figures of one case."""
    plain = torch.ones(512 << 20, dtype=torch.uint8)  # written, or it would all be the one page of zeros
    nbytes = layers[0].nbytes
    many = max(1, AT_ONCE // nbytes)
    size = min(many * nbytes, len(plain))
    parts = cycle(range(0, len(plain) - size + 1, size))
    own, theirs = cycle(layers), cycle(layers[len(layers) // 2 :] + layers[: len(layers) // 2])
    actions: dict[str, Callable[[], object]] = {
        "ours": lambda: [layer.ours() for layer in islice(own, many)],
        "peer": lambda: [layer.peer() for layer in islice(theirs, many)],
        "roof": lambda: kernel.read(plain[(at := next(parts)) : at + size]),
    }
    taken = {name: [1e6 * s / many for s in seconds] for name, seconds in in_turns(actions, repeats).items()}
    ours, peer = median(taken["ours"]), median(taken["peer"])
    roof = median(taken["roof"]) * many * nbytes / size
    return {"ours": ours, "peer": peer, "ratio": peer / ours, "roof": roof, "of_roof": roof / ours,
            "gb_s": nbytes / ours / 1e3, "best": min(taken["ours"])}  # fmt: skip


def cases(kernel: NativeKernel, mixer: str, lengths: list[int], repeats: int) -> dict[str, dict[str, float]]:
    """Rows by name."""
    if mixer == "deltanet":
        return {"deltanet": measure(kernel, [deltanet(kernel) for _ in range(36)], repeats)}
    if mixer == "mla":
        return {f"{n} tokens": measure(kernel, [mla(kernel, n) for _ in range(8)], repeats) for n in lengths}
    rows = {}
    for heads in HEADS:
        short, packed = CACHED // (4 * heads[1] * heads[2]), mixer == "kv8"
        cached = measure(kernel, attention(kernel, heads, short, AT_ONCE // CACHED, packed), repeats)["gb_s"]
        for length in lengths:
            name = f"{heads[0]}, {heads[1]}, {heads[2]}; {length} tokens"
            rows[name] = measure(kernel, attention(kernel, heads, length, packed=packed), repeats) | {"cached": cached}
    return rows


def main() -> None:
    """Command line."""
    parser = arguments(__doc__)
    parser.add_argument("--mixer", choices=("attention", "kv8", "mla", "deltanet"), default="attention")
    parser.add_argument("--lengths", type=several(int), default="1024,8192,32768", help="tokens of context")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--isa")
    parser.add_argument("--repeats", type=int, default=20, help="turns of each")
    args = parser.parse_args()
    kernel = NativeKernel(args.threads, args.isa)
    torch.set_num_threads(kernel.threads)
    with torch.inference_mode():
        rows = cases(kernel, args.mixer, args.lengths, args.repeats)
    worst = min(rows.values(), key=lambda row: row["of_roof"])
    known = conditions(args, unit="us per layer and token", kernel=kernel.name, torch=torch.__version__)
    kernel.close()
    emit({**worst, "rows": rows, "conditions": known}, args.json)


if __name__ == "__main__":
    main()
