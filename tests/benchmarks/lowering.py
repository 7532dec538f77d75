"""Expert-wise bit-widths on the built-in model: does the quick ranking agree with the true one, and what is saved?

    python -m tests.benchmarks.lowering --json

true: every expert lowered alone, KL divergence from Exact on calibration text. estimated: its part in that of its whole
layer, by the error of its output as it counts. `ours`: rank correlation of the two. Then what both save at each
tolerance, and what that costs on other text.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch

from engine import resources
from engine.calibration.calibrator import open_calibrated
from engine.calibration.evaluate import sequences
from engine.calibration.lowering_search import expert_bytes
from engine.calibration.robustness import LEVELS, TOKENS, choose, estimated, measured
from engine.experts.keys import ExpertKey
from engine.session import Session
from tests.benchmarks.common import arguments, emit

RANKINGS = {"estimated": estimated, "true": measured}
TOLERANCES = (0.001, 0.0025, 0.005, 0.01, 0.02)


def agree(rankings: dict[str, dict[ExpertKey, float]], keys: list[ExpertKey]) -> float:
    """Rank correlation of the two over these experts."""
    costs = torch.tensor([[ranking[key] for key in keys] for ranking in rankings.values()], dtype=torch.float64)
    return float(torch.corrcoef(costs.argsort(1).argsort(1).double())[0, 1])


def measure(model: str, tokens: int) -> dict[str, Any]:
    """All of it, on one open model."""
    with open_calibrated(model, {"dial": "exact"}) as session:
        limit = min(512, session.context.limit)
        windows = sequences(session.chat, resources.path("calibration", "calibration.jsonl"), limit, tokens)
        rankings = {name: rank(session, windows, lambda *_: None) for name, rank in RANKINGS.items()}
        keys = sorted(rankings["true"])
        by_layer = {
            layer: agree(rankings, [key for key in keys if key.layer == layer]) for layer in session.store.layers
        }
        rows = [
            {"ranking": name, "tolerance": tolerance, **_saved(session, costs, tolerance)}
            for tolerance in TOLERANCES
            for name, costs in rankings.items()
        ]
        return {
            "ours": agree(rankings, keys),
            "spearman_by_layer": by_layer,
            "experts": len(keys),
            "tokens": tokens,
            "bytes_before": session.store.expert_bytes(),
            "rows": rows,
        }


def _saved(session: Session, costs: dict[ExpertKey, float], tolerance: float) -> dict[str, Any]:
    found = choose(session, tolerance, rank=lambda *_: costs)
    counts = Counter(found.bits.values())
    return {
        "lowered": {str(bits): counts[bits] for bits in LEVELS},
        "bytes": expert_bytes(session.store, found.bits),
        "rise": found.lowering.perplexity_rise,
        "kl": found.lowering.kl,
    }


def main() -> None:
    """Print one object, or a table."""
    parser = arguments(__doc__)
    parser.add_argument("--model", default="builtin")
    parser.add_argument("--tokens", type=int, default=TOKENS)
    args = parser.parse_args()
    emit(measure(args.model, args.tokens), args.json)


if __name__ == "__main__":
    main()
