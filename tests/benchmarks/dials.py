"""What shares of full, coarse and skipped experts cost and save on the built-in model: the table behind the dials.

    python -m tests.benchmarks.dials [--shares 30/45,20/60] [--bits 8,4] [--caches 0.5,0.25] [--tokens 12000]
        [--substitute 0.8,0.5] [--defer 1,2,4] [--json]

Without --shares the rows are the dials; `exact` is one, too. Shares are in percent of all uses, full and coarse, as far
as every token's first expert, which is always full, allows. `perplexity` (its rise) and `kl` are against the same model
with all experts at the same full precision, on held-out chats: first were every expert missing, then token by token
with so much in memory. `reads` is how many times fewer bytes are read than under Exact, replayed (HOBBIT's policy, 2 of
4 bits, nothing read ahead) on the built-in model's routing and on uniform routing, 8 of 128 experts, in caches of 40
and 20 %. `--substitute` adds what cache-aware routing with these shares does: its KL, how many experts a token has
replaced, and what it reads (`read`, bytes a token, beside the same without). `--defer` adds what expert deferral would
do (see tests.benchmarks.deferral): of a token's experts so many of least weight, where they are missing, are added one
layer later or, to compare, not at all (`added`). `late`: such experts a token; `spared`: of the layer calls that lack
any, the share that is left with none to wait for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine import resources
from engine.calibration.calibrator import TOKENS, open_calibrated
from engine.calibration.evaluate import Sums, compared, sequences
from engine.experts.precision import EXACT, ScoreRecorder, Thresholds, from_scores
from engine.library.dials import DIALS
from engine.native.eviction import unimportance
from engine.planning.speed import dial_shares
from engine.record.layout import ExpertSpec
from engine.tracing.replay import Replayer
from engine.tracing.trace import Trace, TraceConditions
from engine.tracing.visits import sizes_of
from tests.benchmarks.common import arguments, emit, own_home, several
from tests.benchmarks.deferral import Deferral
from tests.benchmarks.policies import builtin, routed

ROUTER = (6, 128, 8)  # layers, experts, top k of the uniform routing
REPLAYED = (2000, 300)  # tokens of the built-in model's routing, and of the uniform one
CACHES = (0.4, 0.2)  # of the replays: what limits of 50 % and 25 % of a model leave for experts


Share = Callable[[int], tuple[float, float]]  # of full and coarse uses, by experts per token


def uniform(tokens: int) -> Trace:
    """Every expert as likely as any other, gate weights as a softmax of random logits gives them."""
    layers, experts, k = ROUTER
    logits = np.random.default_rng(0).standard_normal((layers, tokens, experts), dtype=np.float32)
    known = TraceConditions(model="uniform", tier=4, spec=ExpertSpec(2048, 768, 4))
    return routed(logits, k, np.zeros(tokens, np.int32), known)


def saved(trace: Trace, share: Share) -> list[float]:
    """Bytes read under Exact over those read with these shares, by cache."""
    sizes = sizes_of(trace.conditions.spec, 4)
    cut = from_scores(torch.from_numpy(unimportance(trace.weights)), *share(trace.ids.shape[2]))
    exact, dial = (Replayer(trace, thresholds, sizes=sizes) for thresholds in (EXACT, cut))
    return [round(exact.play("hobbit", c).bytes_read / dial.play("hobbit", c).bytes_read, 2) for c in CACHES]


class Judge:
    """The built-in model at one full precision, with so much of it in memory; None: all of it."""

    def __init__(self, bits: int, cache: float | None, tokens: int) -> None:
        chosen = {"dial": "balanced", "dense": "f32", "activations": "exact", "tier": str(bits), "threads": 1}
        self.session = open_calibrated("builtin", chosen | ({} if cache is None else {"cache_fraction": cache}))
        self._as_if_missing, self._cache = cache is None, cache
        chat, limit = self.session.chat, self.session.context.limit
        judging, choosing = (resources.path("calibration", f"{name}.jsonl") for name in ("eval", "calibration"))
        self._windows = sequences(chat, judging, limit, tokens)
        self._choosing = sequences(chat, choosing, limit, TOKENS)
        self._exact: list[Tensor] = []

    def scores(self) -> Tensor:
        """Unimportance of every use on calibration text."""
        recorder = ScoreRecorder()
        with self.session.listening(recorder), self.session.exactly():
            for ids in self._choosing:
                self.session.context.run_through(ids)
        return recorder.scores

    def cost(self, cut: Thresholds, substitute: float = 0.0, defer: int = 0, *, add: bool = True) -> dict[str, Any]:
        """Of these thresholds, with so much cache-aware routing, and so many experts deferred. add: see Deferral."""
        session, found = self.session, Sums()
        deferral = Deferral(session.runtime, defer, add=add)
        if not self._exact:
            with session.exactly():
                self._exact = [session.logits(ids, one_by_one=False) for ids in self._windows]
        before = session.counters()
        session.runtime.as_if_missing = self._as_if_missing
        with session.under(cut, substitute), deferral.in_force():
            for ids, reference in zip(self._windows, self._exact):
                found = found.plus(compared(ids, reference, session.logits(ids, one_by_one=not self._as_if_missing)))
        session.runtime.as_if_missing = False
        now, tokens = session.counters(), sum(map(len, self._windows))
        uses = {tier: n - before.precision.get(tier, 0) for tier, n in now.precision.items()}
        return {
            "cache": self._cache,
            "tokens": found.tokens,
            "perplexity": math.expm1((found.nll - found.exact_nll) / found.tokens),
            "kl": found.divergence / found.tokens,
            "substitute": substitute,
            "defer": defer,
            "added": add,
            "late": round(deferral.experts / tokens, 2),
            "spared": round(deferral.spared / max(1, deferral.lacking), 3),
            "replaced": round((now.substituted - before.substituted) / tokens, 2),
            "read": (now.bytes_read - before.bytes_read) // tokens,
            "uses": {tier: round(n / sum(uses.values()), 3) for tier, n in uses.items() if n},
        }


def measure(
    shares: Mapping[str, Share],
    bits: Sequence[int],
    caches: Sequence[float],
    tokens: int,
    *,
    substitutes: Sequence[float],
    defers: Sequence[int],
) -> Any:
    """All rows. shares: by name. substitutes: of cache-aware routing. defers: numbers of experts."""
    rows: list[dict[str, Any]] = [{"name": name, "costs": {}} for name in shares]
    for tier in bits:
        cuts: list[Thresholds] = []
        for cache in (None, *caches):
            judge = Judge(tier, cache, tokens)
            with judge.session:
                if not cuts:
                    scores = judge.scores()
                    k = judge.session.card.experts_per_token
                    cuts = [
                        EXACT if name == "exact" else from_scores(scores, *share(k)) for name, share in shares.items()
                    ]
                for row, cut in zip(rows, cuts):
                    row["costs"].setdefault(tier, []).append(judge.cost(cut))
                    for least in () if cache is None else substitutes:
                        row.setdefault("substituted", {}).setdefault(tier, []).append(judge.cost(cut, least))
                    for most, add in () if cache is None else product(defers, (True, False)):
                        row.setdefault("deferred", {}).setdefault(tier, []).append(judge.cost(cut, defer=most, add=add))
    traces = {"builtin": builtin("eval", REPLAYED[0]), "uniform": uniform(REPLAYED[1])}
    for row in rows:
        row["reads"] = {name: saved(trace, shares[row["name"]]) for name, trace in traces.items()}
    return {"rows": rows, "conditions": {"caches": CACHES, "tokens": tokens}}


def _fixed(full: str, coarse: str) -> Share:
    return lambda k: (float(full) / 100, float(coarse) / 100)


def main() -> None:
    """Print the table."""
    parser = arguments(__doc__)
    parser.add_argument(
        "--shares", type=several(str), default=DIALS, help="full/coarse in percent; default: those of the dials"
    )
    parser.add_argument("--bits", type=several(int), default="8,4", help="of full precision")
    parser.add_argument("--caches", type=several(float), default="0.5,0.25", help="shares of the experts in memory")
    parser.add_argument("--tokens", type=int, default=12_000)
    parser.add_argument("--substitute", type=several(float), default="", help="shares of cache-aware routing to try")
    parser.add_argument("--defer", type=several(int), default="", help="experts deferred at most, of a token and layer")
    args = parser.parse_args()
    with own_home():
        shares: dict[str, Share] = {}
        for name in args.shares:
            shares[name] = partial(dial_shares, name) if name in ("exact", *DIALS) else _fixed(*name.split("/"))
        found = measure(shares, args.bits, args.caches, args.tokens, substitutes=args.substitute, defers=args.defer)
    emit(found, args.json)


if __name__ == "__main__":
    main()
