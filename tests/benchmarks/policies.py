"""What every cache policy reads, on the built-in model's routing and on Zipf streams, beside the best possible.

    python -m tests.benchmarks.policies [--json] [--tokens N] [--dials exact,balanced,fast]

Replays, so nothing is timed but the policies themselves. Traces: 'builtin', chats of resources/calibration/eval.jsonl
token by token through the built-in model; 'zipf', one long Zipf stream of tokens through a made-up router of 12 layers
of 64 experts, 6 a token, that goes by the token and a little by chance. HOBBIT's weights are fitted on other text and
another stream. penalty: misses weighted by bytes. gap: to the best possible ('belady', or 'bound' where precisions
mix), as a share of it. ours: HOBBIT's penalty; peer: the lesser of LRU's and LFU's; ratio: peer / ours; floor: the
least possible penalty; roof: penalty without a cache; unfitted: HOBBIT's penalty with the weights of the house.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from engine import resources
from engine.calibration.calibrator import open_calibrated
from engine.calibration.evaluate import sequences
from engine.experts.keys import ExpertKey
from engine.experts.policies import NAMES, ExpertGrid, LayerVisit, make_policy
from engine.experts.precision import EXACT, Thresholds, from_scores
from engine.native.eviction import unimportance
from engine.planning.speed import dial_shares
from engine.record.layout import ExpertSpec
from engine.tracing.fit import fit
from engine.tracing.recorder import Recorder
from engine.tracing.replay import BELADY, BOUND, SHARES, Replayer, rows_of
from engine.tracing.trace import Trace, TraceConditions
from tests.benchmarks.common import arguments, emit, several
from tests.random_models.tokens import stream

ROUTER = (12, 64, 6)  # layers, experts, top k
VOCABULARY = 4096


def builtin(text: str, tokens: int) -> Trace:
    """Routing of a text, one token a pass, each chat a sequence."""
    with open_calibrated("builtin", {"dial": "exact", "threads": 1}) as session:
        layers = session.store.layers
        known = TraceConditions(model="builtin", tier=8, spec=session.store.spec(layers[0]))
        recorder = Recorder(layers, session.card.experts, known)
        windows = sequences(session.chat, resources.path("calibration", text + ".jsonl"), session.context.limit, tokens)
        with session.listening(recorder, recorder.begin_pass):
            for ids in windows:
                session.logits(ids, one_by_one=True)
        return recorder.trace()


def zipf(tokens: int, seed: int) -> Trace:
    """A stream through the made-up router; the same router for every seed."""
    layers, experts, k = ROUTER
    fixed = np.random.default_rng(0)
    table = fixed.standard_normal((layers, VOCABULARY, experts), dtype=np.float32)
    ids = np.array(stream("zipf", VOCABULARY, tokens, seed), np.int32)
    noise = np.random.default_rng(seed + 1).standard_normal((layers, tokens, experts), dtype=np.float32)
    known = TraceConditions(model="zipf", tier=4, spec=ExpertSpec(2048, 1024, 4))
    return routed(1.5 * table[:, ids] + 0.5 * noise, k, ids, known)


def routed(logits: NDArray[np.float32], k: int, ids: NDArray[np.int32], known: TraceConditions) -> Trace:
    """One sequence, token by token, through routers that say this: [layers, tokens, experts]."""
    layers, tokens, experts = logits.shape
    chosen = np.argsort(-logits, axis=-1)[..., :k]
    gates = np.exp(np.take_along_axis(logits, chosen, -1))
    gates /= gates.sum(-1, keepdims=True)
    positions = np.arange(tokens, dtype=np.int32)
    return Trace(
        layers=tuple(range(layers)),
        experts=experts,
        ids=chosen.astype(np.uint16),
        weights=gates.astype(np.float16),
        passes=np.ones(tokens, np.int32),
        token_ids=ids,
        positions=positions,
        begins=positions == 0,
        conditions=known,
    )


def thresholds_of(trace: Trace, dial: str) -> Thresholds:
    """The dial's quantiles of the scores of this trace."""
    if dial == "exact":
        return EXACT
    return from_scores(torch.from_numpy(unimportance(trace.weights)), *dial_shares(dial, trace.ids.shape[2]))


def row(replayer: Replayer, share: float) -> dict[str, Any]:
    """All policies in one cache."""
    found = {name: replayer.play(name, share) for name in rows_of(replayer.thresholds)}
    least = found[BELADY if replayer.thresholds.exact else BOUND].penalty
    wanted = (0, replayer.sizes.coarse / replayer.sizes.full, 1)
    ours, peer = found["hobbit"].penalty, min(found["lru"].penalty, found["lfu"].penalty)
    return {
        "cache": share,
        "ours": ours,
        "peer": peer,
        "ratio": round(peer / ours, 4),
        "floor": least,
        "roof": sum(wanted[demand] for visit in replayer.visits for demand in visit.demands),
        "policies": {
            name: {
                "penalty": round(r.penalty, 1),
                "hit_rate": None if r.hit_rate is None else round(r.hit_rate, 4),
                "gap": round(r.penalty / least - 1, 4) if least else None,
            }
            for name, r in found.items()
        },
    }


def speed(name: str) -> dict[str, float]:
    """Microseconds of a layer's event and of a victim, for 48 layers of 128 experts, half resident; medians."""
    shape, chance = ExpertGrid(tuple(range(48)), 128), np.random.default_rng(0)
    policy = make_policy(name, shape)
    for layer in shape.layers:
        for expert in range(0, 128, 2):
            policy.inserted(ExpertKey(layer, expert))
    events, victims = [], []
    for _ in range(60):
        for layer in shape.layers:
            experts = chance.choice(128, 8, replace=False).tolist()
            leased = {ExpertKey(layer, expert) for expert in experts}
            start = time.perf_counter()
            policy.routed(LayerVisit(layer, experts))
            events.append(time.perf_counter() - start)
            start = time.perf_counter()
            policy.victim(ExpertKey(layer, experts[0]), lambda key, leased=leased: key not in leased)  # type: ignore[misc]
            victims.append(time.perf_counter() - start)
    return {"routed_us": 1e6 * statistics.median(events), "victim_us": 1e6 * statistics.median(victims)}


def measure(tokens: int, dials: Sequence[str]) -> dict[str, Any]:
    """Every trace under every dial."""
    traces = {
        "builtin": (builtin("calibration", tokens), builtin("eval", tokens)),
        "zipf": (zipf(tokens, 1), zipf(tokens, 2)),
    }
    rows = []
    for name, (seen, unseen) in traces.items():
        for dial in dials:
            thresholds = thresholds_of(seen, dial)
            fitted = fit(seen, thresholds)
            for share in SHARES:
                found = row(Replayer(unseen, thresholds, fitted), share)
                found["unfitted"] = round(Replayer(unseen, thresholds).play("hobbit", share).penalty, 1)
                rows.append({"trace": name, "dial": dial, "weights": fitted.at(share).rounded, **found})
    return {
        "conditions": {"tokens": tokens, "dials": list(dials), "router": ROUTER},
        "ratio": min(r["ratio"] for r in rows),
        "speed": {name: speed(name) for name in NAMES},
        "rows": rows,
    }


def main() -> None:
    """Print the figures."""
    parser = arguments(__doc__)
    parser.add_argument("--tokens", type=int, default=4096, help="of each trace")
    parser.add_argument("--dials", type=several(str), default="exact,balanced,fast", help="which, separated by commas")
    args = parser.parse_args()
    emit(measure(args.tokens, args.dials), args.json)


if __name__ == "__main__":
    main()
