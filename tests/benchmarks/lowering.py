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

TOLERANCES = (0.001, 0.0025, 0.005, 0.01, 0.02)


def spearman(a: list[float], b: list[float]) -> float:
    """Rank correlation."""
    ranks = torch.stack([torch.tensor(x, dtype=torch.float64).argsort().argsort().double() for x in (a, b)])
    return float(torch.corrcoef(ranks)[0, 1])


def measure(model: str, tokens: int) -> dict[str, Any]:
    """All of it, on one open model."""
    with open_calibrated(model, {"dial": "exact"}) as session:
        limit = min(512, session.context.limit)
        windows = sequences(session.chat, resources.path("calibration", "calibration.jsonl"), limit, tokens)
        rankings = {
            "estimated": estimated(session, windows, _quiet),
            "true": measured(session, windows, _quiet),
        }
        keys = sorted(rankings["true"])
        by_layer = {
            layer: spearman(*([r[key] for key in keys if key.layer == layer] for r in rankings.values()))
            for layer in session.store.layers
        }
        store = session.store
        rows = [
            {"ranking": name, "tolerance": tolerance, **_saved(session, costs, tolerance)}
            for tolerance in TOLERANCES
            for name, costs in rankings.items()
        ]
        return {
            "ours": rankings_agree(rankings, keys),
            "spearman_by_layer": by_layer,
            "experts": len(keys),
            "tokens": tokens,
            "bytes_before": store.expert_bytes(),
            "rows": rows,
        }


def rankings_agree(rankings: dict[str, dict[ExpertKey, float]], keys: list[ExpertKey]) -> float:
    """Over all layers."""
    return spearman(*([ranking[key] for key in keys] for ranking in rankings.values()))


def _saved(session: Session, costs: dict[ExpertKey, float], tolerance: float) -> dict[str, Any]:
    found = choose(session, tolerance, rank=lambda *_: costs)
    counts = Counter(found.bits.values())
    return {
        "lowered": {str(bits): counts[bits] for bits in LEVELS},
        "bytes": expert_bytes(session.store, found.bits),
        "rise": found.lowering.perplexity_rise,
        "kl": found.lowering.kl,
    }


def _quiet(phrase: str, done: int, total: int) -> None:
    pass


def main() -> None:
    """Print one object, or a table."""
    parser = arguments(__doc__)
    parser.add_argument("--model", default="builtin")
    parser.add_argument("--tokens", type=int, default=TOKENS)
    args = parser.parse_args()
    found = measure(args.model, args.tokens)
    emit(found, args.json)


if __name__ == "__main__":
    main()
