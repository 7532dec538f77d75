"""How well the experts of coming layers are predicted: every predictor alone, and their best blend.

    python -m tests.benchmarks.predictors [--model NAME] [--fit N] [--test N] [--json]

Fitted on calibration text, judged on evaluation text that shares no chat with it. recall: share of the experts that a
layer chose which were among the k, and the 2k, expected most, 1, 2 and 3 layers ahead; `start` is said of the first
layer before it has run. wasted: bytes read in vain of all that was read ahead, if the k expected for the next layer
were read whenever they are missing from an LRU cache of half the experts. us: microseconds per layer predicted, in this
program, where gates are multiplied by numpy; live, native code does that. lookup: of one matrix in a collection of
1,000. ours: the blend's recall at width k for the next layer; goal: what it must not fall below.
"""

from __future__ import annotations

import time

import numpy as np

from engine import resources
from engine.calibration.calibrator import open_calibrated
from engine.calibration.evaluate import sequences
from engine.experts.eam import EamCollection
from engine.experts.predictors import (
    Blend,
    Gate,
    Predictor,
    StackedGates,
    TraceView,
    fit_weights,
    fitted_row,
    stacked,
    walk,
)
from engine.experts.predictors.eam import Eam
from engine.experts.predictors.tables import Coactivation, Paths, TokenTable
from engine.models.decoder import Decoder
from engine.models.gates import gates_of
from engine.tracing.recall import DEPTH, judge
from tests.benchmarks.common import arguments, emit
from tests.engine.calibration.captured import capture_routing

GOAL, GOAL_WIDE = 0.83, 0.96
FITTED = 0.8  # of the calibration text is for the predictors, the rest for the blend's weights
WEIGHED = 3000  # tokens of that rest


def predictors(fit: TraceView, weigh: TraceView, gates: list[Gate]) -> tuple[list[Predictor], list[Predictor]]:
    """All of them, taught, and their blends: with plain gates, and with taught ones."""
    shape = fit.shape
    plain = StackedGates(gates, stacked(gates, DEPTH))
    maps = [fitted_row(fit, gates, row, DEPTH) for row in range(len(gates))]
    taught = StackedGates(gates, maps, name="taught gates")
    tables: list[Predictor] = [
        TokenTable(shape),
        Coactivation(shape, DEPTH),
        Paths(shape),
        Eam(shape, EamCollection(shape.rows, shape.experts)),
    ]
    alone = [plain, taught, *tables]
    for _ in walk(fit, tables):
        pass
    blends: list[Predictor] = []
    for name, parts in (("blend, untaught", [plain, *tables]), ("blend", [taught, *tables])):
        blend = Blend(parts, fit_weights(weigh, parts, DEPTH, gates))
        blend.name = name
        blends.append(blend)
    return alone, blends


def lookup(entries: int, rows: int, experts: int) -> float:
    """Microseconds of finding the closest of so many matrices: the best of many batches."""
    random = np.random.default_rng(0)
    collection = EamCollection(rows, experts, entries)
    for _ in range(entries):
        collection.add(random.poisson(1.0, (rows, experts)).astype(np.float32))
    asked = random.poisson(1.0, (rows, experts)).astype(np.float32)
    best = float("inf")
    for _ in range(50):
        start = time.perf_counter()
        for _ in range(20):
            collection.closest(asked)
        best = min(best, (time.perf_counter() - start) / 20)
    return 1e6 * best


def main() -> None:
    """Command line."""
    parser = arguments(__doc__)
    parser.add_argument("--model", default="builtin")
    parser.add_argument("--fit", type=int, default=1 << 20, help="tokens of calibration text")
    parser.add_argument("--test", type=int, default=1 << 20, help="tokens of evaluation text")
    args = parser.parse_args()
    with open_calibrated(args.model, {"dial": "exact"}) as session:
        texts = [resources.path("calibration", file) for file in ("calibration.jsonl", "eval.jsonl")]
        runs = [
            capture_routing(session, sequences(session.chat, text, session.context.limit, None), tokens, 1 << 30)
            for text, tokens in zip(texts, (args.fit, args.test))
        ]
        if not isinstance(session.decoder, Decoder):
            raise SystemExit("This model's routers are not known: it runs through the compatibility backend.")
        gates = gates_of(session.decoder)
    text, test = runs
    cut = int(FITTED * len(text.tokens))  # where the last chat begins before it, if another one does
    cut = max(start for start in text.starts if start <= cut) or cut
    alone, blends = predictors(text.part(0, cut), text.part(cut, min(len(text.tokens), cut + WEIGHED)), gates)
    scores = judge(test, alone, [*alone, *blends])
    rows = {name: score.row() for name, score in scores.items()}
    best = rows["blend"]
    found = {
        "ours": best["recall_k"]["1"], "goal": GOAL, "ours_2k": best["recall_2k"]["1"], "goal_2k": GOAL_WIDE,
        "predictors": rows, "lookup_us": round(lookup(1000, test.shape.rows, test.experts), 1),
        "weights": {b.name: {p.name: [round(w, 4) for w in b.weights[:, i].tolist()] for i, p in enumerate(b.parts)}
                    for b in blends if isinstance(b, Blend)},
        "conditions": {"model": args.model, "fitted_on": len(text.tokens), "tested_on": len(test.tokens),
                       "rows": test.shape.rows, "experts": test.experts, "k": test.shape.k},
    }  # fmt: skip
    emit(found, args.json)


if __name__ == "__main__":
    main()
