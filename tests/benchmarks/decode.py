"""How many tokens a second beside llama.cpp, on the same weights at about the same bits, all in memory?

    python -m tests.benchmarks.decode --shape olmoe|qwen3|mixtral --tier 8|4|2
                                      [--prompt 512|--behind 8192|--rows 1,2,4,8,16|--alone] [--json]

Both are fed the same tokens one at a time and take turns; the roof is measured in between. --prompt: they read prompts
of so many tokens instead, each the start of a new sequence. --behind: single tokens behind a prompt of so many, whose
keys and values count in the bytes that must be read. --rows: so many tokens in one pass, going on in one sequence; the
floor counts the other weights once, and once each expert that one of the tokens chose. Figures are medians over turns
but the first. The first run builds the peer and the models. `floor` is the seconds that reading a token's bytes takes
at the roof, or, of a prompt, reading every weight once: far from what a long one is bound by. --alone: ours without the
peer, and `idle`, the share of a token's time in which threads but the model's own had nothing to compute.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from itertools import product
from statistics import median
from typing import Any

from tests.benchmarks.bench import PREFERRED
from tests.benchmarks.common import Quiet, arguments, busy, conditions, emit, milliseconds, several
from tests.benchmarks.ours import OursAlone
from tests.benchmarks.peer.client import Peer
from tests.benchmarks.prepare import KINDS, Rival, prepare_model, prepare_pair
from tests.benchmarks.roofs import Roof
from tests.random_models.shapes import SHAPES
from tests.random_models.tokens import stream

CONTEXT = 2048
PROMPT = 512  # tokens that warm up
TRIAL = 16  # tokens with which the peer's variants are compared
AT_ONCE = 512, 2048  # tokens of a long prompt that the peer computes together: its default, and four times that
TRIAL_PROMPT = 1024  # tokens of a long prompt with which its variants are compared
STEPS = 4  # passes of each size in a turn


def best_peer(
    rival: Rival, threads: int, context: int, seconds: Callable[[Peer], float], trials: int, *, prompts: bool = False
) -> tuple[Peer, dict[str, float]]:
    """The variant, of each file repacked and as stored, that `seconds` says is the fastest, open; and what it says of
    each. One is open at a time, or two. prompts: with and without flash attention and by two sizes of batch, too.
    """
    found: dict[str, float] = {}
    best: Peer | None = None
    for path, repack, flash, at_once in product(
        rival.files.values(), (True, False), (True, False) if prompts else (True,), AT_ONCE if prompts else (0,)
    ):
        peer = Peer(rival.python, path, threads, context, repack=repack, flash=flash, at_once=at_once)
        seconds(peer)  # the first time reads the file
        found[peer.name] = min(seconds(peer) for _ in range(trials))
        if best is None or found[peer.name] < found[best.name]:
            best, peer = peer, best
        if peer is not None:
            peer.close()
    assert best is not None
    return best, found


def rows(args: argparse.Namespace, ours: OursAlone, peer: Peer, roof: Roof, tokens: list[int]) -> dict[str, Any]:
    """Milliseconds of a pass of so many tokens: ours, the peer's, and what reading its bytes takes at the roof.

    The sizes take turns, since the roof moves within seconds; of_floor holds each turn against the roof beside it.
    """
    turns: dict[int, list[tuple[float, float, float]]] = {size: [] for size in args.rows}
    for _ in range(args.repeats + 1):
        for size, found in turns.items():
            part, tokens = tokens[: size * STEPS], tokens[size * STEPS :]
            before, rate = ours.counters(), roof.measure()
            mine = 1e3 * ours.steps(part, size) / STEPS
            rate = (rate + roof.measure()) / 2
            asked = sum(ours.counters()[name] - before[name] for name in ("hits", "misses")) / STEPS
            floor = 1e3 * (ours.about["dense_bytes"] + asked * ours.about["expert_bytes"]) / rate
            found.append((mine, 1e3 * peer.decode(part, size) / STEPS, floor))
    return {str(size): _middle(found[1:]) for size, found in turns.items()}


def _middle(turns: Sequence[tuple[float, float, float]]) -> dict[str, float]:
    a, b, floor = (median(times) for times in zip(*turns, strict=True))
    ratio, of_floor = median(b / a for a, b, _ in turns), median(a / floor for a, _, floor in turns)
    return {"ours": a, "peer": b, "ratio": ratio, "floor": floor, "of_floor": of_floor}


def alone(args: argparse.Namespace) -> dict[str, Any]:
    """Ours without the peer, one token at a time. idle: see above."""
    shape = SHAPES[args.shape]
    model, quiet = prepare_model(shape, args.tier, args.folder, top=8), Quiet(args.patience)
    tokens = stream(args.stream, shape.vocabulary, PROMPT + (args.repeats + 1) * args.segment)
    chosen = {"dial": "exact", "tier": str(args.tier), "dense": args.dense or PREFERRED[args.tier]}
    ours = OursAlone(model.store, shape, {**chosen, "threads": args.threads, "context_length": CONTEXT})
    roof, turns, roofs = Roof(args.threads), [], []
    try:
        ours.fill(tokens[:PROMPT])
        for at in range(PROMPT, len(tokens), args.segment):
            quiet.wait()
            roofs.append(roof.measure())
            turns.append(ours.turn(tokens[at : at + args.segment]))
    finally:
        ours.close()
        roof.close()
    need = ours.about["dense_bytes"] + shape.layers * shape.top_k * ours.about["expert_bytes"]
    per_token, rate = median(turn.per_token for turn in turns[1:]), median(roofs)
    worked = median(turn.worked / sum(turn.seconds) for turn in turns[1:]) / max(1, args.threads - 1)
    return {
        "ours": round(1 / per_token, 2), "roof": round(rate / 1e9, 2), "of_roof": round(need / per_token / rate, 3),
        "idle": round(1 - worked, 4),
        "conditions": conditions(args, isa=roof.isa, dense=ours.about["dense"], others=quiet.others),
    }  # fmt: skip


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    shape, length, prompts = SHAPES[args.shape], args.prompt or args.segment, args.prompt > 0
    model, rival = prepare_pair(shape, args.tier, args.folder, args.kinds or KINDS[args.tier], top=8)
    warm = args.prompt or args.behind or PROMPT
    count = sum(args.rows) * STEPS if args.rows else length
    tokens = stream(args.stream, shape.vocabulary, warm + (args.repeats + 1) * count)
    first, segments = tokens[:warm], [tokens[at : at + length] for at in range(warm, len(tokens), length)]
    quiet, long = Quiet(args.patience), warm > TRIAL_PROMPT

    def trial(peer: Peer) -> float:
        peer.clear()
        quiet.wait()
        return peer.prefill(first[:TRIAL_PROMPT]) if long or prompts else peer.decode(first[:TRIAL])

    context = 2 * args.prompt or args.behind + CONTEXT
    peer, variants = best_peer(rival, args.threads, context, trial, 1 if prompts or long else 3, prompts=long)
    chosen = {"dial": "exact", "tier": str(args.tier), "dense": args.dense or PREFERRED[args.tier]}
    ours = OursAlone(model.store, shape, {**chosen, "threads": args.threads, "context_length": context})
    if not ours.about["all_in_memory"]:
        raise SystemExit(f"Not every expert fits in memory: {' '.join(ours.about['plan'])}")
    roof = Roof(args.threads)
    mine, theirs, roofs = [], [], []
    try:
        routes = ours.routing(first)
        ours.fill(first)
        peer.clear()
        quiet.others.clear()
        if args.rows:
            peer.prefill(first)
            ours.prompt(first)
            known = conditions(args, isa=roof.isa, dense=ours.about["dense"], others=quiet.others)
            return {"rows": rows(args, ours, peer, roof, tokens[warm:]), "peer_best": peer.name, "conditions": known}
        if args.behind:
            prompts_read = {"ours": ours.prompt(first), "peer": peer.prefill(first)}
        with busy(args.busy):
            for segment in segments:
                if not args.busy:
                    quiet.wait()
                roofs.append(roof.measure())
                mine.append((ours.prompt(segment) if prompts else sum(ours.turn(segment).seconds)) / length)
                roofs.append(roof.measure())
                theirs.append((peer.prefill(segment) if prompts else peer.decode(segment)) / length)
    finally:
        ours.close()
        peer.close()
        roof.close()
    tried = min(warm, TRIAL_PROMPT) if long or prompts else TRIAL
    a, b, r = median(mine[1:]), median(theirs[1:]), median(roofs)
    experts = shape.layers * (shape.experts if prompts else shape.top_k)
    seen = (args.behind + len(mine) * length / 2) * ours.about["row_bytes"] if args.behind else 0
    need = ours.about["dense_bytes"] + experts * ours.about["expert_bytes"] + seen
    found = {
        "ours": round(1 / a, 2),
        "peer": round(1 / b, 2),
        "ratio": round(b / a, 3),
        "floor": need / r,
        "roof": round(r / 1e9, 2),
        "seconds": {"ours": milliseconds(mine[1:]), "peer": milliseconds(theirs[1:])},
        "peer_best": peer.name,
        "peer_variants": {name: round(tried / s, 2) for name, s in variants.items()},
        "conditions": conditions(args, isa=roof.isa, dense=ours.about["dense"], others=quiet.others),
    }
    if prompts:
        return found
    if args.behind:
        found["prompt_seconds"] = prompts_read
    return found | {
        "gb_s": round(need / a / 1e9, 2),
        "of_roof": round(need / a / r, 3),
        "token_bytes": need,
        "peer_gb_s": round(peer.token_bytes / b / 1e9, 2),
        "peer_of_roof": round(peer.token_bytes / b / r, 3),
        "peer_token_bytes": peer.token_bytes,
        "routing": routes,
    }


def main() -> None:
    """Print the figures."""
    parser = arguments(__doc__, "shape", "tier", "threads", "stream", "patience", "folder")
    parser.add_argument("--prompt", type=int, default=0, help="read prompts of so many tokens, instead of one by one")
    parser.add_argument("--behind", type=int, default=0, help="read single tokens behind a prompt of so many")
    parser.add_argument("--rows", type=several(int), help="tokens in one pass, instead of one: such as 1,2,4,8,16")
    parser.add_argument("--kinds", type=several(str), help="the peer's types to choose the fastest of")
    parser.add_argument("--dense", help="how ours holds its other weights; by default as the tier, at least 4 bits")
    parser.add_argument("--repeats", type=int, default=9, help="turns of each")
    parser.add_argument("--segment", type=int, default=32, help="tokens in one turn")
    parser.add_argument("--alone", action="store_true", help="ours without the peer, one token at a time")
    parser.add_argument("--busy", type=int, default=0, help="other processes that want a core all the time")
    args = parser.parse_args()
    emit((alone if args.alone else measure)(args), args.json)


if __name__ == "__main__":
    main()
