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

import argparse
import json
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine import resources
from engine.experts.eam import EamCollection
from engine.experts.predictors import Blend, Gate, Observed, Predictor, StackedGates, fit_weights, fitted, stacked, walk
from engine.experts.predictors.coactivation import Coactivation
from engine.experts.predictors.eam import Eam
from engine.experts.predictors.paths import Paths
from engine.experts.predictors.tokens import TokenTable
from engine.models.decoder import Decoder
from engine.models.gates import gates_of
from engine.session import Session
from engine.session.evaluate import sequences
from engine.session.observe import observe

DEPTH = 3
GOAL, GOAL_WIDE = 0.83, 0.96
FITTED = 0.8  # of the calibration text is for the predictors, the rest for the blend's weights
WEIGHED = 3000  # tokens of that rest


@dataclass
class Score:
    """What a predictor got right. found, asked: by distance - 1, the last for `start`; found also by width."""

    found: np.ndarray = field(default_factory=lambda: np.zeros((DEPTH + 1, 2)))
    asked: np.ndarray = field(default_factory=lambda: np.zeros(DEPTH + 1))
    seconds: float = 0.0
    calls: int = 0
    read: int = 0
    wasted: int = 0

    def row(self) -> dict[str, Any]:
        """For printing."""
        recall = self.found / np.maximum(self.asked, 1)[:, None]
        names = [*map(str, range(1, DEPTH + 1)), "start"]
        return {
            "recall_k": {name: round(float(one[0]), 4) for name, one in zip(names, recall)},
            "recall_2k": {name: round(float(one[1]), 4) for name, one in zip(names, recall)},
            "wasted": round(self.wasted / self.read, 4) if self.read else None,
            "us": round(1e6 * self.seconds / self.calls, 2) if self.calls else None,
        }


class ReadAhead:
    """An LRU cache into which the next layer's expected experts are read; counts what was not used before it left."""

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._held: OrderedDict[tuple[int, int], bool] = OrderedDict()  # whether it has yet to prove useful
        self.read = self.wasted = 0

    def expect(self, row: int, experts: list[int]) -> None:
        """Read those that are missing."""
        for key in ((row, expert) for expert in experts):
            if key not in self._held:
                self.read += 1
                self._put(key, True)

    def use(self, row: int, experts: list[int]) -> None:
        """These are used now."""
        for key in ((row, expert) for expert in experts):
            self._held.pop(key, None)
            self._put(key, False)

    def _put(self, key: tuple[int, int], unproven: bool) -> None:
        self._held[key] = unproven
        if len(self._held) > self._slots:
            self.wasted += self._held.popitem(last=False)[1]


def judge(run: Observed, parts: list[Predictor], judged: list[Predictor]) -> dict[str, Score]:
    """Walk the run once; the parts go on learning."""
    rows, experts, k = run.shape.rows, run.experts, run.shape.k
    scores = {one.name: Score() for one in judged}
    caches = {one.name: ReadAhead(rows * experts // 2) for one in judged}
    token = -1
    for sight in walk(run, parts):
        token += sight.row < 0
        if sight.row >= 0:
            for cache in caches.values():
                cache.use(sight.row, list(sight.chosen[-1]))
        first = sight.row < 0
        for row in range(sight.row + 1, 1 if first else min(sight.row + DEPTH, rows - 1) + 1):
            at = DEPTH if first else row - sight.row - 1
            truth = set(run.ids[row, token].tolist())
            for one in judged:
                score = scores[one.name]
                score.asked[at] += k
                start = time.perf_counter()
                found = one.scores(sight, row)
                score.seconds += time.perf_counter() - start
                score.calls += 1
                if found is None:
                    continue
                order = np.argsort(-found, kind="stable")[: 2 * k].tolist()
                score.found[at] += len(truth & set(order[:k])), len(truth & set(order))
                if row == sight.row + 1:
                    caches[one.name].expect(row, order[:k])
    for name, score in scores.items():
        score.read, score.wasted = caches[name].read, caches[name].wasted
    return scores


def predictors(fit: Observed, weigh: Observed, gates: list[Gate]) -> tuple[list[Predictor], list[Predictor]]:
    """All of them, taught, and the blends; without what each only speaks for after a layer's experts, and with it."""
    shape = fit.shape
    plain = StackedGates(gates, stacked(gates, DEPTH))
    taught = StackedGates(gates, fitted(fit, gates, DEPTH), name="taught gates")
    after = StackedGates(gates, stacked(gates, DEPTH, "after"), "after")
    taught_after = StackedGates(gates, fitted(fit, gates, DEPTH, "after"), "after", name="taught gates, after")
    tables: list[Predictor] = [
        TokenTable(shape),
        Coactivation(shape, DEPTH),
        Paths(shape),
        Eam(shape, EamCollection(shape.rows, shape.experts)),
    ]
    alone = [plain, taught, after, taught_after, *tables]
    for _ in walk(fit, tables):
        pass
    blends: list[Predictor] = []
    for name, parts in (
        ("blend, untaught", [plain, *tables]),
        ("blend, before", [taught, *tables]),
        ("blend", [taught_after, taught, *tables]),
    ):
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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="builtin")
    parser.add_argument("--fit", type=int, default=1 << 20, help="tokens of calibration text")
    parser.add_argument("--test", type=int, default=1 << 20, help="tokens of evaluation text")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with Session.open(args.model, {"dial": "exact"}) as session:
        texts = [resources.path("calibration", file) for file in ("calibration.jsonl", "eval.jsonl")]
        runs = [
            observe(session, sequences(session.chat, text, session.context.limit, None), tokens)
            for text, tokens in zip(texts, (args.fit, args.test))
        ]
        if not isinstance(session.decoder, Decoder):
            raise SystemExit("This model's routers are not known: it runs through the compatibility backend.")
        gates = gates_of(session.decoder)
    text, test = runs
    cut = max(start for start in text.starts if start <= FITTED * len(text.tokens))
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
    if args.json:
        print(json.dumps(found))
        return
    for name, row in rows.items():
        near, wide = (" ".join(f"{100 * v:5.1f}" for v in row[key].values()) for key in ("recall_k", "recall_2k"))
        wasted = "" if row["wasted"] is None else f"{100 * row['wasted']:5.1f} % wasted"
        print(f"{name:20} k {near}   2k {wide}   {wasted:14} {row['us']:5.1f} us")
    print(f"lookup among 1,000 matrices: {found['lookup_us']} us")


if __name__ == "__main__":
    main()
