"""What would a tier of 3 bits, between 2 and 4, save and cost? Simulated on the built-in model, with transformers.

    python -m tests.benchmarks.three_bits [--tokens N] [--json]

Experts in codes of 4 bits, of which the upper 2 or 3 are taken, groups of 64 with scales of their own for each, as a
store has them (by least squares here). Were every expert missing, uses below some score run in full, then at 3 bits,
then at 2, and the rest are skipped (hobbit, section 3.2, eq. 2, with one threshold more). For each mix of shares: bytes
read as a share of Exact's (4 bits), and the KL divergence from it. `frontier`: of the mixes with 3 bits and of those
without, the least KL at so few bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from engine import resources
from engine.calibration.calibrator import open_calibrated
from engine.calibration.evaluate import sequences
from engine.native.eviction import unimportance
from tests.benchmarks.common import arguments, emit, own_home
from tests.benchmarks.precision import compare, logits_of

GROUP, STEPS = 64, 30
BITS = (4, 3, 2)
FULL = (0.25, 0.35, 0.5, 0.65)
SKIPPED = (0.0, 0.08, 0.17, 0.27, 0.38)
OF_THE_REST = (0.0, 0.5, 1.0)  # share of 3 bits in what is neither full nor skipped
AT = (0.85, 0.75, 0.65, 0.55, 0.45)  # of Exact's bytes


def _refit(x: Tensor, codes: Tensor) -> tuple[Tensor, Tensor]:
    """Scale and offset [N, groups, 1] by least squares."""
    codes = codes.float()
    mean, middle = codes.mean(2, True), x.mean(2, True)
    spread = (codes - mean).square().sum(2, True)
    scale = ((codes - mean) * (x - middle)).sum(2, True) / spread.clamp_min(1e-9)
    scale = torch.where(scale.abs() < 1e-12, torch.full_like(scale, 1e-12), scale)
    return scale, middle - scale * mean


def rounded(weights: Tensor) -> dict[int, Tensor]:
    """By bits: the weights [rows, cols] as codes of 4 bits mean them, or the upper 3 or 2 of these."""
    x = weights.reshape(weights.shape[0], -1, GROUP)
    low = x.amin(2, True)
    scale, offset = (x.amax(2, True) - low).clamp_min(1e-12) / 15, low
    for _ in range(STEPS):
        codes = ((x - offset) / scale).round().clamp(0, 15)
        scale, offset = _refit(x, codes)
    found = {}
    for bits in BITS:
        upper = codes.int() >> (4 - bits)
        scale, offset = _refit(x, upper)
        found[bits] = (scale * upper + offset).reshape(weights.shape)
    return found


class Experts(nn.Module):
    """In the place of transformers' Qwen3MoeExperts. cuts: scores from which on a use has 3 bits, 2, and none."""

    cuts: tuple[float, float, float] = (2.0, 2.0, 2.0)
    scores: list[Tensor] | None = None  # where they are recorded

    def __init__(self, replaced: Any) -> None:
        super().__init__()
        self.act = replaced.act_fn
        gate_up = [rounded(one) for one in replaced.gate_up_proj.detach()]
        down = [rounded(one) for one in replaced.down_proj.detach()]
        self.weights = [{bits: (a[bits], b[bits]) for bits in BITS} for a, b in zip(gate_up, down, strict=True)]

    def forward(self, x: Tensor, ids: Tensor, gates: Tensor) -> Tensor:
        """[T, H]."""
        scores = torch.from_numpy(unimportance(gates.numpy()))
        if Experts.scores is not None:
            Experts.scores.append(scores.flatten())
        three, two, none = Experts.cuts
        bits = torch.full(ids.shape, 4)
        for cut, which in ((three, 3), (two, 2), (none, 0)):
            bits[scores > cut] = which
        out = torch.zeros_like(x)
        for expert, versions in enumerate(self.weights):
            for which, (gate_up, down) in versions.items():
                tokens, places = torch.where((ids == expert) & (bits == which))
                if len(tokens):
                    gate, up = nn.functional.linear(x[tokens], gate_up).chunk(2, -1)
                    y = nn.functional.linear(self.act(gate) * up, down)
                    out.index_add_(0, tokens, y * gates[tokens, places, None])
        return out


def mixes() -> Iterator[tuple[float, float, float, float]]:
    """Shares of uses in full, at 3 bits, at 2 bits and skipped."""
    for full, skipped, three in product(FULL, SKIPPED, OF_THE_REST):
        rest = 1 - full - skipped
        if rest > 0:
            yield full, rest * three, rest * (1 - three), skipped


def measure(tokens: int) -> dict[str, Any]:
    """All mixes over the same windows of the evaluation chats."""
    from transformers import AutoModelForCausalLM

    with open_calibrated("builtin", {"dial": "exact"}) as session:
        windows = sequences(session.chat, resources.path("calibration", "eval.jsonl"), session.context.limit, tokens)
    model = AutoModelForCausalLM.from_pretrained(resources.path("builtin", "model"), dtype=torch.float32).eval()
    for layer in model.model.layers:
        layer.mlp.experts = Experts(layer.mlp.experts)
    Experts.scores = []
    exact = logits_of(model, windows)
    scores, Experts.scores = torch.cat(Experts.scores), None
    rows = []
    for shares in mixes():
        bounds = [float(torch.quantile(scores, sum(shares[: n + 1]))) for n in range(3)]
        Experts.cuts = (bounds[0], bounds[1], bounds[2] if shares[3] else 2.0)
        sums = compare(windows, exact, logits_of(model, windows))
        read = shares[0] + shares[1] * 3 / 4 + shares[2] * 2 / 4
        rows.append({"shares": [round(share, 3) for share in shares], "bytes": round(read, 4),
                     "kl": round(sums.divergence / sums.tokens, 6)})  # fmt: skip
    return {
        "tokens": sum(len(ids) - 1 for ids in windows),
        "frontier": [
            {"bytes": at, "without": _least(rows, at, three=False), "with": _least(rows, at, three=True)} for at in AT
        ],
        "rows": rows,
    }


def _least(rows: Sequence[dict[str, Any]], most: float, *, three: bool) -> float | None:
    return min((row["kl"] for row in rows if row["bytes"] <= most and (three or not row["shares"][1])), default=None)


def main() -> None:
    """Print the table."""
    parser = arguments(__doc__)
    parser.add_argument("--tokens", type=int, default=4_000)
    args = parser.parse_args()
    with own_home():
        emit(measure(args.tokens), args.json)


if __name__ == "__main__":
    main()
