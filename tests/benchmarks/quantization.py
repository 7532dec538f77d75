"""What each tier costs and loses, beside independent HQQ: the figures of docs/quantization.md.

python -m tests.benchmarks.quantization [--json] [--tokens N] prints bits per weight on disk, relative L2 errors on
Gaussian and heavy-tailed matrices and on the built-in model's experts, that model's divergence and perplexity when its
experts are replaced, and how fast experts are quantized, in weights per second, which `ours`, `peer`, `ratio` and
`floor` say. --only speed leaves out the rest.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
import torch.nn.functional as F
from hqq.core.quantize import Quantizer
from torch import Tensor

from engine import resources
from engine.native.library import default_threads
from engine.quantization.planes import encode
from engine.record.layout import ExpertSpec
from tests.benchmarks.common import arguments, emit, in_turns
from tests.benchmarks.roofs import Roof
from tests.engine.quantization import hqq_reference as hqq
from tests.engine.quantization.reference import quantize_matrix
from tests.random_models.shapes import SHAPES

Method = Callable[[Tensor, int], Tensor]  # a matrix and the columns per group to what it is decoded to
TIERS = (2, 4, 8)
SHAPE = (768, 2048)  # of Qwen3-30B-A3B's experts
WINDOW = 256  # tokens of text read at once
ROWS = 1024  # of a matrix, at most: what the peer takes minutes for is no more telling
REPEATS = 3
NAMES = {"qwen3": "Qwen3-30B-A3B", "mixtral": "Mixtral 8x7B"}


def package(bits: int) -> Method:
    """The hqq package, at these bits."""

    def run(w: Tensor, group: int) -> Tensor:
        codes, meta = Quantizer.quantize(w, nbits=bits, group_size=group, axis=1, device="cpu", bitpack=False)
        return ((codes.float() - meta["zero"]) * meta["scale"]).reshape(w.shape)

    return run


def by_blocks(solve: Callable[[Tensor], Tensor]) -> Method:
    """A method that decodes groups [N, columns], some at a time."""
    return lambda w, group: torch.cat([solve(block) for block in w.reshape(-1, group).split(512)]).reshape(w.shape)


def independent(bits: int) -> Method:
    """Our HQQ, at these bits, as it comes out of the iteration."""

    def decoded(block: Tensor) -> Tensor:
        codes, step, zero = hqq.solve(block, bits)
        return step * (codes - zero)

    return by_blocks(decoded)


def tier(bits: int, top: int) -> Method:
    """A tier as the store has it: the top bits of `top`-bit codes, refitted."""

    def run(w: Tensor, group: int) -> Tensor:
        q = quantize_matrix(w, tuple(t for t in TIERS if t <= top), group)
        fit = q.fits[bits]
        codes = (q.codes >> (top - bits)).float().reshape(w.shape[0], -1, group)
        decoded = fit.offset.float().unsqueeze(2) + fit.scale.float().unsqueeze(2) * codes
        return decoded.reshape(w.shape) * q.unit

    return run


def least_squares(bits: int, top: int) -> Method:
    """The same codes, with scale and offset of least squares."""

    def decoded(block: Tensor) -> Tensor:
        codes = (hqq.solve(block, top)[0] * 0.5 ** (top - bits)).floor()
        mean, centred = block.mean(1, keepdim=True), codes - codes.mean(1, keepdim=True)
        slope = (centred * block).sum(1, keepdim=True) / centred.square().sum(1, keepdim=True).clamp_min(1e-9)
        return mean + slope * centred

    return by_blocks(decoded)


METHODS: dict[str, Method] = {
    **{f"hqq package, {b} bits": package(b) for b in TIERS},
    **{f"own hqq, {b} bits": independent(b) for b in TIERS},
    **{f"store, {b} of 8": tier(b, 8) for b in TIERS},
    **{f"store, {b} of 4": tier(b, 4) for b in (2, 4)},
    **{f"least squares, {b} of 8": least_squares(b, 8) for b in TIERS},
}


def relative_error(w: Tensor, decoded: Tensor) -> float:
    """|w - decoded| / |w|."""
    return float((w - decoded).norm() / w.norm())


def synthetic_errors() -> dict[str, dict[str, float]]:
    """Relative L2 error by distribution and method, group 64."""
    torch.manual_seed(0)
    heavy = torch.distributions.StudentT(4.0).sample(SHAPE)
    matrices = {"gaussian": torch.randn(SHAPE) * 0.02, "heavy-tailed": heavy * 0.02}
    return {
        name: {method: relative_error(w, run(w, 64)) for method, run in METHODS.items()} for name, w in matrices.items()
    }


def model_costs(most_tokens: int) -> dict[str, dict[str, float]]:
    """Per method: relative L2 error of the built-in model's experts, KL to the original, change of perplexity."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    path = resources.path("builtin", "model")
    tokenizer, model = AutoTokenizer.from_pretrained(path), AutoModelForCausalLM.from_pretrained(path).float().eval()
    ids: list[int] = []
    for line in resources.path("calibration", "eval.jsonl").read_text().splitlines():
        ids += tokenizer.apply_chat_template(json.loads(line)["messages"], return_dict=False)
    windows = torch.tensor(ids[: min(most_tokens, len(ids)) // WINDOW * WINDOW]).view(-1, WINDOW)
    held = [p for layer in model.model.layers for p in (layer.mlp.experts.gate_up_proj, layer.mlp.experts.down_proj)]
    originals = [p.data.clone() for p in held]
    group = next(g for g in (64, 32, 16) if all(p.shape[-1] % g == 0 for p in held))
    before = _log_probabilities(model, windows)
    result = {}
    for name, run in METHODS.items():
        lost = kept = 0.0
        for parameter, original in zip(held, originals):
            decoded = run(original.reshape(-1, original.shape[-1]), group).reshape(original.shape)
            lost += float((decoded - original).double().square().sum())
            kept += float(original.double().square().sum())
            parameter.data.copy_(decoded)
        after = _log_probabilities(model, windows)
        result[name] = {
            "relative_error": math.sqrt(lost / kept),
            "kl": float((before.exp() * (before - after)).sum(-1).mean()),
            "perplexity_rise": math.exp(_loss(after, windows) - _loss(before, windows)) - 1,
        }
    return {
        "setting": {"group": group, "tokens": windows.numel(), "perplexity": math.exp(_loss(before, windows))},
        **result,
    }


@torch.inference_mode()
def _log_probabilities(model: Any, windows: Tensor) -> Tensor:
    return torch.cat([F.log_softmax(model(part).logits.float(), -1) for part in windows.split(8)])


def _loss(log_probabilities: Tensor, windows: Tensor) -> float:
    return float(-log_probabilities[:, :-1].gather(-1, windows[:, 1:, None]).mean())


def speed() -> dict[str, dict[str, float]]:
    """By model: ours (every tier, packed), the peer (8 bits, not packed) on as many threads; the floor.

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
        "hqq package": lambda: _package(expert),
    }
    seconds = in_turns(runs, REPEATS)
    threads = default_threads()
    weights = {"ours": 16 * threads, "hqq package": threads}
    rates = {name: weights[name] * spec.parameters / statistics.median(seconds[name]) for name in runs}
    return {**rates, "floor": _memory_rate() / (2 + spec.layout.nbytes / spec.parameters)}


def _ours(expert: dict[str, Tensor], spec: ExpertSpec) -> None:
    """16 experts for each thread."""
    threads = default_threads()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda number: encode(expert, spec, 0, number).squared_norm, range(16 * threads)))


def _package(expert: dict[str, Tensor]) -> None:
    """One expert for each thread, which is faster than torch's threads on one."""

    def run(_: int) -> None:
        for w in expert.values():
            Quantizer.quantize(w, nbits=8, group_size=64, axis=1, device="cpu", bitpack=False)

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with ThreadPoolExecutor(default_threads()) as pool:
        list(pool.map(run, range(default_threads())))
    torch.set_num_threads(before)


def _memory_rate() -> float:
    """Bytes per second that all threads together read."""
    roof = Roof(default_threads())
    best = max(roof.measure(128 << 20) for _ in range(5))
    roof.close()
    return best


def disk_bits() -> dict[str, dict[int, float]]:
    """Bits per weight on disk, everything counted, for a common shape of expert."""
    return {
        f"top {top}, group {group}": {
            t: ExpertSpec(SHAPE[1], SHAPE[0], top, group).layout.bits_per_weight(t) for t in TIERS if t <= top
        }
        for top in (8, 4)
        for group in (64, 32)
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--tokens", type=int, default=16384, help="of text to measure divergence on")
    parser.add_argument("--only", choices=("speed",), help="measure no more than this")
    args = parser.parse_args()
    found: dict[str, Any] = {**headline(rates := speed()), "speed": rates}
    if args.only is None:
        found |= {"disk_bits": disk_bits(), "errors": synthetic_errors(), "model": model_costs(args.tokens)}
    emit(found, args.json)


if __name__ == "__main__":
    main()
